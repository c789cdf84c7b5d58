"""Tensor's hand-written methods: Python's protocols, conversions, sizes, copies, backward. The rest comes from the table."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import jax.core
import numpy as np

from funcgrad._base import dtypes
from funcgrad._base.devices import device as Device  # noqa: N812 - a type
from funcgrad._base.dtypes import dtype as DType  # noqa: N812 - a type
from funcgrad._ops.table import TABLE
from funcgrad._program.record import array_of
from funcgrad._tape.apply import apply
from funcgrad._tensor import front, printing
from funcgrad._tensor.call import call
from funcgrad._tensor.differentiate import backward
from funcgrad._tensor.front import as_dtype
from funcgrad._tensor.indexing import get_item, set_item
from funcgrad._tensor.data import from_data
from funcgrad._tensor.interop import to_host, to_jax
from funcgrad._tensor.moving import moved
from funcgrad._tensor.placement import device_of
from funcgrad._tensor.tensor import Tensor, _Methods

METHODS: dict[str, Any] = {}


def method(*names: str) -> Callable[[Any], Any]:
    """Give a function to Tensor under these names (its own, without names)."""

    def enter(function: Any) -> Any:
        for name in names or (function.__name__,):
            METHODS[name] = function
        return function

    return enter


def find(name: str) -> Any:
    """Return the method (or property) of the table with this name, or None."""
    if f".{name}" not in front.places():
        return None
    made = front.made(f".{name}")
    return property(made) if name in _PROPERTIES else made


_PROPERTIES = {"T", "H", "mT", "mH", "real", "imag"}


# Numbers out of a tensor


@method()
def item(self: Tensor) -> Any:
    """Return the one number in this tensor as a Python number; waits until it is computed."""
    shape = self.shape
    if shape.numel() != 1:
        raise RuntimeError(f"a Tensor with {shape.numel()} elements cannot be converted to Scalar")
    array = array_of(self._current().value)
    return array.item() if not shape else np.asarray(array).item()


@method()
def tolist(self: Tensor) -> Any:
    """Return the numbers as nested Python lists; of a 0-d tensor, the number."""
    return to_host(self).tolist()


@method()
def numpy(self: Tensor, *, force: bool = False) -> np.ndarray[Any, Any]:
    """Return a numpy copy of the numbers. Raises RuntimeError for a tensor that requires grad, unless `force`."""
    if self.requires_grad and not force:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    return to_host(self)


@method("__array__")
def as_array(self: Tensor, dtype: Any = None, copy: Any = None) -> np.ndarray[Any, Any]:
    """Give numpy the numbers."""
    array = numpy(self)
    return array if dtype is None else array.astype(dtype, copy=False)


METHODS["jax"] = METHODS["__jax_array__"] = to_jax


def _number(self: Tensor, kind: type) -> Any:
    if self.shape.numel() != 1:
        raise RuntimeError(f"a Tensor with {self.shape.numel()} elements cannot be converted to Scalar")
    return kind(item(self))


@method("__bool__")
def as_bool(self: Tensor) -> bool:
    """Tell whether the one number in this tensor is not zero."""
    count = self.shape.numel()
    if count != 1:
        word = "no values" if count == 0 else "more than one value"
        raise RuntimeError(f"Boolean value of Tensor with {word} is ambiguous")
    return bool(item(self))


METHODS["__float__"] = lambda self: _number(self, float)
METHODS["__int__"] = lambda self: _number(self, int)
METHODS["__complex__"] = lambda self: _number(self, complex)


@method("__index__")
def as_index(self: Tensor) -> int:
    """Let a tensor of one integer stand where Python wants an int."""
    if self.dtype.is_floating_point or self.dtype.is_complex or self.shape.numel() != 1:
        raise TypeError("only integer tensors of a single element can be converted to an index")
    return int(item(self))


# Python's protocols

METHODS["__getitem__"] = get_item
METHODS["__setitem__"] = set_item


@method("__len__")
def length(self: Tensor) -> int:
    """Return the size of the first dimension."""
    if not self.shape:
        raise TypeError("len() of a 0-d tensor")
    return self.shape[0]


@method("__iter__")
def iterate(self: Tensor) -> Iterator[Tensor]:
    """Go over the first dimension, a view at a time."""
    if not self.shape:
        raise TypeError("iteration over a 0-d tensor")
    return iter([get_item(self, i) for i in range(self.shape[0])])


@method("__contains__")
def contains(self: Tensor, element: Any) -> bool:
    """Tell whether any element equals `element`."""
    if isinstance(element, (Tensor, int, float, complex)):
        return bool((self == element).any().item())
    raise RuntimeError(
        f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}."
    )


@method("__repr__", "__str__")
def represent(self: Tensor) -> str:
    """Print as torch prints."""
    variable = self._current()
    fn = self.grad_fn
    where = device_of(variable.aval.placement)
    value = variable.value
    if isinstance(value.array, jax.core.Tracer):
        return f"tensor(traced {variable.aval})"
    return printing.format_tensor(
        to_host(self),
        dtype=variable.aval.dtype,
        requires_grad=variable.node is not None and fn is None,
        grad_fn_name=None if fn is None else fn.name(),
        device=None if where.type == "cpu" else str(where),
        default_dtype=dtypes.get_default_dtype(),
        is_parameter=getattr(type(self), "_is_parameter", False),
    )


@method("__format__")
def formatted(self: Tensor, spec: str) -> str:
    """Format a 0-d tensor as its number."""
    if not self.shape and not spec == "":
        return item(self).__format__(spec)
    if not self.shape and type(self) is Tensor and not self.requires_grad:
        return str(item(self))
    return object.__format__(self, spec)


@method("__reduce_ex__")
def reduce_ex(self: Tensor, protocol: int) -> tuple[Any, ...]:
    """Pickle the numbers, dtype and requires_grad."""
    return _rebuilt, (type(self), to_host(self.detach()), self.requires_grad, dict(self.__dict__))


def _rebuilt(kind: Any, array: np.ndarray[Any, Any], requires_grad: bool, extra: dict[str, Any]) -> Tensor:
    made = kind._leaf(from_data(array, None, None, False)._current(), requires_grad)
    made.__dict__.update(extra)
    return made


# Sizes


@method()
def size(self: Tensor, dim: int | None = None) -> Any:
    """Return the shape, or the size of one dimension."""
    if dim is None:
        return self.shape
    shape = self.shape
    if not -max(len(shape), 1) <= dim < max(len(shape), 1):
        bound = max(len(shape), 1)
        raise IndexError(f"Dimension out of range (expected to be in range of [{-bound}, {bound - 1}], but got {dim})")
    return shape[dim]


METHODS["dim"] = METHODS["ndimension"] = lambda self: len(self.shape)
METHODS["numel"] = METHODS["nelement"] = lambda self: self.shape.numel()
METHODS["element_size"] = lambda self: self.dtype.itemsize
METHODS["is_floating_point"] = lambda self: self.dtype.is_floating_point
METHODS["is_complex"] = lambda self: self.dtype.is_complex
METHODS["is_signed"] = lambda self: self.dtype.is_signed
METHODS["is_contiguous"] = lambda self, memory_format=None: True
METHODS["is_pinned"] = lambda self, device=None: False
METHODS["is_shared"] = lambda self: False
METHODS["share_memory_"] = METHODS["pin_memory"] = lambda self, device=None: self
METHODS["is_inference"] = METHODS["is_conj"] = METHODS["is_neg"] = lambda self: False
METHODS["resolve_conj"] = METHODS["resolve_neg"] = lambda self: self
METHODS["storage_offset"] = lambda self: 0
METHODS["get_device"] = lambda self: -1 if self.device.type == "cpu" else self.device.index or 0
METHODS["nbytes"] = property(lambda self: self.shape.numel() * self.dtype.itemsize)
METHODS["itemsize"] = property(lambda self: self.dtype.itemsize)
METHODS["is_cuda"] = property(lambda self: self.device.type == "cuda")
METHODS["is_mps"] = METHODS["is_meta"] = property(lambda self: False)
METHODS["is_sparse"] = METHODS["is_quantized"] = METHODS["is_nested"] = property(lambda self: False)
METHODS["is_cpu"] = property(lambda self: self.device.type == "cpu")
METHODS["names"] = property(lambda self: (None,) * len(self.shape))
METHODS["name"] = property(lambda self: None)
METHODS["layout"] = property(lambda self: "torch.strided")


@method()
def stride(self: Tensor, dim: int | None = None) -> Any:
    """Return the strides of a contiguous tensor of this shape, in elements."""
    shape = self.shape
    strides = tuple(math.prod([max(n, 1) for n in shape[d + 1 :]]) for d in range(len(shape)))
    return strides if dim is None else strides[dim]


@method()
def data_ptr(self: Tensor) -> int:
    """Return the address of the array."""
    return array_of(self._current().value).unsafe_buffer_pointer()


@method()
def is_same_size(self: Tensor, other: Tensor) -> bool:
    """Tell whether both have the same shape."""
    return self.shape == other.shape


# Conversions


@method()
def to(self: Tensor, *args: Any, dtype: Any = None, device: Any = None, non_blocking: bool = False,
       copy: bool = False, memory_format: Any = None) -> Tensor:  # fmt: skip
    """Return the tensor in another dtype, on another device, or both; the tensor itself where nothing differs."""
    for given in args:
        if isinstance(given, Tensor):
            dtype, device = given.dtype, given.device
        elif isinstance(given, DType) or given in (float, int, complex) or given is bool:
            dtype = given
        elif isinstance(given, (str, Device, int)) and not isinstance(given, bool):
            device = given
    wanted = as_dtype(dtype)
    result = self
    if device is not None and Device(device) != self.device:
        result = moved(self, Device(device))
    if wanted is not None and wanted is not self.dtype:
        return call(TABLE["to_dtype"], (result,), (wanted,))
    return clone(self) if copy and result is self else result


def _converter(dtype: DType) -> Any:
    def convert(self: Tensor, memory_format: Any = None) -> Tensor:
        """Return the tensor in this dtype."""
        return self if self.dtype is dtype else call(TABLE["to_dtype"], (self,), (dtype,))

    return convert


for _name, _dtype in {**dtypes.ALIASES, "bfloat16": dtypes.bfloat16, "char": dtypes.int8, "byte": dtypes.uint8}.items():
    METHODS[_name] = _converter(_dtype)


@method()
def cpu(self: Tensor, memory_format: Any = None) -> Tensor:
    """Return the tensor on the CPU."""
    return to(self, device="cpu")


@method()
def cuda(self: Tensor, device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> Tensor:
    """Return the tensor on the GPU."""
    return to(self, device=Device("cuda", device) if isinstance(device, int) else device or "cuda")


@method("type")
def type_of(self: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """Return torch's old name of this tensor's type; with an argument, the tensor in that dtype."""
    if dtype is None:
        prefix = "torch.cuda." if self.device.type == "cuda" else "torch."
        return f"{prefix}{_TYPE_NAMES[self.dtype]}Tensor"
    if isinstance(dtype, str):
        word = dtype.rpartition(".")[2].removesuffix("Tensor")
        dtype = next((d for d, name in _TYPE_NAMES.items() if name == word), None)
        if dtype is None:
            raise ValueError(f"invalid type: {word!r}")
    return to(self, getattr(dtype, "dtype_of_type", dtype))


_TYPE_NAMES = {
    dtypes.float32: "Float", dtypes.float64: "Double", dtypes.float16: "Half", dtypes.bfloat16: "BFloat16",
    dtypes.int64: "Long", dtypes.int32: "Int", dtypes.int16: "Short", dtypes.int8: "Char", dtypes.uint8: "Byte",
    dtypes.bool_: "Bool", dtypes.complex64: "ComplexFloat", dtypes.complex128: "ComplexDouble",
}  # fmt: skip


@method()
def type_as(self: Tensor, other: Tensor) -> Tensor:
    """Return the tensor in the dtype and on the device of `other`."""
    return to(self, other)


@method()
def clone(self: Tensor, *, memory_format: Any = None) -> Tensor:
    """Return the same numbers as a tensor of its own, through which gradients flow."""
    return call(TABLE["clone"], (self,))


@method()
def contiguous(self: Tensor, memory_format: Any = None) -> Tensor:
    """Return the tensor itself: how XLA lays out an array is not ours to say."""
    return self


@method()
def copy_(self: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    """Write `src`, broadcast and cast, into this tensor."""
    self._check_writable()
    source = src if isinstance(src, Tensor) else from_data(src, None, None, False)
    if source.device != self.device:
        source = moved(source, self.device)
    inputs = (self._current(), source._current())
    return self._write(apply(TABLE["copy_over"], inputs)[0])


@method()
def set_(self: Tensor, source: Any = None, *_: Any) -> Tensor:
    """Make this name share the storage of `source`."""
    self.data = Tensor(0) if source is None else source
    return self


@method()
def resize_(self: Tensor, *sizes: Any, memory_format: Any = None) -> Tensor:
    """Change the shape in place; elements in order are kept, new ones are zeros."""
    wanted = front.as_spread_dims(sizes)
    flat = np.zeros(math.prod(wanted), self.dtype.numpy)
    kept = to_host(self.detach()).reshape(-1)[: flat.size]
    flat[: kept.size] = kept
    self.data = from_data(flat.reshape(wanted), None, self.device, False)
    return self


@method()
def resize_as_(self: Tensor, other: Tensor) -> Tensor:
    """Change the shape in place to that of `other`."""
    return resize_(self, other.shape)


# New tensors like this one


def _new(factory: str) -> Any:
    def new(self: Tensor, *size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False,
            **_: Any) -> Tensor:  # fmt: skip
        """Return a new tensor with this one's dtype and device."""
        where = self.device if device is None else device
        return _FACTORIES[factory](*size, dtype=as_dtype(dtype) or self.dtype, device=where, requires_grad=requires_grad)

    return new


