"""A module's state as a dictionary: written by `state_dict`, read by `load_state_dict`; keys, messages as torch's."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, NamedTuple

from funcgrad._base.warning import warn
from funcgrad._tape.modes import no_grad
from funcgrad._tape.nodes import RemovableHandle
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn.hooks import Hook, Hooks
from funcgrad.nn.parameter import Parameter, is_lazy

_EXTRA_STATE_KEY_SUFFIX = "_extra_state"
_POSITIONAL = (
    "Positional args are being deprecated, use kwargs instead. Refer to "
    "https://pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.state_dict for details."
)
_FROM_PUBLIC = "_from_public_api"  # torch's mark on hooks whose result is not taken


class _IncompatibleKeys(NamedTuple):
    """What `load_state_dict` found missing in the dictionary, and what it found too much."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys!r}, unexpected_keys={self.unexpected_keys!r})"

    __str__ = __repr__


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """Drop `prefix` from the keys that start with it, in place: "module." of a DataParallel's state."""
    for key in list(state_dict):
        if key.startswith(prefix):
            state_dict[key[len(prefix) :]] = state_dict.pop(key)
    metadata: dict[str, Any] = getattr(state_dict, "_metadata", {})
    for key in list(metadata):
        if key in (prefix.rstrip("."), prefix) or key.startswith(prefix):
            metadata[key[len(prefix) :]] = metadata.pop(key)


