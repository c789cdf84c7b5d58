"""What numpy does for primitives that read or write at computed places."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jax import lax

from funcgrad._program.host.table import Array, Function, NotForHost, rule

_WRITES: dict[str, Callable[[Array, Any, Array], None]] = {
    "scatter": lambda x, at, new: x.__setitem__(at, new),
    "scatter-add": np.add.at, "scatter-mul": np.multiply.at, "scatter-min": np.minimum.at,
    "scatter-max": np.maximum.at, "scatter-sub": np.subtract.at,
}  # fmt: skip


@rule("dynamic_slice")
def dynamic_slice(equation: Any) -> Function:
    """The start is moved so that the slice lies inside."""
    sizes, shape = equation.params["slice_sizes"], equation.invars[0].aval.shape
    places = _slices(shape, sizes)
    return lambda x, *starts: x[places(starts)]


@rule("dynamic_update_slice")
def dynamic_update_slice(equation: Any) -> Function:
    """Likewise."""
    places = _slices(equation.invars[0].aval.shape, equation.invars[1].aval.shape)

    def written(x: Array, new: Array, *starts: Array) -> Array:
        result = np.array(x)
        result[places(starts)] = new
        return result

    return written


def _slices(shape: Sequence[int], sizes: Sequence[int]) -> Callable[[Sequence[Any]], tuple[slice, ...]]:
    room = [(full - size, size) for full, size in zip(shape, sizes, strict=True)]

    def places(starts: Sequence[Any]) -> tuple[slice, ...]:
        firsts = [min(max(int(start), 0), last) for start, (last, _) in zip(starts, room, strict=True)]
        return tuple([slice(first, first + size) for first, (_, size) in zip(firsts, room, strict=True)])

    return places


class _Windows:
    """Where the windows of a gather or scatter lie in the operand.

    batch: the shape of the indices without the last axis. windows: the operand's axes that windows extend along, and
    their sizes there. named: the axes that the indices' last axis names. paired: axes that go along with an axis of
    the indices.
    """

    def __init__(
        self,
        shape: Sequence[int],
        sizes: Sequence[int],
        windows: Sequence[int],
        named: Sequence[int],
        paired: dict[int, int],
        batch: Sequence[int],
    ) -> None:
        self.batch, self.windows, self.named = tuple(batch), list(windows), list(named)
        self.last = np.array([shape[axis] - sizes[axis] for axis in named], np.int64)
        rank = len(self.batch) + len(windows)
        self.fixed: list[Array] = []
        for axis in range(len(shape)):
            if axis in paired:
                found = np.arange(shape[axis]).reshape(_along(rank, paired[axis]))
            elif axis in self.windows:
                found = np.arange(sizes[axis]).reshape(_along(rank, len(self.batch) + self.windows.index(axis)))
            else:
                found = np.zeros((1,) * rank, np.int64)
            self.fixed.append(found)
        if not self.named:
            if self.batch and not self.fixed:
                raise NotForHost("a scalar at many places")
            self.fixed[:1] = [x + np.zeros(self.batch + (1,) * len(windows), np.int64) for x in self.fixed[:1]]

    def at(self, indices: Array) -> tuple[Array, ...]:
        """Return an index of the operand that gives (batch..., windows...); the windows lie inside."""
        found = list(self.fixed)
        for column, axis in enumerate(self.named):
            starts = indices[..., column].reshape(self.batch + (1,) * len(self.windows))
            found[axis] = found[axis] + starts
        return tuple(found)

    def inside(self, indices: Array) -> Array | None:
        """Return for each window whether it lies inside; None where all do."""
        inside = (indices >= 0) & (indices <= self.last)
        return None if inside.all() else np.asarray(inside.all(-1))

    def moved_inside(self, indices: Array) -> Array:
        """Return the indices, those outside moved to the nearest place."""
        return np.minimum(np.maximum(indices, 0), self.last)

    def beside(self, chosen: Array) -> Array:
        """Return what is known of each window so that it goes along with all of a window's elements."""
        return chosen.reshape(self.batch + (1,) * len(self.windows))


def _along(rank: int, axis: int) -> list[int]:
    return [-1 if i == axis else 1 for i in range(rank)]


