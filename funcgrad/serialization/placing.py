"""Where a view's elements lie in the tensor that it is a view of: offset and strides, as torch writes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad._tensor.aliases import Cell, View
from funcgrad._tensor.tensor import Tensor
from funcgrad.serialization.storages import Geometry, contiguous_stride

Dummy = np.ndarray[Any, Any]  # stands for a tensor: right shape and strides, one byte an element, never read


def located(tensor: Tensor) -> tuple[Tensor, Geometry]:
    """Return the tensor whose storage `tensor` reads, and where; one that can not be told by strides is its own."""
    found = _dummy(tensor)
    if found is None:
        return tensor, Geometry(0, tuple(tensor.shape), contiguous_stride(tensor.shape))
    root, start, view = found
    return root, Geometry(view.__array_interface__["data"][0] - start, view.shape, _torch_strides(view))


def shared_by(root: Tensor) -> object:
    """Return the object that all names of one storage have in common."""
    return root._alias if type(root._alias) is Cell else root


def _torch_strides(view: Dummy) -> tuple[int, ...]:
    return contiguous_stride(view.shape) if view.flags.c_contiguous else view.strides


def _dummy(tensor: Tensor) -> tuple[Tensor, int, Dummy] | None:
    """Return the root, its dummy's address, and this tensor's part of that dummy."""
    alias = tensor._alias
    if type(alias) is not View:
        stride = contiguous_stride(tensor.shape)
        whole = np.lib.stride_tricks.as_strided(np.zeros(1, np.int8), tuple(tensor.shape), stride)
        return tensor, whole.__array_interface__["data"][0], whole
    below, twin = _dummy(alias.base), _TWINS.get(alias.op.name)
    if below is None or twin is None or not all(type(x) is int for x in alias.inputs):
        return None
    root, start, base = below
    try:
        view = twin(base, tuple(tensor.shape), *alias.inputs, *alias.statics)
    except (ValueError, TypeError):  # no strides can tell it
        return None
    return root, start, view


def _reshape(base: Dummy, shape: tuple[int, ...], *_: Any) -> Dummy:
    return np.reshape(base, shape, copy=False)


def _swap(base: Dummy, shape: tuple[int, ...], dim0: int, dim1: int) -> Dummy:
    return np.swapaxes(base, dim0, dim1) if base.ndim else base


def _select(base: Dummy, shape: tuple[int, ...], index: int, dim: int) -> Dummy:
    return base[(slice(None),) * (dim % base.ndim) + (index,) + (...,)]


def _slice(base: Dummy, shape: tuple[int, ...], start: int, dim: int, length: int, step: int = 1, *_: str) -> Dummy:
    dim %= base.ndim
    start = start + base.shape[dim] if start < 0 else start
    return base[(slice(None),) * dim + (slice(start, start + length * step, step),)]


def _diagonal(base: Dummy, shape: tuple[int, ...], offset: int = 0, dim1: int = 0, dim2: int = 1) -> Dummy:
    return np.diagonal(base, offset, dim1, dim2)


def _as_strided(base: Dummy, shape: tuple[int, ...], size: Any, stride: Any, offset: int | None = None) -> Dummy:
    flat = np.reshape(base, -1, copy=False)
    return np.lib.stride_tricks.as_strided(flat[offset or 0 :], size, stride)


_TWINS: dict[str, Callable[..., Dummy]] = {
    **dict.fromkeys(("alias", "whole", "view", "reshape", "view_as", "reshape_as", "ravel", "flatten"), _reshape),
    **dict.fromkeys(("unflatten", "squeeze", "unsqueeze"), _reshape),
    **dict.fromkeys(("transpose", "swapaxes", "swapdims"), _swap),
    **dict.fromkeys(("t", "T"), lambda base, shape: base.T),
    "mT": lambda base, shape: np.swapaxes(base, -1, -2),
    "permute": lambda base, shape, dims: np.transpose(base, dims),
    "movedim": lambda base, shape, source, destination: np.moveaxis(base, source, destination),
    **dict.fromkeys(("expand", "broadcast_to"), lambda base, shape, *_: np.broadcast_to(base, shape)),
    "select": _select,
    **dict.fromkeys(("slice", "narrow"), _slice),
    "diagonal": _diagonal,
    "as_strided": _as_strided,
}
