"""Copies of what views show where torch returns several, or counts places from the end: split_copy, slice_copy, ..."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad._tensor import pieces
from funcgrad._tensor.call import write_out
from funcgrad._tensor.facts import in_range
from funcgrad._tensor.indexing import part_of, slice_of
from funcgrad._tensor.registry import both, function
from funcgrad._tensor.tensor import Tensor


def _copied(views: Sequence[Tensor], out: Any) -> Any:
    """Return clones of the views, or the tensors of `out`, to which they are written."""
    copies = tuple(view.clone() for view in views)
    if out is None:
        return copies
    return write_out(tuple(out), copies)


@function()
def split_copy(input: Tensor, split_size: Any, dim: int = 0, *, out: Any = None) -> Any:
    """Return the pieces of one dimension that `split` shows, as tensors of their own."""
    return _copied(pieces.split(input, split_size, dim), out)


@function()
def split_with_sizes_copy(input: Tensor, split_sizes: Any, dim: int = 0, *, out: Any = None) -> Any:
    """Return the pieces of one dimension, of the sizes given, as tensors of their own."""
    return _copied(pieces.split_with_sizes(input, split_sizes, dim), out)


@function()
def unbind_copy(input: Tensor, dim: int = 0, *, out: Any = None) -> Any:
    """Return what one dimension is made of, as tensors of their own."""
    return _copied(pieces.unbind(input, dim), out)


@function()
def slice_copy(
    input: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1, *, out: Any = None
) -> Tensor:
    """Return input[..., start:end:step, ...] along one dimension, as a tensor of its own."""
    copied = part_of(input, in_range(input, dim), slice(start, end, step)).clone()
    return copied if out is None else write_out(out, copied)


@function("ops.aten.slice")
def sliced(input: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Tensor:
    """Return the view input[..., start:end:step, ...] of one dimension."""
    return slice_of(input, in_range(input, dim), slice(start, end, step))


@both()
def slice_inverse(
    input: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """Return `src` once it is known that slicing it as said gives the shape of `input`."""
    sliced = part_of(src, dim, slice(start, end, step))
    if sliced.shape != input.shape:
        raise RuntimeError(f"shape {list(input.shape)} is not that of the slice, {list(sliced.shape)}")
    return src
