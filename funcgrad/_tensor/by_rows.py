"""Places that were expanded, `index[:, None].expand(-1, 64)`: whole rows are moved, no longer each number by itself.

So scripts send messages along the edges of a graph. XLA's scatters and gathers take a loop's turn for each place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad._ops.dims import dim_of
from funcgrad._ops.table import TABLE, Op
from funcgrad._tensor.aliases import before_expanding
from funcgrad._tensor.call import call, call_in_place
from funcgrad._tensor.tensor import Tensor

BY_ROWS = {TABLE[name]: TABLE[f"{name}_rows"] for name in ("gather", "scatter_add", "scatter_reduce")}


def call_by_rows(op: Op, inputs: Sequence[Any], statics: tuple[Any, ...]) -> Any:
    """Do what `call` does. inputs: a tensor, places in it, and what is sent there, if anything is. statics: dim, ..."""
    return call(*_narrowed(op, inputs, statics), statics)


def call_in_place_by_rows(op: Op, inputs: Sequence[Any], statics: tuple[Any, ...]) -> Any:
    """Do what `call_in_place` does, with what `call_by_rows` takes."""
    return call_in_place(*_narrowed(op, inputs, statics), statics)


def _narrowed(op: Op, inputs: Sequence[Any], statics: tuple[Any, ...]) -> tuple[Op, Sequence[Any]]:
    """Return the op that moves rows, and its inputs, if the places are the same along all dimensions but one."""
    input, index, *sent = inputs
    if not isinstance(index, Tensor) or (column := before_expanding(index)) is index or not isinstance(input, Tensor):
        return op, inputs
    shape = index.shape
    if input.ndim != len(shape) or column.ndim != len(shape) or any(x.shape != shape for x in sent):
        return op, inputs
    dim = dim_of(len(shape), statics[0])
    kept = [column.shape[d] == (shape[d] if d == dim else 1) for d in range(len(shape))]
    if not all(kept) or any(input.shape[d] != shape[d] for d in range(len(shape)) if d != dim):
        return op, inputs
    return BY_ROWS[op], (input, column, *sent)
