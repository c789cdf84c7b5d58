"""Module: an object that owns parameters, and the function that it computes with them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Self

from funcgrad._base import dtypes
from funcgrad._base.dtypes import dtype as DType
from funcgrad._base.warning import warn
from funcgrad._tape.modes import no_grad
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn.destinations import _parse_to
from funcgrad.nn.hooks import Hooked
from funcgrad.nn.members import Members
from funcgrad.nn.own_names import name_own_functions
from funcgrad.nn.state_dict import Stateful
from funcgrad.nn.traversal import Traversal
from funcgrad.nn.unbound import keep_unbound

_HOOKS = (
    "_backward_pre_hooks", "_backward_hooks", "_forward_hooks", "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called", "_forward_pre_hooks", "_forward_pre_hooks_with_kwargs", "_state_dict_hooks",
    "_state_dict_pre_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks",
)  # fmt: skip


def _forward_unimplemented(self: Any, *input: Any) -> Any:
    raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')


class Module(Hooked, Stateful, Traversal, Members):
    """The base of all networks and layers: write `__init__` and `forward`.

    Parameters, buffers and modules assigned to attributes are registered, and so travel with `parameters()`,
    `state_dict()`, `to()` and printing.
    """

    dump_patches = False
    call_super_init = False
    training: bool
    forward: Callable[..., Any] = _forward_unimplemented  # any arguments: subclasses choose theirs
    _is_full_backward_hook: bool | None
    _compiled_call_impl: Callable[..., Any] | None = None  # torch's place for what `compile` makes: nothing here

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        name_own_functions(cls, Module)
        keep_unbound(cls)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init:
            name = f"{type(self).__name__}.__init__()"
            if kwargs:
                raise TypeError(f"{name} got an unexpected keyword argument '{next(iter(kwargs))}'")
            if args:
                raise TypeError(f"{name} takes 1 positional argument but {len(args) + 1} were given")
        own = self.__dict__
        own["training"] = True
        own["_parameters"], own["_buffers"], own["_modules"] = {}, {}, {}
        own["_non_persistent_buffers_set"] = set()
        own["_is_full_backward_hook"] = None
        for hooks in _HOOKS:
            own[hooks] = OrderedDict()
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def train(self, mode: bool = True) -> Self:
        """Set training mode here and below: dropout and batch normalization ask for it."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Self:
        """Set evaluation mode here and below."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Let all parameters take part in gradients, or none."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of all parameters, or fill them with zeros."""
        for parameter in self.parameters():
            grad = parameter.grad
            if set_to_none:
                parameter.grad = None
            elif grad is not None:
                (grad.detach_() if grad.requires_grad else grad).zero_()

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Move parameters and buffers to a device, floating ones to a dtype, or to those of another tensor."""
        device, dtype, _, memory_format = _parse_to(*args, **kwargs)
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}"
            )

        if dtype is not None and dtype.is_complex:
            warn(
                "Complex modules are a new feature under active development whose design may change, and some modules "
                "might not work as expected when using complex tensors as parameters or buffers. Please file an issue "
                "at https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml if a complex module does not "
                "work as expected."
            )

        def move(tensor: Tensor) -> Tensor:
            kind = dtype if tensor.is_floating_point() or tensor.is_complex() else None
            wanted = memory_format if tensor.ndim in (4, 5) else None
            return tensor.to(device=device, dtype=kind, memory_format=wanted)

        try:
            return self._apply(move)
        except NotImplementedError as error:
            raise NotImplementedError(f"{error} {_FROM_META}") from None

    def to_empty(self, *, device: Any, recurse: bool = True) -> Self:
        """Put tensors of the same shapes, not initialised, on `device`."""
        return self._apply(lambda tensor: fg.empty_like(tensor, device=device), recurse)

    def cuda(self, device: Any = None) -> Self:
        """Move parameters and buffers to the accelerator."""
        return self._apply(lambda tensor: tensor.cuda(device))

    def xpu(self, device: Any = None) -> Self:
        """Refuse: JAX knows no such device."""
        return self._apply(lambda tensor: tensor.xpu(device))

    def ipu(self, device: Any = None) -> Self:
        """Refuse: JAX knows no such device."""
        return self._apply(lambda tensor: tensor.ipu(device))

    def mtia(self, device: Any = None) -> Self:
        """Refuse: JAX knows no such device."""
        return self._apply(lambda tensor: tensor.mtia(device))

    def cpu(self) -> Self:
        """Move parameters and buffers to the CPU."""
        return self._apply(lambda tensor: tensor.cpu())

    def type(self, dst_type: DType | str) -> Self:
        """Cast all parameters and buffers."""
        return self._apply(lambda tensor: tensor.type(dst_type))

    def float(self) -> Self:
        """Cast floating parameters and buffers to float32."""
        return self._cast(dtypes.float32)

    def double(self) -> Self:
        """Cast floating parameters and buffers to float64."""
        return self._cast(dtypes.float64)

    def half(self) -> Self:
        """Cast floating parameters and buffers to float16."""
        return self._cast(dtypes.float16)

    def bfloat16(self) -> Self:
        """Cast floating parameters and buffers to bfloat16."""
        return self._cast(dtypes.bfloat16)

    def share_memory(self) -> Self:
        """Mark all parameters and buffers as shared: threads see writes as ever, processes are given copies."""
        return self._apply(lambda tensor: tensor.share_memory_())

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Accept torch's call and change nothing: every recorded program is compiled already."""

    def _replicate_for_data_parallel(self) -> Self:
        """Return a copy that shares all attributes, and has its own dicts of buffers and modules, and no parameters."""
        replica = type(self).__new__(type(self))
        replica.__dict__.update(
            self.__dict__, _parameters={}, _buffers=dict(self._buffers), _modules=dict(self._modules), _is_replica=True
        )
        return replica

    def extra_repr(self) -> str:
        """Return what `repr` says of this module beside its children: for subclasses to write."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({name}): {indented(repr(module))}" for name, module in self._modules.items()]
        if len(lines) == 1 and not children:
            return f"{self._get_name()}({lines[0]})"
        body = "\n  ".join(lines + children)
        return f"{self._get_name()}(\n  {body}\n)" if body else f"{self._get_name()}()"

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for hooks in _HOOKS:  # what an older file does not have
            self.__dict__.setdefault(hooks, OrderedDict())
        self.__dict__.setdefault("_non_persistent_buffers_set", set())
        self.__dict__.setdefault("_is_full_backward_hook", None)

    def _get_name(self) -> str:
        return type(self).__name__

    def _cast(self, dtype: DType) -> Self:
        return self._apply(lambda tensor: tensor.to(dtype) if tensor.is_floating_point() else tensor)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Replace the value of every parameter, gradient and buffer by `fn` of it; parameters stay the same objects."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        with no_grad():
            for parameter in self._parameters.values():
                if parameter is not None:
                    gradient = parameter.grad
                    _replace(parameter, fn)
                    if gradient is not None:
                        parameter.grad = fn(gradient)
            for name, buffer in self._buffers.items():
                if buffer is not None:
                    self._buffers[name] = fn(buffer)
        return self


_FROM_META = (
    "Please use torch.nn.Module.to_empty() instead of torch.nn.Module.to() when moving module from meta to a different "
    "device."
)


def indented(text: str, blanks: int = 2) -> str:
    """Indent all lines but the first."""
    return text.replace("\n", "\n" + " " * blanks)


_addindent = indented  # torch's name, which the `__repr__` of many a module imports


def _replace(parameter: Tensor, fn: Callable[[Tensor], Tensor]) -> None:
    applied = fn(parameter)
    if applied is not parameter:
        parameter.data = applied
