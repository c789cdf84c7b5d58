"""Tensors in another dtype, on another device, as a copy; and writing the numbers of one tensor into another."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from funcgrad._base import dtypes
from funcgrad._base.cpp_names import TYPE_NAMES
from funcgrad._base.devices import device as Device
from funcgrad._base.dtypes import dtype as DType
from funcgrad._base.layouts import contiguous_format, preserve_format, require_format
from funcgrad._base.layouts import memory_format as MemoryFormat
from funcgrad._ops.table import TABLE
from funcgrad._ops.views import inferred_size
from funcgrad._tape.apply import apply
from funcgrad._tensor import strides
from funcgrad._tensor.aliases import View, former_of, refuse_repeated, rename
from funcgrad._tensor.arguments import as_dtype, as_int, as_spread_dims, by_name, require_tensor
from funcgrad._tensor.call import call, first_elements
from funcgrad._tensor.creation import meaningless
from funcgrad._tensor.data import from_data
from funcgrad._tensor.interop import to_host
from funcgrad._tensor.moving import moved
from funcgrad._tensor.near import call_near
from funcgrad._tensor.placement import is_on
from funcgrad._tensor.registry import FUNCTIONS, METHODS, both, function, method
from funcgrad._tensor.tensor import Tensor
from funcgrad._tensor.warned import warn_of_discarded


@method()
def to(self: Tensor, *args: Any, dtype: Any = None, device: Any = None, non_blocking: bool = False,
       copy: bool = False, memory_format: Any = None, other: Any = None) -> Tensor:  # fmt: skip
    """Return the tensor in another dtype, on another device, or both; the tensor itself where nothing differs.

    to(dtype), to(device), to(device, dtype), to(other): each also with non_blocking and copy.
    """
    for place, given in enumerate(args if other is None else (other, *args)):
        if isinstance(given, Tensor):
            dtype, device = given.dtype, given.device
        elif isinstance(given, DType) or (isinstance(given, type) and given in (float, int, complex, bool)):
            dtype = given
        elif place == 0 and isinstance(given, (bool, float, complex)):
            dtype = type(given)  # as torch, which takes a number for its type
        elif isinstance(given, bool):
            copy = given and len(args) > 2 and given is args[-1]
        elif isinstance(given, (str, Device, int)):
            device = given
        elif given is not None and not isinstance(given, MemoryFormat):
            raise TypeError(f"to() takes a dtype, a device or a tensor, not {type(given).__name__}")
    wanted, result = as_dtype(dtype), self
    if memory_format is not None:
        require_format(memory_format, "to", self.ndim)
        copy = copy or not (memory_format is preserve_format or strides.suggested_format(self) is memory_format)
    if device is not None and not is_on(self.device, Device(device)):
        result = moved(self, Device(device))
    if wanted is not None and wanted is not self.dtype:
        if self.dtype.is_complex:
            warn_of_discarded(self.dtype, wanted)
        result = call_near(TABLE["to_dtype"], (result,), (wanted,))
    elif copy and result is self:
        result = call(TABLE["clone"], (self,))
    return result if memory_format is None or result is self else strides.in_format(result, memory_format, self)


def _converter(name: str, dtype: DType) -> Any:
    def convert(self: Tensor, memory_format: Any = None) -> Tensor:
        """Return the tensor in this dtype."""
        return to(self, dtype, memory_format=memory_format)

    convert.__name__ = name
    return convert


for _name, _dtype in {**dtypes.ALIASES, "bfloat16": dtypes.bfloat16, "char": dtypes.int8, "byte": dtypes.uint8}.items():
    method(_name)(_converter(_name, _dtype))


@method()
def cpu(self: Tensor, memory_format: Any = None) -> Tensor:
    """Return the tensor on the CPU."""
    return to(self, device="cpu", memory_format=memory_format)


@method()
def cuda(self: Tensor, device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> Tensor:
    """Return the tensor on the GPU."""
    target = Device("cuda", device) if isinstance(device, int) else device or "cuda"
    return to(self, device=target, memory_format=memory_format)


@method("type")
def type_of(self: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """Return torch's old name of this tensor's type; with an argument, the tensor in that dtype."""
    if dtype is None:
        prefix = "torch.cuda." if self.device.type == "cuda" else "torch."
        return f"{prefix}{TYPE_NAMES[self.dtype]}Tensor"
    wanted, is_cuda = _dtype_of_type(dtype)
    return to(self, wanted, device="cuda" if is_cuda else None)


def _dtype_of_type(given: Any) -> tuple[DType, bool | None]:
    """Return the dtype that `type()` was asked for, and whether on the GPU; None where only the dtype was named."""
    if isinstance(given, DType):
        return given, None
    if given is Tensor or given == "torch.Tensor":
        return dtypes.get_default_dtype(), None
    if isinstance(given, str):
        word = given.removeprefix("torch.").removeprefix("cuda.").removesuffix("Tensor")
        found = next((d for d, name in TYPE_NAMES.items() if name == word), None)
        if found is not None and given.startswith("torch.") and given.endswith("Tensor"):
            return found, ".cuda." in given
    elif not isinstance(given, type):
        raise TypeError("dtype must be a type, str, or dtype object")
    elif isinstance(dtype := getattr(given, "dtype", None), DType):
        return dtype, getattr(given, "is_cuda", False)
    raise ValueError(f"invalid type: {given if isinstance(given, str) else given.__name__!r}")


@method()
def type_as(self: Tensor, other: Tensor) -> Tensor:
    """Return the tensor in the dtype and on the device of `other`."""
    require_tensor(other, "type_as(): argument 'other' (position 1)")
    return to(self, other)


@both()
def clone(input: Tensor, *, memory_format: Any = None) -> Tensor:
    """Return the same numbers as a tensor of its own, through which gradients flow."""
    copy = call(TABLE["clone"], (input,))
    if memory_format is None:
        return copy
    require_format(memory_format, "clone", input.ndim)
    return strides.in_format(copy, memory_format, input)


@method()
def contiguous(self: Tensor, memory_format: Any = None) -> Tensor:
    """Return the tensor itself, or a copy where the elements lie in storage in another order."""
    wanted = contiguous_format if memory_format is None else memory_format
    require_format(wanted, "contiguous", self.ndim)
    if wanted is preserve_format:
        raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    return self if strides.has_format(self, wanted) else clone(self, memory_format=wanted)


# The same elements in another shape: a view where torch's strides allow one, else a copy


@both()
def reshape(input: Tensor, *shape: Any, **named: Any) -> Tensor:
    """Return the same elements in another shape, where one -1 is inferred. RuntimeError where the count differs."""
    sizes = _sizes(shape, named)
    if _may_be_moved_in_graph(input):
        whole = inferred_size(input.shape.numel(), sizes)
        if not strides.is_viewable(input, whole):
            return call(TABLE["reshaped_copy"], (input,), (whole,))
        if not strides.is_contiguous(input):
            return call(TABLE["reshape_alias"], (input,), (whole,))
    return _own_if_copied(input, call_near(TABLE["reshape"], (input,), (sizes,)))


def _may_be_moved_in_graph(input: Any) -> bool:
    """Tell whether a copy of a tensor would show in the graph, and might be needed to give it another shape."""
    return isinstance(input, Tensor) and not strides.is_laid_out_plainly(input) and input.requires_grad


def _sizes(given: tuple[Any, ...], named: dict[str, Any]) -> tuple[int, ...]:
    return as_spread_dims(by_name(given, named, "shape"), "reshape(): argument 'shape' (position 1)")


@both()
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Join the dimensions from `start_dim` to `end_dim` to one. Shape: a 0-d tensor gives (1,).

    One dimension stays as it is: that is the tensor itself.
    """
    dims = (
        as_int(start_dim, "flatten(): argument 'start_dim' (position 1)"),
        as_int(end_dim, "flatten(): argument 'end_dim' (position 2)"),
    )
    wrapped = [dim % input.ndim for dim in dims if dim is not None and -input.ndim <= dim < input.ndim]
    if len(wrapped) == 2 and wrapped[0] == wrapped[1]:
        return input
    if (
        len(wrapped) == 2
        and wrapped[0] < wrapped[1]
        and _may_be_moved_in_graph(input)
        and not strides.is_contiguous(input)
    ):
        joined = math.prod(input.shape[wrapped[0] : wrapped[1] + 1])
        return reshape(input, (*input.shape[: wrapped[0]], joined, *input.shape[wrapped[1] + 1 :]))
    return _own_if_copied(input, call(TABLE["flatten"], (input,), dims))


