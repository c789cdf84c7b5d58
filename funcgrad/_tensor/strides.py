"""The strides that torch's tensor would have: they say what is contiguous, where `reshape` copies and `view` fails.

XLA lays out arrays as it likes. What a row gave has the order that `_ops.memory_order` knows of it; a view steps
through what it is a view of.
"""

from __future__ import annotations

from typing import Any

from funcgrad._base.bounded import Bounded
from funcgrad._base.cpp_names import scalar_type_name
from funcgrad._base.dtypes import dtype as DType
from funcgrad._base.layouts import ORDERS, channels_last, channels_last_3d, contiguous_format, preserve_format
from funcgrad._ops.strides import agree, dense_strides, is_channels_last, order_of, viewed
from funcgrad._ops.table import TABLE
from funcgrad._program.value import LiftedValue
from funcgrad._tensor.aliases import Strides, View, in_order, offset_of, strides_of
from funcgrad._tensor.call import call
from funcgrad._tensor.tensor import Tensor


def is_contiguous(tensor: Tensor) -> bool:
    """Tell whether the elements lie in storage in their order."""
    if is_laid_out_plainly(tensor):
        return True
    return _VIEWABLE.found(_path(tensor, None), lambda: has_strides(tensor, dense_strides(tuple(tensor.shape))))


def is_laid_out_plainly(tensor: Tensor) -> bool:
    """Tell, without any look at strides, that the elements lie in storage in their order: it is no view."""
    return type(tensor._alias) is not View and tensor._variable.value.aval.order is None


def _path(tensor: Tensor, *asked: Any) -> tuple[Any, ...]:
    """Return what the strides of a tensor follow from, and what is asked about them."""
    path, base = [*asked], tensor
    while type(base._alias) is View:
        path += (base._alias.op, base._alias.statics)
        base = base._alias.base
    path.append(base._variable.value.aval)
    return tuple(path)


def has_format(tensor: Tensor, memory_format: Any) -> bool:
    """Tell whether the elements lie in storage as a memory format says; False where it is one of another rank."""
    order = ORDERS.get(memory_format)
    if order is None:
        return is_contiguous(tensor)
    return len(order) == tensor.ndim and has_strides(tensor, dense_strides(tuple(tensor.shape), order))


def suggested_format(tensor: Tensor) -> Any:
    """Return the memory format that torch takes a tensor to be in: channels_last, channels_last_3d or contiguous."""
    if is_channels_last(tuple(tensor.shape), strides_of(tensor)):
        return channels_last if tensor.ndim == 4 else channels_last_3d
    return contiguous_format


def refuse_unviewable(tensor: Tensor, shape: Strides) -> None:
    """RuntimeError where the elements lie in storage so that no view shows them in this shape, only a copy."""
    if not is_viewable(tensor, shape) and not isinstance(tensor._variable.value, LiftedValue):
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead."
        )


def refuse_unaligned(tensor: Tensor, dtype: DType) -> None:
    """RuntimeError where the elements lie in storage so that their bits cannot be read as wider or narrower numbers."""
    had, wants = tensor.dtype.itemsize, dtype.itemsize
    if had == wants or not tensor.ndim or is_laid_out_plainly(tensor):  # the row refuses what is left
        return
    told = f"to view {scalar_type_name(tensor.dtype)} as {scalar_type_name(dtype)} (different element sizes), but got"
    *outer, last = strides_of(tensor)
    if last != 1:
        raise RuntimeError(f"self.stride(-1) must be 1 {told} {last}")
    ratio, size = wants // had, tensor.shape[-1]
    if ratio <= 1 or size % ratio:
        return
    steps = [("storage_offset()", offset_of(tensor)), *((f"stride({i})", step) for i, step in enumerate(outer))]
    for name, step in steps:
        if step % ratio:
            raise RuntimeError(f"self.{name} must be divisible by {ratio} {told} {step}")


def refuse_unpaired(tensor: Tensor) -> None:
    """RuntimeError where real and imaginary parts do not lie side by side, each pair at an even place."""
    if isinstance(tensor._variable.value, LiftedValue):
        return
    *outer, last = strides_of(tensor)
    if last != 1:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    if any(step % 2 and size != 1 for step, size in zip(outer, tensor.shape, strict=False)):
        raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
    if offset_of(tensor) % 2:
        raise RuntimeError("Tensor must have a storage_offset divisible by 2")


_VIEWABLE: Bounded[bool] = Bounded(4096)  # by the path from what is no view, and a shape (None: is it contiguous?)


def is_viewable(tensor: Tensor, shape: Strides) -> bool:
    """Tell whether a view shows the elements in this shape."""
    if is_laid_out_plainly(tensor):
        return True
    return _VIEWABLE.found(
        _path(tensor, shape), lambda: viewed(tuple(tensor.shape), strides_of(tensor), tuple(shape)) is not None
    )


def in_storage_order(tensor: Tensor) -> Tensor:
    """Return the tensor, which is no view, with its dimensions in the order of its storage."""
    order = tensor._variable.value.aval.order
    return tensor if order is None else call(TABLE["permute"], (tensor,), (order,))


def has_strides(tensor: Tensor, wanted: Strides) -> bool:
    """Tell whether a tensor steps through its storage so."""
    return agree(tuple(tensor.shape), strides_of(tensor), wanted)


def in_format(tensor: Tensor, memory_format: Any, like: Tensor | None = None) -> Tensor:
    """Lay a tensor that is nobody else's in a memory format; returns it. preserve_format: in the order of `like`."""
    if memory_format is preserve_format:
        order = storage_order(tensor if like is None else like)
    else:
        order = ORDERS.get(memory_format)
    tensor._variable = in_order(tensor._variable, order)
    return tensor


def storage_order(tensor: Tensor) -> tuple[int, ...] | None:
    """Return the dimensions, those with the longest steps in storage first; None where that is their order already."""
    if type(tensor._alias) is not View:
        return tensor._variable.value.aval.order
    return order_of(tuple(tensor.shape), strides_of(tensor))