_FACTORIES: dict[str, Any] = {}


@method()
def new_tensor(self: Tensor, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Return a new tensor of data with this one's dtype and device."""
    return from_data(data, as_dtype(dtype) or self.dtype, self.device if device is None else device, requires_grad)


@method()
def new(self: Tensor, *data: Any) -> Tensor:
    """Return a new tensor of this dtype, by sizes or from data (old spelling)."""
    if data and isinstance(data[0], (list, tuple, np.ndarray, Tensor)) and not hasattr(data[0], "numel"):
        return new_tensor(self, data[0])
    return _FACTORIES["zeros"](*data, dtype=self.dtype, device=self.device)


# History


METHODS["backward"] = backward


@method()
def register_hook_on_grad(self: Tensor, hook: Any) -> Any:
    """Old spelling of register_hook."""
    return self.register_hook(hook)


def install(factories: dict[str, Any]) -> None:
    """Put the methods on Tensor. Operators are made now, since Python looks them up on the class; others at first use."""
    _FACTORIES.update(factories)
    for name in ("zeros", "ones", "empty", "full"):
        METHODS[f"new_{name}"] = _new(name)
    for name, function in METHODS.items():
        setattr(Tensor, name, function)
    for place in front.places():
        if place.startswith(".__"):
            setattr(Tensor, place[1:], front.made(place))
    _Methods.find = staticmethod(find)  # type: ignore[assignment]  # a function, called as one


def method_names() -> list[str]:
    """Return the names of all methods of Tensor."""
    return sorted({*METHODS, *(p[1:] for p in front.places() if p.startswith("."))})
