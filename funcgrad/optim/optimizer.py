"""torch's Optimizer: parameter groups, state, hooks and checkpoints. Knows nothing of how a step is computed.

Contract: a subclass gives `defaults` to `__init__` and writes `step`. Gift: all else, hooks around `step` included.
"""

from __future__ import annotations

import functools
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from copy import deepcopy
from itertools import chain
from typing import Any, TypeAlias

import jax.numpy as jnp

from funcgrad._base.naming import typename
from funcgrad._base.warning import warn
from funcgrad._ops.table import Arrays, Op
from funcgrad._tape.modes import set_grad_enabled
from funcgrad._tape.nodes import RemovableHandle
from funcgrad._tensor.names import end_step, flush, rebind, record
from funcgrad._tensor.tensor import Tensor
from funcgrad.optim.tensor_groups import _default_to_fused_or_foreach as _default_to_fused_or_foreach
from funcgrad.optim.tensor_groups import _get_capturable_supported_devices as _get_capturable_supported_devices
from funcgrad.optim.tensor_groups import _group_tensors_by_device_and_dtype

ParamsT: TypeAlias = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]
StateDict: TypeAlias = dict[str, Any]
Group: TypeAlias = dict[str, Any]
Hook: TypeAlias = Callable[..., Any]
Hooks: TypeAlias = "OrderedDict[int, Hook]"

_before_every_step: Hooks = OrderedDict()
_after_every_step: Hooks = OrderedDict()


