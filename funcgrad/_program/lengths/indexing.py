"""The rules of primitives that read or write at computed places: an index beyond the true length is out of bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax

from funcgrad._program.lengths.masking import Axis, Masking, Padded, Size, Unmaskable, is_padded, rule
from funcgrad._program.lengths.rules import at_end
from funcgrad._program.lengths.symbol import is_symbolic


@rule("dynamic_slice")
def dynamic_slice(m: Masking, eqn: Any, operands: list[Padded]) -> list[Padded]:
    """The start is clamped so that the slice ends within the true length."""
    (x, *starts), shape, wanted = operands, eqn.invars[0].aval.shape, eqn.outvars[0].aval.shape
    axes: list[Axis] = list(x.axes)
    places = []
    for i, start in enumerate(starts):
        place = start.array
        if shape[i] != wanted[i]:
            x = at_end(m, x, i, shape)
            axes[i] = (wanted[i],)
            last = m.true(shape[i] - wanted[i])
            place = jnp.clip(place, 0, jnp.asarray(last, place.dtype))
            if is_symbolic(wanted[i]):  # else the primitive moves the start so that the longest slice fits
                x = _longer(x, i, m.size(wanted[i]))
        places.append(place)
    return m.bound(eqn, [x.array, *places], [tuple(axes)])


def _longer(x: Padded, axis: int, size: int) -> Padded:
    """Return the array with more room along an axis."""
    ends = [(0, size if i == axis else 0, 0) for i in range(x.array.ndim)]
    return Padded(lax.pad(x.array, jnp.zeros((), x.array.dtype), ends), x.axes)


@rule("dynamic_update_slice")
def dynamic_update_slice(m: Masking, eqn: Any, operands: list[Padded]) -> list[Padded]:
    """Likewise; of what is written the padding must not reach what is there."""
    (x, new, *starts), shape, written = operands, eqn.invars[0].aval.shape, eqn.invars[1].aval.shape
    places = []
    shifts: dict[int, Any] = {}
    for i, start in enumerate(starts):
        place = start.array
        if shape[i] == written[i]:
            chosen = x.axes[i] or new.axes[i] or (shape[i],)
            x, new = m.arranged(x, i, shape[i], chosen), m.arranged(new, i, shape[i], chosen)
        else:
            x, new = at_end(m, x, i, shape), at_end(m, new, i, written)
            place = jnp.clip(place, 0, jnp.asarray(m.true(shape[i] - written[i]), place.dtype))
            if is_symbolic(written[i]):
                shifts[i], place = place, jnp.zeros_like(place)
        places.append(place)
    array = _spread(m, x.array, new.array, places, shifts, written) if shifts else new.array
    return m.bound(eqn, [x.array, array, *places], [x.axes])


def _spread(
    m: Masking, x: Any, new: Any, places: Sequence[Any], shifts: dict[int, Any], written: Sequence[Size]
) -> Any:
    """Return what is written as long as what it is written to along the shifted axes; that shows through around it."""
    sizes = [x.shape[i] if i in shifts else new.shape[i] for i in range(new.ndim)]
    beneath = lax.dynamic_slice(x, places, sizes)
    inside: Any = True
    for axis, start in shifts.items():
        source = jnp.arange(x.shape[axis]) - start
        new = jnp.take(new, source, axis=axis, mode="clip")
        within = (source >= 0) & (source < m.true(written[axis]))
        inside = inside & jnp.expand_dims(within, [i for i in range(new.ndim) if i != axis])
    return jnp.where(inside, new, beneath)


@rule("gather")
def gather(m: Masking, eqn: Any, operands: list[Padded]) -> list[Padded]:
    """An index is bounded by the true length; those in the padding of the indices read anything."""
    x, indices = operands
    shape, numbers, sizes = eqn.invars[0].aval.shape, eqn.params["dimension_numbers"], eqn.params["slice_sizes"]
    batched = dict(zip(numbers.operand_batching_dims, numbers.start_indices_batching_dims, strict=True))
    for axis, size in enumerate(shape):
        if axis in batched:
            chosen = x.axes[axis] or indices.axes[batched[axis]] or (size,)
            x = m.arranged(x, axis, size, chosen)
            indices = m.arranged(indices, batched[axis], size, chosen)
        elif sizes[axis] != size:
            x = at_end(m, x, axis, shape)
            if is_symbolic(sizes[axis]):
                x = _longer(x, axis, m.size(sizes[axis]))
    places = indices.array
    for i, axis in enumerate(numbers.start_index_map):
        if is_symbolic(shape[axis]) or is_symbolic(sizes[axis]):
            last, beyond = m.true(shape[axis] - sizes[axis]), x.array.shape[axis]
            places = _bounded(places, i, last, beyond, eqn.params["mode"])
    kept = [i for i in range(len(shape)) if i not in (*numbers.collapsed_slice_dims, *batched)]
    windows = [x.axes[i] if sizes[i] == shape[i] else (sizes[i],) for i in kept]
    axes = _gathered(windows, list(indices.axes[:-1]), numbers.offset_dims)
    return m.bound(eqn, [x.array, places], [axes])


def _bounded(places: Any, column: int, last: Any, beyond: int, mode: Any) -> Any:
    """Move indices that reach beyond the true length to its end, or out of the array where nothing is read there."""
    found = places[..., column]
    last = jnp.asarray(last, found.dtype)
    if mode == lax.GatherScatterMode.FILL_OR_DROP:
        found = jnp.where(found > last, jnp.asarray(beyond, found.dtype), found)
    else:
        found = jnp.clip(found, 0, last)
    return places.at[..., column].set(found)


def _gathered(windows: Sequence[Axis], batch: list[Axis], offsets: Sequence[int]) -> tuple[Axis, ...]:
    axes: list[Axis] = []
    window, rest = iter(windows), iter(batch)
    for i in range(len(windows) + len(batch)):
        axes.append(next(window) if i in offsets else next(rest))
    return tuple(axes)


@rule("scatter", "scatter_add", "scatter-add", "scatter_mul", "scatter-mul", "scatter_min", "scatter-min",
      "scatter_max", "scatter-max", "scatter_sub", "scatter-sub")  # fmt: skip
def scatter(m: Masking, eqn: Any, operands: list[Padded]) -> list[Padded]:
    """What stands in the padding of the updates is written out of bounds, hence nowhere."""
    x, indices, updates = operands
    shape, numbers = eqn.invars[0].aval.shape, eqn.params["dimension_numbers"]
    given = eqn.invars[2].aval.shape
    batched = dict(zip(numbers.operand_batching_dims, numbers.scatter_indices_batching_dims, strict=True))
    rows = [i for i in range(len(given)) if i not in numbers.update_window_dims]
    sizes = eqn.invars[1].aval.shape
    for axis, row in batched.items():  # what is written to the padding of these axes stays there
        if is_symbolic(shape[axis]):
            chosen = x.axes[axis] or updates.axes[rows[row]] or indices.axes[row] or (shape[axis],)
            x, updates = m.arranged(x, axis, shape[axis], chosen), m.arranged(updates, rows[row], shape[axis], chosen)
            indices = m.arranged(indices, row, shape[axis], chosen)
    for row, axis in enumerate(rows):
        if is_symbolic(given[axis]):
            chosen = updates.axes[axis] or indices.axes[row] or (given[axis],)
            updates = m.arranged(updates, axis, given[axis], chosen)
            indices = m.arranged(indices, row, sizes[row], chosen)
    windows = dict(zip([i for i in range(len(shape)) if i not in (*numbers.inserted_window_dims, *batched)],
                       numbers.update_window_dims, strict=True))  # fmt: skip
    for axis, size in enumerate(shape):
        if axis in windows and given[windows[axis]] == size:
            chosen = x.axes[axis] or updates.axes[windows[axis]] or (size,)
            x, updates = m.arranged(x, axis, size, chosen), m.arranged(updates, windows[axis], size, chosen)
        elif is_symbolic(size) and axis not in batched:
            x = at_end(m, x, axis, shape)
            if axis in windows and is_symbolic(given[windows[axis]]):
                raise Unmaskable("writing a part whose size depends on the length")
    places = _inside(m, eqn, indices, updates, rows, windows)
    eqn = eqn.replace(params=eqn.params | {"mode": lax.GatherScatterMode.FILL_OR_DROP, "unique_indices": False,
                                           "indices_are_sorted": False})  # fmt: skip
    return m.bound(eqn, [x.array, places, updates.array], [x.axes])


def _inside(
    m: Masking, eqn: Any, indices: Padded, updates: Padded, rows: Sequence[int], windows: dict[int, int]
) -> Any:
    """Return the indices, those of the padding and those beyond the true length out of bounds."""
    shape, given = eqn.invars[0].aval.shape, eqn.invars[2].aval.shape
    numbers, mode = eqn.params["dimension_numbers"], eqn.params["mode"]
    places = indices.array
    outside: Any = False
    for row, axis in enumerate(rows):
        if is_padded(updates.axes[axis], given[axis]):
            mask = ~jnp.asarray(m.valid(updates.axes[axis], given[axis]))
            outside = outside | jnp.expand_dims(mask, [i for i in range(len(rows)) if i != row])
    for i, axis in enumerate(numbers.scatter_dims_to_operand_dims):
        window = given[windows[axis]] if axis in windows else 1
        last = jnp.asarray(m.true(shape[axis] - window), places.dtype)
        column = places[..., i]
        if mode == lax.GatherScatterMode.CLIP:
            column = jnp.clip(column, 0, last)
        beyond = outside | (column > last)
        places = places.at[..., i].set(jnp.where(beyond, jnp.iinfo(places.dtype).max, column))
    return places
