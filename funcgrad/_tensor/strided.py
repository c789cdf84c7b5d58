"""as_strided: it reads the storage behind a view, not the view's own elements."""

from __future__ import annotations

from typing import Any

from funcgrad._ops.table import TABLE, write_back_of
from funcgrad._tape.apply import apply
from funcgrad._tape.modes import thread
from funcgrad._tape.variable import Variable
from funcgrad._tensor.aliases import View
from funcgrad._tensor.arguments import as_dims
from funcgrad._tensor.call import call, call_in_place
from funcgrad._tensor.registry import both
from funcgrad._tensor.strides import in_storage_order, offset_of, strides_of
from funcgrad._tensor.tensor import Tensor

_ROW = TABLE["as_strided"]


@both()
def as_strided(input: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Any:
    """Return a view of the storage: [i, j, ...] is at storage_offset + i * stride[0] + j * stride[1] + ...

    storage_offset: by default where the input begins. RuntimeError: an element lies outside of the storage.
    """
    size, stride = as_dims(size), as_dims(stride)
    whole = input._whole if isinstance(input, Tensor) else input
    if whole is input:
        return call(_ROW, (_stored(input),), (size, stride, storage_offset))
    whole = in_storage_order(whole)
    if whole.dtype is not input.dtype:
        whole = call(TABLE["view_dtype"], (call(TABLE["view"], (whole,), ((-1,),)),), (input.dtype,))
    statics = (size, stride, offset_of(input) if storage_offset is None else int(storage_offset))
    if not (input.requires_grad and thread.grad):
        return call(_ROW, (whole,), statics)
    place = (tuple(input.shape), strides_of(input), offset_of(input))
    (stored,) = apply(write_back_of(_ROW), (Variable(whole._current().value), input._current()), place)
    (read,) = apply(_ROW, (stored,), statics)
    view = Tensor._of(read)
    view._alias = View(whole, _ROW, (), statics, whole._variable)
    return view


def _stored(input: Any) -> Any:
    return in_storage_order(input) if isinstance(input, Tensor) else input


@both()
def as_strided_(input: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Any:
    """Make the tensor's name that of `as_strided(input, ...)`."""
    if input._whole is input:
        return call_in_place(_ROW, (input,), (as_dims(size), as_dims(stride), storage_offset))
    view = as_strided(input, size, stride, storage_offset)
    input._alias, input._variable = view._alias, view._variable
    return input