class _RequiredParameter:
    """The default of an option that each parameter group must name."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _RequiredParameter()


def _use_grad_for_differentiable(step: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate the `step` of an optimizer of one's own: its default "differentiable" says whether history is kept."""

    @functools.wraps(step)
    def step_in_mode(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        with set_grad_enabled(self.defaults.get("differentiable", False)):
            return step(self, *args, **kwargs)

    return step_in_mode


def _get_value(x: Any) -> Any:
    """Return the number, of a tensor with one element too."""
    return x.item() if isinstance(x, Tensor) else x


def register_optimizer_step_pre_hook(hook: Hook) -> RemovableHandle:
    """Call hook(optimizer, args, kwargs) before each step of every optimizer; it may return new (args, kwargs)."""
    return RemovableHandle(_before_every_step, hook)


def register_optimizer_step_post_hook(hook: Hook) -> RemovableHandle:
    """Call hook(optimizer, args, kwargs) after each step of every optimizer."""
    return RemovableHandle(_after_every_step, hook)


def note_every_step(hook: Hook) -> None:
    """Call hook(optimizer, args, kwargs) after each step, for good; a script's own hooks are still numbered from 0."""
    _after_every_step[-1] = hook


class Optimizer:
    """Holds parameters in groups and changes them in `step`.

    params: tensors, (name, tensor) pairs, or dicts with "params" and options of their own. defaults: options for all.
    Raises ValueError for an empty list, for tensors that are no leaves, and for one parameter in two groups.
    """

    defaults: dict[str, Any]
    state: defaultdict[Any, Any]
    param_groups: list[Group]
    # None: no scheduler watches; else whether `step` was called since one began to
    _opt_called: bool | None = None
    # whether a group lists a parameter twice
    _repeats = False

    def __init__(self, params: ParamsT, defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                f"{params.type()}"
            )
        self.defaults = defaults
        self._make_hooks()
        self.state = defaultdict(dict)
        self.param_groups = []
        groups: list[Any] = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)
        # What set the parameters up (initial weights, copies) is run here, apart: left to the first step, it would make
        # that step another program than the second, and the whole step would be compiled twice.
        flush()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._hook_step()

    @classmethod
    def _hook_step(cls) -> None:
        if not hasattr(cls.step, "hooked"):
            cls.step = _hooked(cls.step)  # type: ignore[method-assign]  # the same method with hooks around it

    _patch_step_function = _hook_step  # torch's name, which wrappers of other optimizers call in place of `__init__`
    _group_tensors_by_device_and_dtype = staticmethod(_group_tensors_by_device_and_dtype)

    def _cuda_graph_capture_health_check(self) -> None:
        """Accepted: there are no graphs of kernels to be captured."""

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the parameters once. `closure` computes the loss anew and is what `step` returns."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it steps: write its `step` method")

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters of this optimizer, or fill them with zeros."""
        if set_to_none:
            for group in self.param_groups:
                for param in group["params"]:
                    slot = param._slot
                    if slot is not None:
                        slot.grad = None
            return
        grads = [p.grad for group in self.param_groups for p in group["params"] if p.grad is not None]
        for grad in grads:
            if grad.is_sparse:
                grad.zero_()
        grads = [grad for grad in grads if not grad.is_sparse]
        if grads:
            for grad in grads:
                if grad.requires_grad:
                    grad.detach_()
            rebind(grads, record(_ZEROS, grads))

    def state_tensors(self) -> list[Tensor]:
        """Return the tensors in which it keeps its state."""
        kept = [list(one.values()) if isinstance(one, dict) else one for one in self.state.values()]
        return [x for one in kept if isinstance(one, list) for x in one if isinstance(x, Tensor)]

    def add_param_group(self, param_group: Group) -> None:
        """Add a group: a dict with "params", and options where they differ from the defaults."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        _set_params(param_group)
        for param in param_group["params"]:
            self._check_param(param)
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, default)
        self._check_apart(param_group)
        self.param_groups.append(param_group)

    def _check_param(self, param: Any) -> None:
        if not isinstance(param, Tensor):
            raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {typename(param)}")
        if not (self.defaults.get("differentiable") or param.is_leaf or param.retains_grad):
            raise ValueError("can't optimize a non-leaf Tensor")

    def _check_apart(self, group: Group) -> None:
        """Check that no parameter of a new group is there already, and that all groups have names or none has."""
        own = set(group["params"])
        if len(own) != len(group["params"]):
            self._repeats = True
            warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; "
                "see github.com/pytorch/pytorch/issues/40967 for more information"
            )
        for other in self.param_groups:
            if ("param_names" in group) != ("param_names" in other):
                words = "with names" if "param_names" in group else "without names"
                raise ValueError(
                    "all optimizer param groups should be with/without names. "
                    f"cannot add param group {words} to the optimizer"
                )
            if not own.isdisjoint(other["params"]):
                raise ValueError("some parameters appear in more than one parameter group")

    def state_dict(self) -> StateDict:
        """Return {"state": by parameter number, "param_groups": with numbers for parameters}, as torch does."""
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        places: dict[Any, int] = {}
        groups, start = [], 0
        for group in self.param_groups:
            for i, param in enumerate(group["params"], start):
                places.setdefault(param, i)  # of a parameter that comes again, the first
            start += len(group["params"])
            packed = {name: option for name, option in group.items() if name != "params"}
            packed["params"] = [places[param] for param in group["params"]]
            groups.append(packed)
        state = {places[key] if isinstance(key, Tensor) else key: kept for key, kept in self.state.items()}
        packed_state: StateDict = {"state": state, "param_groups": groups}
        for hook in self._optimizer_state_dict_post_hooks.values():
            changed = hook(self, packed_state)
            packed_state = packed_state if changed is None else changed
        return packed_state

    def load_state_dict(self, state_dict: StateDict) -> None:
        """Take over what `state_dict` returned, here or in torch. Tensors of the parameters' dtypes are not copied.

        Raises ValueError where the number of groups, or of parameters in one, differs.
        """
        state_dict = state_dict.copy()
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            changed = hook(self, state_dict)
            state_dict = state_dict if changed is None else changed
        saved = [{k: v if k == "params" else deepcopy(v) for k, v in g.items()} for g in state_dict["param_groups"]]
        self._check_fits(saved)
        of_place = {}
        for group, new in zip(self.param_groups, saved, strict=True):
            of_place.update(zip(new["params"], group["params"], strict=True))
            new["params"] = group["params"]
            if "param_names" in group:
                new.setdefault("param_names", group["param_names"])
        state: defaultdict[Any, Any] = defaultdict(dict)
        for place, kept in state_dict["state"].items():
            param = of_place.get(place)
            state[place if param is None else param] = kept if param is None else self._loaded(param, kept, None)
        self.__setstate__({"state": state, "param_groups": saved})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    def _check_fits(self, saved: list[Group]) -> None:
        if len(saved) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        for group, other in zip(self.param_groups, saved, strict=True):
            if len(group["params"]) != len(other["params"]):
                raise ValueError(
                    "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
                )

    def _loaded(self, param: Tensor, kept: Any, name: Any) -> Any:
        """Return a state of `param` on its device, a floating one in its dtype; what fits, as a count does, is kept."""
        if isinstance(kept, Tensor):
            dtype = param.dtype if param.dtype.is_floating_point else kept.dtype
            return kept if name == "step" else kept.to(dtype=dtype, device=param.device)
        if isinstance(kept, dict):
            return {key: self._loaded(param, inner, key) for key, inner in kept.items()}
        if isinstance(kept, (list, tuple, set)):
            return type(kept)(self._loaded(param, inner, None) for inner in kept)
        return kept

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "_optimizer_step_pre_hooks" not in self.__dict__:
            self._make_hooks()
        self.defaults.setdefault("differentiable", False)

    def __repr__(self) -> str:
        text = f"{type(self).__name__} ("
        for i, group in enumerate(self.param_groups):
            options = [f"    {name}: {group[name]}\n" for name in sorted(group) if name != "params"]
            text += f"\nParameter Group {i}\n{''.join(options)}"
        return f"{text})"

    def _make_hooks(self) -> None:
        self._optimizer_step_pre_hooks: Hooks = OrderedDict()
        self._optimizer_step_post_hooks: Hooks = OrderedDict()
        self._optimizer_state_dict_pre_hooks: Hooks = OrderedDict()
        self._optimizer_state_dict_post_hooks: Hooks = OrderedDict()
        self._optimizer_load_state_dict_pre_hooks: Hooks = OrderedDict()
        self._optimizer_load_state_dict_post_hooks: Hooks = OrderedDict()

    def register_step_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Call hook(optimizer, args, kwargs) before each step; it may return new (args, kwargs)."""
        return RemovableHandle(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Hook) -> RemovableHandle:
        """Call hook(optimizer, args, kwargs) after each step."""
        return RemovableHandle(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call hook(optimizer) before `state_dict`."""
        return RemovableHandle(self._optimizer_state_dict_pre_hooks, hook, prepend=prepend)

    def register_state_dict_post_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call hook(optimizer, state_dict) after `state_dict`; it may return another one."""
        return RemovableHandle(self._optimizer_state_dict_post_hooks, hook, prepend=prepend)

    def register_load_state_dict_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call hook(optimizer, state_dict) before loading; it may return another one."""
        return RemovableHandle(self._optimizer_load_state_dict_pre_hooks, hook, prepend=prepend)

    def register_load_state_dict_post_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call hook(optimizer) after loading."""
        return RemovableHandle(self._optimizer_load_state_dict_post_hooks, hook, prepend=prepend)


def _zeros(arrays: Arrays) -> tuple[Any, ...]:
    return tuple(jnp.zeros_like(array) for array in arrays)


_ZEROS = Op(_zeros)


def _hooked(step: Callable[..., Any]) -> Callable[..., Any]:
    """Return `step` with hooks before and after it; then what it recorded is run.

    Only the outermost `step` of an object does this: one that is reached by super() is part of it.
    """

    @functools.wraps(step)
    def hooked_step(*args: Any, **kwargs: Any) -> Any:
        self = args[0]
        if type(self).step is not hooked_step:
            return step(*args, **kwargs)
        if "_optimizer_step_pre_hooks" not in self.__dict__:  # a wrapper of another optimizer that calls no __init__
            self._make_hooks()
        if _before_every_step or self._optimizer_step_pre_hooks:
            args, kwargs = _before(self, step, args, kwargs)
        result = step(*args, **kwargs)
        for hook in chain(self._optimizer_step_post_hooks.values(), _after_every_step.values()):
            hook(self, args, kwargs)
        if self._opt_called is False:
            self._opt_called = True
        end_step()
        return result

    hooked_step.hooked = True  # type: ignore[attr-defined]  # read above and by schedulers
    return hooked_step


def _before(self: Optimizer, step: Any, args: tuple[Any, ...], kwargs: Any) -> tuple[tuple[Any, ...], Any]:
    for hook in chain(_before_every_step.values(), self._optimizer_step_pre_hooks.values()):
        changed = hook(self, args, kwargs)
        if changed is None:
            continue
        if not (isinstance(changed, tuple) and len(changed) == 2):
            raise RuntimeError(f"{step} must return None or a tuple of (new_args, new_kwargs), but got {changed}.")
        args, kwargs = changed
    return args, kwargs


def _set_params(group: Group) -> None:
    """Bring "params" of a new group into a list of tensors, and their names, if any, into "param_names"."""
    params = group["params"]
    if isinstance(params, (set, frozenset)):
        raise TypeError(
            "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets "
            "will change between runs. Please use a list instead."
        )
    members = [params] if isinstance(params, Tensor) else list(params)
    names = [member[0] for member in members if isinstance(member, tuple)]
    if names and len(names) != len(members):
        raise ValueError("all optimizer params should be with/without names. Some param names are missing")
    group["params"] = [member[1] if isinstance(member, tuple) else member for member in members]
    if names:
        group["param_names"] = names