class Stateful:
    """Reading and writing the state of a module and of all modules below it."""

    _version = 1
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]
    _state_dict_hooks: Hooks
    _state_dict_pre_hooks: Hooks
    _load_state_dict_pre_hooks: Hooks
    _load_state_dict_post_hooks: Hooks

    def state_dict(
        self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> OrderedDict[str, Any]:
        """Return parameters and persistent buffers by their dotted names; detached, unless `keep_vars`."""
        if args:
            warn(_POSITIONAL, FutureWarning)
        given: Any = (*args, *(destination, prefix, keep_vars)[len(args) :])  # torch's old order, by position
        destination, prefix, keep_vars = given
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        local_metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local_metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            changed = hook(self, destination, prefix, local_metadata)
            if changed is not None and getattr(hook, _FROM_PUBLIC, False):
                raise RuntimeError("state_dict post-hook must return None")
            destination = destination if changed is None else changed
        return destination

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> _IncompatibleKeys:
        """Copy the tensors of `state_dict` into the parameters and buffers of the same names.

        With `assign` they take the places of the present ones instead. Raises RuntimeError, with all complaints at
        once, for shapes that differ and, if `strict`, for missing and unexpected keys.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        loading = _Loading(getattr(state_dict, "_metadata", None), assign)
        copied: Any = OrderedDict(state_dict)
        if loading.metadata is not None:
            copied._metadata = loading.metadata
        loading.load(self, copied, "")
        errors = loading.errors
        if strict and loading.unexpected:
            errors.insert(0, f"Unexpected key(s) in state_dict: {_quoted(loading.unexpected)}. ")
        if strict and loading.missing:
            errors.insert(0, f"Missing key(s) in state_dict: {_quoted(loading.missing)}. ")
        if errors:
            listed = "\n\t".join(errors)
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{listed}")
        return _IncompatibleKeys(loading.missing, loading.unexpected)

    def get_extra_state(self) -> Any:
        """Return what else belongs in the state dictionary: for subclasses to write, with `set_extra_state`."""
        raise RuntimeError("a module that writes set_extra_state() must write get_extra_state() too")

    def set_extra_state(self, state: Any) -> None:
        """Take back what `get_extra_state` returned: for subclasses to write."""
        raise RuntimeError("a module that writes get_extra_state() must write set_extra_state() too")

    def register_state_dict_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(module, prefix, keep_vars)` before the state is gathered."""
        return RemovableHandle(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata)` after the state is gathered; it must return None."""
        setattr(hook, _FROM_PUBLIC, True)
        return RemovableHandle(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, metadata, strict, missing, unexpected, errors)` before loading."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def register_load_state_dict_post_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(module, incompatible_keys)` after loading; it may change the lists of keys in place."""
        return RemovableHandle(self._load_state_dict_post_hooks, hook)

    def _register_state_dict_hook(self, hook: Hook) -> RemovableHandle:
        if getattr(hook, _FROM_PUBLIC, False):
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook that was "
                "previously registered via register_state_dict_post_hook"
            )
        return RemovableHandle(self._state_dict_hooks, hook)

    def _register_load_state_dict_pre_hook(self, hook: Hook, with_module: bool = False) -> RemovableHandle:
        return RemovableHandle(self._load_state_dict_pre_hooks, _TakesModule(hook) if with_module else hook)

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        for name, tensor in self._own_state().items():
            destination[prefix + name] = tensor if keep_vars else tensor.detach()
        if _writes(self, "get_extra_state"):
            destination[prefix + _EXTRA_STATE_KEY_SUFFIX] = self.get_extra_state()

    def _own_state(self) -> dict[str, Tensor]:
        buffers = {k: v for k, v in self._buffers.items() if k not in self._non_persistent_buffers_set}
        return {k: v for k, v in {**self._parameters, **buffers}.items() if v is not None}

    def _load_from_state_dict(
        self,
        state_dict: Mapping[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Load this module's own tensors: torch's hook for subclasses that rename or check keys."""
        given = (state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        for hook in self._load_state_dict_pre_hooks.values():
            hook.hook(self, *given) if isinstance(hook, _TakesModule) else hook(*given)
        own = self._own_state()
        assign = local_metadata.get("assign_to_params_buffers", False)
        for name, tensor in own.items():
            key = prefix + name
            if key in state_dict:
                complaint = _load_one(self, name, tensor, key, state_dict[key], assign)
                if complaint:
                    error_msgs.append(complaint)
            elif strict:
                missing_keys.append(key)
        extra_key = prefix + _EXTRA_STATE_KEY_SUFFIX
        if _writes(self, "set_extra_state"):
            if extra_key in state_dict:
                self.set_extra_state(state_dict[extra_key])
            elif strict:
                missing_keys.append(extra_key)
        elif strict and extra_key in state_dict:
            unexpected_keys.append(extra_key)
        if strict:
            known = {prefix + name for name in own} | {extra_key}
            unexpected_keys += (k for k in state_dict if k.startswith(prefix) and not self._expects(k, prefix, known))

    def _expects(self, key: str, prefix: str, known: set[str]) -> bool:
        first, dot, _ = key[len(prefix) :].partition(".")
        return first in self._modules if dot else key in known


class _Loading:
    """One `load_state_dict`: its complaints, gathered over the whole tree of modules."""

    def __init__(self, metadata: Any, assign: bool) -> None:
        self.metadata, self.assign = metadata, assign
        self.missing: list[str] = []
        self.unexpected: list[str] = []
        self.errors: list[str] = []

    def load(self, module: Any, state_dict: dict[str, Any], prefix: str) -> None:
        """Load one module, then those below it."""
        local = {} if self.metadata is None else self.metadata.get(prefix[:-1], {})
        if self.assign:
            local["assign_to_params_buffers"] = True
        module._load_from_state_dict(state_dict, prefix, local, True, self.missing, self.unexpected, self.errors)
        for name, child in module._modules.items():
            if child is not None:
                below = f"{prefix}{name}."
                self.load(child, {k: v for k, v in state_dict.items() if k.startswith(below)}, below)
        for hook in module._load_state_dict_post_hooks.values():
            if hook(module, _IncompatibleKeys(self.missing, self.unexpected)) is not None:
                raise AssertionError(
                    "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new "
                    "values, if incompatible_keys need to be modified, it should be done inplace."
                )


class _TakesModule:
    """A load hook that is given its module first. It does not hold the module, so no cycle keeps that alive."""

    def __init__(self, hook: Hook) -> None:
        self.hook = hook


_NO_OP = (
    "for {}: copying from a non-meta parameter in the checkpoint to a meta parameter in the current model, which is a "
    "no-op. (Did you mean to pass `assign=True` to assign items in the state dictionary to their corresponding key in "
    "the module instead of copying them in place?)"
)


def _load_one(module: Any, name: str, tensor: Tensor, key: str, given: Any, assign: bool) -> str | None:
    """Load one tensor and return None, or say what is wrong with it."""
    if not isinstance(given, Tensor):
        return (
            f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from checkpoint '
            f"but received {type(given)}"
        )
    if not is_lazy(tensor):
        if tensor.dim() == 0 and tuple(given.shape) == (1,):
            given = given[0]
        if given.shape != tensor.shape:
            return (
                f"size mismatch for {key}: copying a param with shape {given.shape} from checkpoint, "
                f"the shape in current model is {tensor.shape}."
            )
    if tensor.is_meta and not given.is_meta and not assign:
        warnings.warn(_NO_OP.format(key), stacklevel=2)
    try:
        with no_grad():
            if assign:
                _assign(module, name, tensor, given)
            else:
                _take_value(tensor, given)
    except Exception as error:
        return (
            f'While copying the parameter named "{key}", whose dimensions in the model are {tensor.size()} and '
            f"whose dimensions in the checkpoint are {given.size()}, an exception occurred : {error.args}."
        )
    return None


def _take_value(tensor: Tensor, given: Tensor) -> None:
    """Copy by name where that is all there is to do: arrays never change, so two tensors may have the same one."""
    if given.dtype is tensor.dtype and given.device == tensor.device:
        tensor._write(given._materialize()._current().copied())
    else:
        tensor.copy_(given)


def _assign(module: Any, name: str, tensor: Tensor, given: Tensor) -> None:
    if isinstance(tensor, Parameter):
        if isinstance(given, Parameter):
            given.requires_grad_(tensor.requires_grad)
        else:
            given = Parameter(given, requires_grad=tensor.requires_grad)
    setattr(module, name, given)


def _writes(module: Stateful, method: str) -> bool:
    return getattr(type(module), method) is not getattr(Stateful, method)


def _quoted(keys: list[str]) -> str:
    return ", ".join(f'"{key}"' for key in keys)