@rule("gather")
def gather(equation: Any) -> Function:
    """Windows of the operand; where one lies outside it is moved inside, or holds the filling."""
    numbers, sizes, mode = (equation.params[name] for name in ("dimension_numbers", "slice_sizes", "mode"))
    operand, indices, result = equation.invars[0].aval, equation.invars[1].aval, equation.outvars[0].aval
    paired = dict(zip(numbers.operand_batching_dims, numbers.start_indices_batching_dims, strict=True))
    kept = [i for i in range(operand.ndim) if i not in (*numbers.collapsed_slice_dims, *paired)]
    windows = _Windows(operand.shape, sizes, kept, numbers.start_index_map, paired, indices.shape[:-1])
    batch = [i for i in range(result.ndim) if i not in numbers.offset_dims]
    order = np.argsort([*batch, *numbers.offset_dims])
    fills = mode == lax.GatherScatterMode.FILL_OR_DROP
    filling = _filling(equation.params["fill_value"], result.dtype)
    _refuse_uint64(indices)
    if 0 in result.shape:
        return lambda x, places: np.empty(result.shape, result.dtype)
    if 0 in operand.shape:
        raise NotForHost("windows of nothing")

    def gathered(x: Array, places: Array) -> Array:
        inside = windows.inside(places) if fills else None
        found = x[windows.at(places if fills and inside is None else windows.moved_inside(places))]
        if inside is not None:
            found = np.where(windows.beside(inside), found, filling)
        return found.transpose(order)

    axis = _axis_taken(operand.shape, sizes, numbers)
    if axis is None:
        return gathered
    lying = np.argsort([*numbers.offset_dims[:axis], *batch, *numbers.offset_dims[axis:]])

    def taken(x: Array, places: Array) -> Array:
        if fills and windows.inside(places) is not None:
            return gathered(x, places)
        return x.take(places[..., 0], axis, mode="clip").transpose(lying)

    return taken


def _axis_taken(shape: Sequence[int], sizes: Sequence[int], numbers: Any) -> int | None:
    """Return the axis along which windows are single places, where that is all that is gathered."""
    if len(numbers.start_index_map) != 1 or numbers.operand_batching_dims:
        return None
    (axis,) = numbers.start_index_map
    full = (*shape[:axis], 1, *shape[axis + 1 :])
    return axis if tuple(sizes) == full and numbers.collapsed_slice_dims == (axis,) else None


def _refuse_uint64(indices: Any) -> None:
    if indices.dtype == np.uint64:
        raise NotForHost("places that int64 does not have")


def _filling(given: Any, dtype: np.dtype[Any]) -> Array:
    if given is None:
        if dtype.kind in "fc":
            given = np.nan
        elif dtype.kind == "b":
            given = True
        else:
            given = np.iinfo(dtype).min if dtype.kind == "i" else np.iinfo(dtype).max
    return np.asarray(given, dtype)


@rule(*_WRITES)
def scatter(equation: Any) -> Function:
    """Windows that lie outside are moved inside, or not written."""
    numbers, mode = equation.params["dimension_numbers"], equation.params["mode"]
    operand, indices, updates = (variable.aval for variable in equation.invars)
    paired = dict(zip(numbers.operand_batching_dims, numbers.scatter_indices_batching_dims, strict=True))
    kept = [i for i in range(operand.ndim) if i not in (*numbers.inserted_window_dims, *paired)]
    sizes = [1] * operand.ndim
    for axis, along in zip(kept, numbers.update_window_dims, strict=True):
        sizes[axis] = updates.shape[along]
    windows = _Windows(
        operand.shape, sizes, kept, numbers.scatter_dims_to_operand_dims, paired, indices.shape[:-1]
    )  # fmt: skip
    batch = [i for i in range(updates.ndim) if i not in numbers.update_window_dims]
    order = (*batch, *numbers.update_window_dims)
    write, clips = _WRITES[equation.primitive.name], mode == lax.GatherScatterMode.CLIP
    _refuse_uint64(indices)
    if 0 in operand.shape or 0 in updates.shape:
        return lambda x, places, new: x[...]

    def scattered(x: Array, places: Array, new: Array) -> Array:
        result, new = np.array(x), new.transpose(order)
        if clips:
            places = windows.moved_inside(places)
        inside = None if clips else windows.inside(places)
        if inside is None:
            write(result, windows.at(places), new)
        else:
            at = np.broadcast_arrays(*windows.at(windows.moved_inside(places)))
            chosen = np.broadcast_to(windows.beside(inside), new.shape)
            write(result, tuple([found[chosen] for found in at]), new[chosen])
        return result

    return scattered
