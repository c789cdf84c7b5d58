"""Dimensions as torch numbers and checks them (negative from the end, IndexError beyond), and sizes that may vary."""

from __future__ import annotations

from collections.abc import Sequence

from jax.errors import InconclusiveDimensionOperation

from funcgrad._ops.table import Array


def dim_of(ndim: int, dim: int) -> int:
    """Return `dim` counted from the front; a 0-d tensor has one dimension for this purpose."""
    bound = max(ndim, 1)
    if not -bound <= dim < bound:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-bound}, {bound - 1}], but got {dim})")
    return dim % bound


def dims_of(input: Array, dim: int | Sequence[int] | None) -> tuple[int, ...]:
    """Return the dimensions to reduce, counted from the front: all of them for None or ()."""
    ndim = input.ndim
    if dim is None:
        return tuple(range(ndim))
    listed = [dim_of(ndim, d) for d in ((dim,) if isinstance(dim, int) else dim)]
    if len(set(listed)) < len(listed):
        raise RuntimeError(f"dim {listed[-1]} appears multiple times in the list of dims")
    return tuple(d for d in listed if d < ndim) if listed else tuple(range(ndim))


def is_above(size: int, limit: int) -> bool:
    """Tell whether a size is above a limit; a length that varies on both sides of it is not."""
    try:
        return size > limit
    except InconclusiveDimensionOperation:
        return False
