"""Where split, chunk, tensor_split and unbind cut a dimension: pure functions of the shape, with torch's errors."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from funcgrad._ops.dims import dim_of

Pieces = list[tuple[int, int]]  # (start, length) of each piece


def split_pieces(shape: Sequence[int], split_size: int | Sequence[int], dim: int = 0) -> tuple[int, Pieces]:
    """Return the dimension, counted from the front, and its pieces of `split_size`, or of these very sizes."""
    if not shape:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    dim = dim_of(len(shape), dim)
    length = shape[dim]
    if not isinstance(split_size, int):
        return dim, _of_sizes(list(split_size), length, dim)
    if split_size < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={split_size}")
    if split_size == 0:
        if length:
            raise RuntimeError(f"split_size can only be 0 if dimension size is 0, but got dimension size of {length}")
        return dim, [(0, 0)]
    starts = range(0, max(length, 1), split_size)
    return dim, [(start, min(split_size, length - start)) for start in starts]


def _of_sizes(sizes: list[int], length: int, dim: int) -> Pieces:
    if any(size < 0 for size in sizes):
        raise RuntimeError(
            f"split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes={sizes}"
        )
    if sum(sizes) != length:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {length} (input tensor's size at dimension "
            f"{dim}), but got split_sizes={sizes}"
        )
    pieces, start = [], 0
    for size in sizes:
        pieces.append((start, size))
        start += size
    return pieces


def chunk_pieces(shape: Sequence[int], chunks: int, dim: int = 0) -> tuple[int, Pieces]:
    """Return the dimension and its pieces: at most `chunks`, all of one size but the last."""
    if not shape:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    dim = dim_of(len(shape), dim)
    size = -(-shape[dim] // chunks)
    return split_pieces(shape, size, dim) if size else (dim, [(0, 0)] * chunks)


def tensor_split_pieces(
    shape: Sequence[int], indices_or_sections: int | Sequence[int], dim: int = 0
) -> tuple[int, Pieces]:
    """Return the dimension and its pieces: so many of nearly equal size, or cut at these places."""
    if not shape:
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    dim = dim_of(len(shape), dim)
    length = shape[dim]
    if isinstance(indices_or_sections, int):
        if indices_or_sections <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {indices_or_sections}")
        size, longer = divmod(length, indices_or_sections)
        return dim, _of_sizes([size + (i < longer) for i in range(indices_or_sections)], length, dim)
    cuts = [0, *indices_or_sections, length]
    spans = [slice(a, b).indices(length) for a, b in pairwise(cuts)]
    return dim, [(start, max(stop - start, 0)) for start, stop, _ in spans]


def unbind_count(shape: Sequence[int], dim: int = 0) -> tuple[int, int]:
    """Return the dimension and how many parts `unbind` gives."""
    if not shape:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    dim = dim_of(len(shape), dim)
    return dim, shape[dim]


_LEAST_DIMS = {"hsplit": 1, "vsplit": 2, "dsplit": 3}


def named_split_pieces(name: str, shape: Sequence[int], indices_or_sections: int | Sequence[int]) -> tuple[int, Pieces]:
    """Return the dimension and pieces of `hsplit`, `vsplit` or `dsplit`; a number of sections must divide the size."""
    ndim, least = len(shape), _LEAST_DIMS[name]
    if ndim < least:
        raise RuntimeError(
            f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor with {ndim} dimensions!"
        )
    dim = {"hsplit": 0 if ndim == 1 else 1, "vsplit": 0, "dsplit": 2}[name]
    if isinstance(indices_or_sections, int) and (indices_or_sections <= 0 or shape[dim] % indices_or_sections):
        raise RuntimeError(
            f"torch.{name} attempted to split along dimension {dim}, but the size of the dimension {shape[dim]} is not "
            f"divisible by the split_size {indices_or_sections}!"
        )
    return tensor_split_pieces(shape, indices_or_sections, dim)
