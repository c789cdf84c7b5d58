"""Parameter: a tensor that a module owns and an optimizer changes. Buffer: one that no optimizer changes."""

from __future__ import annotations

import inspect
from typing import Any, ClassVar, NoReturn, Self

from funcgrad._tape.shapeless import Shapeless
from funcgrad._tensor import functions as fg
from funcgrad._tensor.aliases import shared_with
from funcgrad._tensor.overriding import disabled
from funcgrad._tensor.tensor import Tensor

_NO_SHAPE = (
    "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in `load_state_dict` "
    "when trying to load an uninitialized parameter into an initialized one. "
    "Call `forward` to initialize the parameters before accessing their attributes."
)
_UNINITIALIZED = (
    "Attempted to use an uninitialized parameter in {}. This error happens when you are using a `LazyModule` or "
    "explicitly manipulating `torch.nn.parameter.{}` objects. When using LazyModules Call `forward` with a dummy batch "
    "to initialize the parameters before calling torch functions"
)
_READING = {"__len__", "__getitem__", "__setitem__", "__bool__", "__iter__", "__float__", "__int__", "__array__"}
_ANSWERED = {  # what a tensor without a shape answers all the same
    "copy_", "is_complex", "is_floating_point", "half", "float", "double", "char", "short", "int", "long", "cuda",
    "cpu", "to", "get_device", "size", "is_inference",
}  # fmt: skip


class _ParameterMeta(type(Tensor)):
    """Makes instances of a class also those of the user's own kinds of tensors that carry its mark."""

    def __instancecheck__(cls, instance: Any) -> bool:
        mark = cls.__dict__.get("_mark")
        if mark is not None and isinstance(instance, Tensor) and mark in getattr(instance, "__dict__", ()):
            return True
        return super().__instancecheck__(instance)


class Parameter(Tensor, metaclass=_ParameterMeta):
    """A leaf that wants gradients, and that a module registers when it is assigned to an attribute."""

    __slots__ = ()
    _prints_plainly = True
    _mark: ClassVar[str] = "_is_param"
    __torch_function__: ClassVar[Any] = disabled

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Self:
        """Return a parameter that shares the storage of `data` (of a view: a copy).

        What is of a class of its own stays of that class, and is marked. RuntimeError: its `detach` gives another.
        """
        if isinstance(data, Tensor) and type(data) is not Tensor and not issubclass(type(data), Parameter):
            return _marked(data.detach().requires_grad_(requires_grad), data)
        return _named_anew(cls, data, requires_grad)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            numbers = Tensor._leaf(self._materialize()._current().copied(), requires_grad=False)
            memo[id(self)] = type(self)(numbers, self.requires_grad)
        return memo[id(self)]

    def __repr__(self, **kwargs: Any) -> str:
        return "Parameter containing:\n" + super().__repr__(**kwargs)


def _marked(found: Any, data: Tensor) -> Any:
    if type(found) is not type(data):
        raise RuntimeError(
            f"Creating a Parameter from an instance of type {type(data).__name__} requires that detach() returns an "
            f"instance of the same type, but return type {type(found).__name__} was found instead. To use the type as "
            "a Parameter, please correct the detach() semantics defined by its __torch_dispatch__() implementation."
        )
    vars(found)["_is_param"] = True
    return found


class Buffer(Tensor, metaclass=_ParameterMeta):
    """What a module registers as a buffer when it is assigned to an attribute: a tensor that is marked."""

    persistent: bool
    _mark: ClassVar[str] = "_is_buffer"
    __torch_function__: ClassVar[Any] = disabled

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Self:
        """Return a tensor that shares the storage of `data`; `persistent` puts it in the state dictionary."""
        given = fg.empty(0) if data is None else data
        buffer: Any = given.detach().requires_grad_(given.requires_grad)
        buffer.persistent, buffer._is_buffer = persistent, True
        return buffer


def _refuse_parameter(name: str) -> NoReturn:
    raise ValueError(_UNINITIALIZED.format(name, "UninitializedParameter"))


def _refuse_buffer(name: str) -> NoReturn:
    raise ValueError(_UNINITIALIZED.format(name, "UninitializedBuffer"))


