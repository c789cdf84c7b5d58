"""What a tensor can be asked about itself: sizes, strides, and torch's many yes-or-no questions."""

from __future__ import annotations

import itertools
from typing import Any
from weakref import WeakValueDictionary

from funcgrad._base.dtypes import dtype as DType
from funcgrad._base.layouts import contiguous_format, preserve_format, strided
from funcgrad._base.layouts import memory_format as MemoryFormat
from funcgrad._program.record import array_of
from funcgrad._tensor import strides
from funcgrad._tensor.aliases import Cell, cell_of, version_of
from funcgrad._tensor.arguments import as_int, as_some_int, is_conjugate, is_negative
from funcgrad._tensor.registry import METHODS, both, function, method
from funcgrad._tensor.tensor import Tensor


def _version(self: Tensor) -> int:
    """How often the storage was written to, but through `.data`, which counts alone.

    RuntimeError for what was made in inference mode.
    """
    if self.is_inference():
        raise RuntimeError("Inference tensors do not track version counter.")
    return version_of(self)


METHODS["_version"] = property(_version)


def _set_grad_dtype(self: Tensor, dtype: Any) -> None:
    if not self.is_leaf:
        raise RuntimeError("grad_dtype can only be set on leaf tensors.")
    if dtype not in (None, self.dtype):
        raise RuntimeError(f"a gradient has the dtype of its tensor, {self.dtype}: grad_dtype cannot be {dtype}")


def _grad_dtype(self: Tensor) -> DType:
    if not self.is_leaf:
        raise RuntimeError("grad_dtype can only be accessed on leaf tensors.")
    return self.dtype


METHODS["grad_dtype"] = property(_grad_dtype, _set_grad_dtype, doc="The dtype that its gradient has.")


def _backward_hooks(self: Tensor) -> dict[int, Any] | None:
    variable = self._current()
    pre_hooks = None if variable.node is None else variable.node.pre_hooks
    return next((hooks for index, hooks in pre_hooks or () if index == variable.index), None)


METHODS["_backward_hooks"] = property(_backward_hooks, doc="The hooks of `register_hook` by number, or None.")


@method()
def size(self: Tensor, dim: int | None = None) -> Any:
    """Return the shape, or the size of one dimension."""
    return self.shape if dim is None else self.shape[_own_dim(self, dim, "size(): argument 'dim' (position 1)")]


def _own_dim(self: Tensor, dim: Any, label: str = "argument 'dim'") -> int:
    """Return `dim` counted from the front. IndexError where there is no such dimension; a number has none."""
    if not self.ndim:
        raise IndexError(f"Dimension specified as {as_int(dim, label)} but tensor has no dimensions")
    return in_range(self, dim, label)


def in_range(self: Tensor, dim: Any, label: str = "argument 'dim'") -> int:
    """Return `dim` counted from the front. Raises IndexError where the tensor has no such dimension."""
    bound = max(self.ndim, 1)
    number = as_some_int(dim, label)
    if not -bound <= number < bound:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-bound}, {bound - 1}], but got {number})"
        )
    return number % bound


def _always(answer: Any) -> Any:
    return lambda self: answer


@method()
def share_memory_(self: Tensor, device: Any = None) -> Tensor:
    """Mark the storage as shared: threads see writes as ever. A process that is given the tensor gets a copy."""
    cell_of(self._whole).is_shared = True
    return self


@method()
def is_shared(self: Tensor) -> bool:
    """Tell whether `share_memory_` was called on a tensor of this storage."""
    alias = self._whole._alias
    return type(alias) is Cell and alias.is_shared


METHODS["dim"] = METHODS["ndimension"] = lambda self: len(self.shape)
METHODS["numel"] = METHODS["nelement"] = lambda self: self.shape.numel()
METHODS["element_size"] = lambda self: self.dtype.itemsize
METHODS["is_pinned"] = lambda self, device=None: False
METHODS["pin_memory"] = lambda self, device=None: self
METHODS["dequantize"] = lambda self: self
METHODS["record_stream"] = lambda self, s=None: None
METHODS["volatile"] = property(_always(False))
METHODS["nbytes"] = property(lambda self: self.shape.numel() * self.dtype.itemsize)
METHODS["itemsize"] = property(lambda self: self.dtype.itemsize)
METHODS["name"] = property(_always(None))
METHODS["layout"] = property(_always(strided))
METHODS["is_cpu"] = property(lambda self: self.device.type == "cpu")
METHODS["is_cuda"] = property(lambda self: self.device.type == "cuda")
METHODS["is_meta"] = property(lambda self: self.device.type == "meta")
METHODS["is_xla"] = property(lambda self: self.device.type in ("xla", "tpu"))
METHODS["_is_view"] = lambda self: self._base is not None
for _word in ("ipu", "maia", "mkldnn", "mps", "mtia", "nested", "quantized", "sparse", "sparse_csr", "vulkan", "xpu"):
    METHODS[f"is_{_word}"] = property(_always(False))


