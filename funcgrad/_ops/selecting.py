"""Row: the part of a tensor at a place that another tensor gives, as a view."""

from __future__ import annotations

from funcgrad._ops.dims import dim_of
from funcgrad._ops.indexing import integers, read_at, write_at
from funcgrad._ops.table import Array, Indices, op


def _at(index: Array, dim: int) -> tuple[object, ...]:
    integers(index, "select")
    return (slice(None),) * dim + (index,)


def _select_at_back(base: Array, new: Array, index: Array, dim: int) -> Array:
    return write_at(base, _at(index, dim_of(base.ndim, dim)), new)


@op(grad="SelectBackward0", names="", write_back=_select_at_back)
def select_at(input: Array, index: Indices, dim: int) -> Array:
    """Return the part at `index` (0-d, may be negative) of one dimension, which is left out; out of range gives NaN."""
    return read_at(input, _at(index, dim_of(input.ndim, dim)))