@both()
def ravel(input: Tensor) -> Tensor:
    """Return all elements in one dimension."""
    return call(TABLE["ravel"], (input.contiguous(),))


@method()
def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """Return the same elements in the shape of `other`."""
    require_tensor(other, "reshape_as(): argument 'other' (position 1)")
    return reshape(self, tuple(other.shape))


@method()
def view_as(self: Tensor, other: Tensor) -> Tensor:
    """Return a view in the shape of `other`. RuntimeError where none shows the elements so."""
    require_tensor(other, "view_as(): argument 'other' (position 1)")
    result = call_near(TABLE["view"], (self,), (tuple(other.shape),))
    strides.refuse_unviewable(self, tuple(other.shape))
    return result


@method()
def expand_as(self: Tensor, other: Tensor) -> Tensor:
    """Return a view repeated to the shape of `other`."""
    require_tensor(other, "expand_as(): argument 'other' (position 1)")
    return call(TABLE["expand"], (self,), (tuple(other.shape),))


def _own_if_copied(input: Any, result: Any) -> Any:
    if type(getattr(result, "_alias", None)) is View and not strides.is_viewable(input, result.shape):
        result._alias = None
    return result


# Writing into a tensor


@method()
def copy_(self: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    """Write `src`, broadcast and cast, into this tensor."""
    if not isinstance(src, (int, float, complex, np.generic)):
        require_tensor(src, "copy_(): argument 'other' (position 1)")
    self._check_writable()
    refuse_repeated(self)
    source = src if isinstance(src, Tensor) else from_data(src, None, None, False)
    if source.device != self.device:
        source = moved(source, self.device)
    warn_of_discarded(source.dtype, self.dtype)
    inputs = (self._current(), source._current())
    return self._write(apply(TABLE["copy_over"], inputs)[0])


@method()
def resize_(self: Tensor, *sizes: Any, memory_format: Any = None) -> Tensor:
    """Change the shape in place; elements stay as they lie in memory, new ones are empty.

    RuntimeError: it requires grad.
    """
    if self.requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    wanted = as_spread_dims(sizes, "resize_(): argument 'size' (position 1)")
    if tuple(wanted) == self.shape:
        return self
    count, offset = math.prod(wanted), self.storage_offset()
    length = min(count, self.untyped_storage().nbytes() // self.itemsize - offset)
    if length == count:
        former = former_of(self)
        if count <= former.shape.numel() and strides.is_contiguous(former):
            shown = first_elements(former, tuple(wanted))
        else:
            shown = former.as_strided(tuple(wanted), strides.dense_strides(tuple(wanted)), offset)
        rename(self, former, shown)
        return self
    flat = np.full(count, meaningless(self.dtype), self.dtype.numpy)
    flat[:length] = to_host(self.as_strided((length,), (1,), offset))
    self.data = from_data(flat.reshape(wanted), None, self.device, False)
    return self


@both()
def resize_as_(input: Tensor, the_template: Tensor, *, memory_format: Any = None) -> Tensor:
    """Change the shape in place to that of another tensor."""
    return resize_(input, the_template.shape)


@method()
def as_subclass(self: Tensor, cls: Any) -> Any:
    """Return a view of the whole tensor that is of another class of Tensor."""
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise RuntimeError("cls must be a type that inherits from Tensor")
    return call(TABLE["alias"], (self,))._of_class(cls)


def _make_subclass(kind: Any, data: Tensor, require_grad: bool = False) -> Any:
    """Return a leaf of a class of Tensor that shares the storage of `data`, without its history."""
    made = data.detach()._of_class(kind)
    return made.requires_grad_() if require_grad else made


METHODS["_make_subclass"] = staticmethod(_make_subclass)


@method()
def module_load(self: Tensor, other: Tensor, assign: bool = False) -> Tensor:
    """Return what a module's state becomes when `other` is loaded: `other`, or this tensor with its numbers."""
    return other.detach() if assign else copy_(self.detach(), other)


@function()
def detach(input: Tensor) -> Tensor:
    """Return the same numbers without their history; what is written to one is seen by the other."""
    return input.detach()


FUNCTIONS["detach_"] = Tensor.detach_