@both()
def is_floating_point(input: Tensor) -> bool:
    """Tell whether the dtype is a floating-point one."""
    return input.dtype.is_floating_point


@both()
def is_complex(input: Tensor) -> bool:
    """Tell whether the dtype is a complex one."""
    return input.dtype.is_complex


@both()
def is_signed(input: Tensor) -> bool:
    """Tell whether the dtype holds negative numbers."""
    return input.dtype.is_signed


@both()
def is_inference(input: Tensor) -> bool:
    """Tell whether what it names was made in inference mode."""
    base = input._base
    return input._made_in_inference if base is None else base._made_in_inference


both("is_conj")(is_conjugate)
both("is_neg")(is_negative)


@both()
def is_distributed(input: Tensor) -> bool:
    """Tell that no tensor is spread over processes by torch's older means."""
    return False


@both()
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Tell whether both have the same shape."""
    return input.shape == other.shape


@both()
def get_device(input: Tensor) -> int:
    """Return the number of the GPU that holds the tensor, -1 for the CPU."""
    return -1 if input.device.type == "cpu" else input.device.index or 0


@function()
def numel(input: Tensor) -> int:
    """Return how many elements the tensor has."""
    return input.shape.numel()


@method()
def stride(self: Tensor, dim: int | None = None) -> Any:
    """Return the strides in elements that torch's tensor would have."""
    found = strides.strides_of(self)
    return found if dim is None else found[_own_dim(self, dim)]


@method()
def is_contiguous(self: Tensor, memory_format: Any = contiguous_format) -> bool:
    """Tell whether the elements of torch's tensor would lie in its storage as a memory format says."""
    if not isinstance(memory_format, MemoryFormat):
        kind = type(memory_format).__name__
        raise TypeError(f"is_contiguous(): argument 'memory_format' must be torch.memory_format, not {kind}")
    if memory_format is preserve_format:
        raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    return strides.has_format(self, memory_format)


@method("to_dense", "to_mkldnn")
def to_dense(self: Tensor, dtype: Any = None, *, masked_grad: bool | None = None) -> Tensor:
    """Return the tensor, which is dense, cast to `dtype` if one is given."""
    return self if dtype is None else self.to(dtype)


@method()
def dim_order(self: Tensor, *, ambiguity_check: Any = False) -> tuple[int, ...]:
    """Return the dimensions from the largest stride to the smallest."""
    found = strides.strides_of(self)
    return tuple(sorted(range(len(found)), key=lambda d: -found[d]))


@method()
def storage_offset(self: Tensor) -> int:
    """Return where in its storage a view begins."""
    return strides.offset_of(self)


@method("data_ptr", "const_data_ptr")
def data_ptr(self: Tensor) -> int:
    """Return a number that tells storages, and places in them, apart: 0 where there is no element.

    It is where the array lay when a storage was first asked, and stays so when it is written to; of storages that hold
    the same array, as copies do until one is written to, all but the first get a number that is no address.
    """
    if not self.shape.numel() or self.device.type == "meta":
        return 0
    base = self._whole
    if base is not self:
        return data_ptr(base) + storage_offset(self) * self.dtype.itemsize
    cell = cell_of(self)
    if cell.address is None:
        array = array_of(self._current().value)
        address = array.unsafe_buffer_pointer()
        cell.address = next(_BEYOND) if address in _ASKED else address
        _ASKED[cell.address] = cell
    return cell.address


_ASKED: WeakValueDictionary[int, Cell] = WeakValueDictionary()  # by the address that was told of each
_BEYOND = itertools.count(1 << 56, 1 << 40)  # no machine has such addresses, and no array is as large as the steps


@method()
def is_set_to(self: Tensor, tensor: Tensor) -> bool:
    """Tell whether both show the same storage in the same way."""
    return data_ptr(self) == data_ptr(tensor) and self.shape == tensor.shape and stride(self) == stride(tensor)
