"""Parameter: a tensor that a module owns and an optimizer changes. Buffer: one that no optimizer changes."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from funcgrad._tensor import functions as fg
from funcgrad._tensor.aliases import View, cell_of
from funcgrad._tensor.overriding import disabled
from funcgrad._tensor.tensor import Tensor

_NO_SHAPE = (
    "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in `load_state_dict` "
    "when trying to load an uninitialized parameter into an initialized one. "
    "Call `forward` to initialize the parameters before accessing their attributes."
)


class Parameter(Tensor):
    """A leaf that wants gradients, and that a module registers when it is assigned to an attribute."""

    __slots__ = ()
    _prints_plainly = True
    __torch_function__: ClassVar[Any] = disabled

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Self:
        """Return a parameter that shares the storage of `data` (of a view: a copy)."""
        return _named_anew(cls, data, requires_grad)

    def __repr__(self, **kwargs: Any) -> str:
        text = super().__repr__(**kwargs)
        return f"Parameter containing:\n{text if type(self) is Parameter else f'Parameter({text})'}"

    __str__ = __repr__


class Buffer(Tensor):
    """A tensor that a module registers as a buffer when it is assigned to an attribute."""

    persistent: bool
    __torch_function__: ClassVar[Any] = disabled

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Self:
        """Return a buffer that shares the storage of `data`; `persistent` puts it in the state dictionary."""
        buffer = _named_anew(cls, data, requires_grad=False)
        buffer.persistent = persistent
        return buffer


class _Uninitialized(Tensor):
    """A tensor that has a device and a dtype, and gets its shape later, by `materialize`."""

    cls_to_become: type[Tensor]
    __torch_function__: ClassVar[Any] = disabled

    @property
    def shape(self) -> Any:
        raise RuntimeError(_NO_SHAPE)

    def materialize(self, shape: tuple[int, ...], device: Any = None, dtype: Any = None) -> None:
        """Give this very tensor a shape. Its numbers are zeros until somebody initialises them."""
        self.data = fg.empty(tuple(shape), device=self.device if device is None else device, dtype=dtype or self.dtype)
        self.__class__ = self.cls_to_become  # type: ignore[assignment]  # it stays the same object

    def __repr__(self, **kwargs: Any) -> str:
        return f"<{type(self).__name__}>"

    __str__ = __repr__


class UninitializedParameter(_Uninitialized, Parameter):
    """A parameter of a lazy layer before the layer's first input."""

    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        """Return a parameter without a shape."""
        return _named_anew(cls, fg.empty(0, device=device, dtype=dtype), requires_grad)


class UninitializedBuffer(_Uninitialized):
    """A buffer of a lazy layer before the layer's first input."""

    cls_to_become = Tensor

    def __new__(cls, requires_grad: bool = False, device: Any = None, dtype: Any = None) -> Any:
        """Return a buffer without a shape."""
        return _named_anew(cls, fg.empty(0, device=device, dtype=dtype), requires_grad)


def is_lazy(tensor: Any) -> bool:
    """Tell whether a tensor still waits for its shape."""
    return isinstance(tensor, _Uninitialized)


def empty_parameter(shape: Any, device: Any = None, dtype: Any = None) -> Parameter:
    """Return a parameter for a layer to initialise: nobody else has its storage, so nothing is shared."""
    empty = fg.empty(shape, device=device, dtype=dtype)
    return Parameter._leaf(empty._current(), empty.dtype.is_differentiable)


def _named_anew(cls: type[Tensor], data: Any, requires_grad: bool) -> Any:
    """Return a leaf of class `cls` on the value of `data`, an array from now on."""
    data = fg.empty(0) if data is None else data
    if not isinstance(data, Tensor):
        raise TypeError(f"{cls.__name__}() takes a Tensor as data, but got {type(data).__name__}")
    named = cls._leaf(data._materialize()._current(), requires_grad)
    if type(data._alias) is not View:
        named._alias = cell_of(data)
    return named
