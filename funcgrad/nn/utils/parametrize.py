"""Parametrizations: an attribute of a module that is computed, by modules, from the tensors that are learned."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from funcgrad._tape.modes import no_grad
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn.containers import ModuleDict, ModuleList
from funcgrad.nn.module import Module
from funcgrad.nn.parameter import Parameter

__all__ = [
    "ParametrizationList", "cached", "is_parametrized", "register_parametrization", "remove_parametrizations",
    "transfer_parametrizations_and_params", "type_before_parametrizations",
]  # fmt: skip


class _Cache:
    """What parametrized attributes were computed to inside `cached()`; `depth` counts how many such blocks are open."""

    depth = 0
    computed: dict[tuple[int, str], Tensor] = {}  # noqa: RUF012 - one cache for all


@contextmanager
def cached() -> Iterator[None]:
    """Compute each parametrized attribute once inside the block."""
    _Cache.depth += 1
    try:
        yield
    finally:
        _Cache.depth -= 1
        if not _Cache.depth:
            _Cache.computed.clear()


class ParametrizationList(ModuleList):
    """The modules behind one attribute, and the tensors that they start from: `original`, or `original0`, ..."""

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        with no_grad():
            start = _inverted(self, original, all_of_them=False)
        if not isinstance(start, (Tensor, Sequence)):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                f"Got {type(start).__name__}"
            )
        self.is_tensor = isinstance(start, Tensor)
        self.ntensors = 1 if self.is_tensor else len(start)
        if isinstance(start, Tensor):
            if start.dtype is not original.dtype:
                raise ValueError(
                    "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                    f"original.dtype: {original.dtype}\nright_inverse(original).dtype: {start.dtype}"
                )
            _take_value(original, start)
            _register(self, "original", original)
        else:
            for place, tensor in enumerate(start):
                if not isinstance(tensor, Tensor):
                    raise ValueError(
                        "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                        f"Got element {place} of the sequence with type {type(tensor).__name__}."
                    )
                learned = Parameter(tensor.detach()) if isinstance(original, Parameter) else tensor
                _register(self, f"original{place}", learned.requires_grad_(original.requires_grad))
        if not unsafe:
            _same_kind(self(), original, shape=shape, dtype=dtype)

    def right_inverse(self, value: Tensor) -> None:
        """Give the originals values from which `value` is computed."""
        with no_grad():
            start = _inverted(self, value, all_of_them=True)
            if self.is_tensor:
                if not isinstance(start, Tensor):
                    raise ValueError(f"`right_inverse` should return a tensor. Got {type(start).__name__}")
                if start.dtype is not self.original.dtype:
                    raise ValueError(
                        f"The tensor returned by `right_inverse` has dtype {start.dtype} "
                        f"while `original` has dtype {self.original.dtype}"
                    )
                _take_value(self.original, start)
                return
            if not isinstance(start, Sequence) or len(start) != self.ntensors:
                raise ValueError(f"'right_inverse' must return a sequence of tensors of length {self.ntensors}.")
            for place, tensor in enumerate(start):
                _take_value(getattr(self, f"original{place}"), tensor)

    def forward(self) -> Tensor:
        """Compute the attribute."""
        if self.is_tensor:
            value = self[0](self.original)
        else:
            value = self[0](*(getattr(self, f"original{place}") for place in range(self.ntensors)))
        for module in list(self)[1:]:
            value = module(value)
        return value


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Compute the attribute `tensor_name` by `parametrization` from now on; a second one is put on top of the first.

    Raises ValueError for a parametrization that changes shape or dtype, unless `unsafe`, and for a name that is neither
    a parameter nor a buffer.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        present = getattr(module, tensor_name)
        if not unsafe:
            _same_kind(parametrization(present), present)
        module.parametrizations[tensor_name].append(parametrization)
        module.parametrizations[tensor_name].unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        parametrizations = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _make_own_class(module)
            module.parametrizations = ModuleDict()
        setattr(type(module), tensor_name, _computed(tensor_name))
        module.parametrizations[tensor_name] = parametrizations
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element "
            f"with name '{tensor_name}'"
        )
    return module


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Tell whether any attribute of the module is parametrized, or the one of this name."""
    parametrizations = getattr(module, "parametrizations", None)
    if not isinstance(parametrizations, ModuleDict):
        return False
    return len(parametrizations) > 0 if tensor_name is None else tensor_name in parametrizations


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Make the attribute a parameter (or buffer) again: with its computed value, or with the original one."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    parametrizations = module.parametrizations[tensor_name]
    if parametrizations.is_tensor:
        original = parametrizations.original
        if leave_parametrized:
            with no_grad():
                _take_value(original, getattr(module, tensor_name))
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        original = Parameter(value.detach()) if value.requires_grad else value
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a "
            "sequence of tensors."
        )
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, original)
    if not is_parametrized(module):
        del module.parametrizations
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """Return the class that the module had before its first parametrization."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """Give `to_module` the parametrizations of `from_module`, with the same learned tensors."""
    if is_parametrized(from_module):
        for name in list(from_module.parametrizations) if tensor_name is None else [tensor_name]:
            given = from_module.parametrizations[name]
            if not hasattr(to_module, name):
                setattr(to_module, name, Parameter(getattr(from_module, name).detach()))
            for parametrization in given:
                register_parametrization(to_module, name, parametrization)
            for original, tensor in (*given._parameters.items(), *given._buffers.items()):
                setattr(to_module.parametrizations[name], original, tensor)
    return to_module


def _computed(name: str) -> property:
    """Return the property that computes a parametrized attribute."""

    def get(module: Any) -> Tensor:
        parametrization = module.parametrizations[name]
        if not _Cache.depth:
            return parametrization()
        key = (id(module), name)
        if key not in _Cache.computed:
            _Cache.computed[key] = parametrization()
        return _Cache.computed[key]

    def set_value(module: Any, value: Tensor) -> None:
        module.parametrizations[name].right_inverse(value)

    return property(get, set_value)


def _make_own_class(module: Module) -> None:
    """Give the module a class of its own, which can hold properties."""
    kind = type(module)

    def deepcopied(self: Module, memo: dict[int, Any]) -> Module:
        if id(self) in memo:
            return memo[id(self)]
        replica = type(self).__new__(type(self))
        memo[id(self)] = replica
        replica.__dict__ = copy.deepcopy(self.__dict__, memo)
        return replica

    def refuse(self: Module) -> Any:
        raise RuntimeError(
            "Serialization of parametrized modules is only supported through state_dict(). See:\n"
            "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
            "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training"
        )

    members: dict[str, Any] = {"__getstate__": refuse, "__module__": ParametrizationList.__module__}
    if not hasattr(kind, "__deepcopy__"):
        members["__deepcopy__"] = deepcopied
    module.__class__ = type(f"Parametrized{kind.__name__}", (kind,), members)


def _inverted(modules: ParametrizationList, value: Any, all_of_them: bool) -> Any:
    for module in reversed(list(modules)):
        if not hasattr(module, "right_inverse"):
            if all_of_them:
                raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
            continue
        try:
            value = module.right_inverse(value)  # type: ignore[operator]  # asked for just now
        except NotImplementedError:
            if all_of_them:
                raise
    return value


def _same_kind(given: Any, wanted: Tensor, *, shape: Any = None, dtype: Any = None) -> None:
    if not isinstance(given, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(given).__name__}.")
    shape, dtype = wanted.shape if shape is None else shape, wanted.dtype if dtype is None else dtype
    if given.dtype is not dtype:
        raise ValueError(
            f"Registering a parametrization may not change the dtype of the tensor, unless `unsafe` flag is enabled.\n"
            f"unparametrized dtype: {dtype}\nparametrized dtype: {given.dtype}"
        )
    if given.shape != shape:
        raise ValueError(
            f"Registering a parametrization may not change the shape of the tensor, unless `unsafe` flag is enabled.\n"
            f"unparametrized shape: {shape}\nparametrized shape: {given.shape}"
        )


def _take_value(target: Tensor, value: Tensor) -> None:
    if value is not target:
        target.data = value.detach()


def _register(module: Module, name: str, tensor: Tensor) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)
