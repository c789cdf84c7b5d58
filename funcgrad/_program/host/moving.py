"""What numpy does for primitives that move elements about: shapes, slices, joining, sorting."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from funcgrad._program.host.table import Array, Function, rule


@rule("broadcast_in_dim")
def broadcast(equation: Any) -> Function:
    """New axes are constant along themselves."""
    shape, dtype = equation.outvars[0].aval.shape, equation.outvars[0].aval.dtype
    expanded = between(equation)
    if math.prod(expanded) == math.prod(shape):
        return lambda x: x.reshape(shape)

    def spread(x: Array) -> Array:
        result = np.empty(shape, dtype)
        result[...] = x.reshape(expanded)
        return result

    return spread


def unspread(equation: Any) -> Function:
    """New axes have one element."""
    old = equation.params["broadcast_dimensions"]
    expand = tuple([slice(None) if axis in old else None for axis in range(len(equation.outvars[0].aval.shape))])
    return lambda x: x[expand]


def between(equation: Any) -> list[int]:
    """Return the shape of what is broadcast, with its new axes."""
    shape = [1] * len(equation.outvars[0].aval.shape)
    for size, place in zip(equation.invars[0].aval.shape, equation.params["broadcast_dimensions"], strict=True):
        shape[place] = size
    return shape


@rule("reshape", "squeeze")
def reshape(equation: Any) -> Function:
    """The same elements in other rows, read along the dimensions in the order that is given."""
    shape, order = equation.outvars[0].aval.shape, equation.params["dimensions"]
    if order is not None and equation.primitive.name == "reshape":
        return lambda x: x.transpose(order).reshape(shape)
    return lambda x: x.reshape(shape)


@rule("transpose")
def transpose(equation: Any) -> Function:
    """Axes in another order."""
    permutation = equation.params["permutation"]
    return lambda x: x.transpose(permutation)


@rule("rev")
def rev(equation: Any) -> Function:
    """Backwards along some axes."""
    axes = equation.params["dimensions"]
    places = tuple([slice(None, None, -1 if i in axes else 1) for i in range(equation.invars[0].aval.ndim)])
    return lambda x: x[places]


@rule("slice")
def sliced(equation: Any) -> Function:
    """From start to limit, by strides."""
    starts, limits = equation.params["start_indices"], equation.params["limit_indices"]
    steps = equation.params["strides"] or (1,) * len(starts)
    places = tuple(map(slice, starts, limits, steps))
    return lambda x: x[places]


@rule("split")
def split(equation: Any) -> Function:
    """Pieces of given sizes along an axis."""
    before, sizes = (slice(None),) * equation.params["axis"], equation.params["sizes"]
    if len(sizes) == 1:
        return lambda x: x[...]
    pieces = [(*before, slice(end - size, end)) for size, end in zip(sizes, accumulate(sizes), strict=True)]
    return lambda x: tuple([x[piece] for piece in pieces])


@rule("pad")
def pad(equation: Any) -> Function:
    """Room before, after and between elements; less than none cuts off."""
    shape, dtype = equation.outvars[0].aval.shape, equation.outvars[0].aval.dtype
    cut, into = [], []
    for (low, high, between), size, room in zip(
        equation.params["padding_config"], equation.invars[0].aval.shape, shape, strict=True
    ):
        step = between + 1
        first = -(low // step) if low < 0 else 0  # the first element that is not cut off
        spread = (size - 1) * step + 1 if size else 0
        end = low + spread + min(high, 0)
        last = max(first, min(size, -(-(end - low) // step) if size else 0))
        cut.append(slice(first, last))
        start = low + first * step
        into.append(slice(start, start + max(0, (last - first - 1) * step + 1 if last > first else 0), step))
        assert start >= 0 and room >= 0
    source, target = tuple(cut), tuple(into)

    def padded(x: Array, value: Array) -> Array:
        result = np.full(shape, value, dtype)
        result[target] = x[source]
        return result

    return padded


@rule("concatenate")
def concatenate(equation: Any) -> Function:
    """End to end along an axis."""
    axis = equation.params["dimension"]
    return lambda *arrays: np.concatenate(arrays, axis)


@rule("stack")
def stack(equation: Any) -> Function:
    """Along a new axis."""
    axis = equation.params["axis"]
    shape = list(equation.outvars[0].aval.shape)
    shape[axis] = 1
    return lambda *arrays: np.concatenate([x.reshape(shape) for x in arrays], axis)


@rule("unstack")
def unstack(equation: Any) -> Function:
    """Each slice along an axis."""
    pieces = [(*(slice(None),) * equation.params["axis"], i) for i in range(len(equation.outvars))]
    if len(pieces) == 1:
        return lambda x: x[pieces[0]]
    return lambda x: tuple([x[piece] for piece in pieces])


@rule("tile")
def tile(equation: Any) -> Function:
    """Again and again along the axes."""
    times = equation.params["reps"]
    return lambda x: np.tile(x, times)


@rule("sort")
def sort(equation: Any) -> Function:
    """By the first `num_keys` operands along an axis; the others go with them."""
    axis, keys = equation.params["dimension"], equation.params["num_keys"]
    if len(equation.invars) == 1:
        return lambda x: np.sort(x, axis, kind="stable")
    places = _places_along(equation.invars[0].aval.shape, axis)

    def sorted_together(*arrays: Array) -> tuple[Array, ...]:
        order = np.lexsort(arrays[:keys][::-1], axis) if keys > 1 else arrays[0].argsort(axis, kind="stable")
        at = places(order)
        return tuple([x[at] for x in arrays])

    return sorted_together


def _places_along(shape: Sequence[int], axis: int) -> Callable[[Array], tuple[Array, ...]]:
    """Return what makes of places along an axis an index for all axes."""
    grid = np.ogrid[tuple(map(slice, shape))]
    before, after = tuple(grid[:axis]), tuple(grid[axis + 1 :])
    return lambda order: (*before, order, *after)


@rule("top_k")
def top_k(equation: Any) -> Function:
    """The largest along an axis and their places, the first of equal ones first; a NaN counts as largest."""
    axis, count = equation.params["axis"], equation.params["k"]
    size, dtype = equation.invars[0].aval.shape[axis], equation.outvars[1].aval.dtype
    before = (slice(None),) * axis
    backwards, first = (*before, slice(None, None, -1)), (*before, slice(None, -count - 1, -1))
    places = _places_along(equation.invars[0].aval.shape, axis)

    def found(x: Array) -> tuple[Array, Array]:
        order = size - 1 - x[backwards].argsort(axis, kind="stable")[first]
        return x[places(order)], order.astype(dtype)

    return found
