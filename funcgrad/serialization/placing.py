"""Where a tensor's elements lie in the storage that it reads: offset and strides, as torch writes them."""

from __future__ import annotations

from funcgrad._ops.strides import dense_strides
from funcgrad._tensor.aliases import Cell, View
from funcgrad._tensor.strides import in_storage_order, offset_of, strides_of
from funcgrad._tensor.tensor import Tensor
from funcgrad.serialization.storages import Geometry

_BY_STRIDES = {  # the views that strides can tell
    "alias", "whole", "view", "reshape", "reshape_alias", "ravel", "flatten", "unflatten", "squeeze", "unsqueeze",
    "transpose", "swapaxes", "swapdims", "t", "T", "mT", "permute", "movedim", "expand", "broadcast_to", "select",
    "slice", "narrow", "diagonal", "linalg_diagonal", "tensor_unfold", "as_strided",
}  # fmt: skip


def located(tensor: Tensor) -> tuple[Tensor, Geometry]:
    """Return the tensor whose storage `tensor` reads, and where; one that can not be told by strides is its own."""
    root, is_told = tensor, True
    while type(root._alias) is View:
        view = root._alias
        is_told &= view.op.name in _BY_STRIDES and all(type(x) is int for x in view.inputs)
        root = view.base
    if is_told:
        return root, Geometry(offset_of(tensor), tuple(tensor.shape), strides_of(tensor))
    return tensor, Geometry(0, tuple(tensor.shape), dense_strides(tuple(tensor.shape)))


def stored(root: Tensor) -> Tensor:
    """Return a tensor with its elements in the order of the storage that it is written as."""
    return root if type(root._alias) is View else in_storage_order(root)


def shared_by(root: Tensor) -> object:
    """Return the object that all names of one storage have in common."""
    return root._alias if type(root._alias) is Cell else root