class UninitializedTensorMixin(Tensor):
    """A tensor that has a device and a dtype, and gets its shape later, by `materialize`. No function takes it."""

    cls_to_become: type[Tensor]
    _waiting: ClassVar[Shapeless]
    __torch_function__: ClassVar[Any] = disabled

    @classmethod
    def _made(cls, requires_grad: bool, device: Any, dtype: Any) -> Any:
        return cls._leaf(cls._waiting.lift(fg.empty(0, device=device, dtype=dtype)._current()), requires_grad)

    @property
    def shape(self) -> Any:
        raise RuntimeError(_NO_SHAPE)

    @property
    def data(self) -> Any:
        """An empty tensor: what initialises `layer.weight.data` before the first input finds nothing to write to."""
        return fg.empty(0, device=self.device, dtype=self.dtype)

    @data.setter
    def data(self, new: Tensor) -> None:
        Tensor.data.__set__(self, new)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        memo[id(self)] = copied = type(self)._made(self.requires_grad, self.device, self.dtype)
        return copied

    def __reduce_ex__(self, protocol: Any) -> Any:
        return type(self), (self.requires_grad, self.device, self.dtype)

    def share_memory_(self, device: Any = None) -> Self:
        """Refuse: there is nothing to share yet. RuntimeError: always."""
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the parameters "
            "before calling `module.share_memory()`."
        )

    def materialize(self, shape: tuple[int, ...], device: Any = None, dtype: Any = None) -> None:
        """Give this very tensor a shape. Its numbers are zeros until somebody initialises them."""
        self.data = fg.empty(tuple(shape), device=self.device if device is None else device, dtype=dtype or self.dtype)
        self.__class__ = self.cls_to_become  # type: ignore[assignment]  # it stays the same object

    def __repr__(self, **kwargs: Any) -> str:
        return f"<{type(self).__name__}>"


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter of a lazy layer before the layer's first input."""

    cls_to_become = Parameter
    _waiting = Shapeless(_refuse_parameter)

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        """Return a parameter without a shape."""
        return cls._made(requires_grad, device, dtype)


class UninitializedBuffer(UninitializedTensorMixin):
    """A buffer of a lazy layer before the layer's first input."""

    cls_to_become = Tensor
    _waiting = Shapeless(_refuse_buffer)

    def __new__(cls, requires_grad: bool = False, device: Any = None, dtype: Any = None) -> Any:
        """Return a buffer without a shape."""
        return cls._made(requires_grad, device, dtype)


def _refusing(name: str) -> Any:
    def refused(self: UninitializedTensorMixin, *args: Any, **kwargs: Any) -> Any:
        self._waiting.refuse(name)

    return refused


def _is_refused(name: str) -> bool:
    """Tell whether a method of Tensor is not one that a tensor without a shape answers."""
    is_public = not name.startswith("_") or name in _READING
    return is_public and name not in _ANSWERED and inspect.isfunction(inspect.getattr_static(Tensor, name))


for _name in filter(_is_refused, type.__dir__(Tensor)):
    if _name not in vars(UninitializedTensorMixin):
        setattr(UninitializedTensorMixin, _name, _refusing(_name))


def is_lazy(tensor: Any) -> bool:
    """Tell whether a tensor still waits for its shape."""
    return isinstance(tensor, UninitializedTensorMixin)


def empty_parameter(shape: Any, device: Any = None, dtype: Any = None) -> Parameter:
    """Return a parameter for a layer to initialise: nobody else has its storage, so nothing is shared."""
    empty = fg.empty(shape, device=device, dtype=dtype)
    return Parameter._leaf(empty._current(), empty.dtype.is_differentiable)


def _named_anew(cls: type[Tensor], data: Any, requires_grad: bool) -> Any:
    """Return a leaf of class `cls` on the value of `data`, an array from now on."""
    data = fg.empty(0) if data is None else data
    if not isinstance(data, Tensor):
        raise AttributeError(f"'{type(data).__name__}' object has no attribute 'detach'")
    named = cls._leaf(data._materialize()._current(), requires_grad)
    named._alias = shared_with(data)
    return named
