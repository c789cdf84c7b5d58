"""The rules of primitives that move elements about: they keep account of where the padding goes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._program.lengths.masking import Axis, Masking, Padded, Size, Unmaskable, rule, simplest
from funcgrad._program.lengths.rules import at_end, lowest
from funcgrad._program.lengths.symbol import at, is_symbolic


@rule("reshape")
def reshape(m: Masking, eqn: Any, operands: list[Padded]) -> list[Padded]:
    """Axes that are merged keep their factors; one that is split is rearranged where its factors are others."""
    (x,), given, wanted = operands, eqn.invars[0].aval.shape, eqn.outvars[0].aval.shape
    if (order := eqn.params["dimensions"]) is not None:  # the rows are read in this order of the axes
        x = Padded(jnp.transpose(x.array, order), tuple([x.axes[i] for i in order]))
        given = tuple([given[i] for i in order])
    axes: list[Axis] = []
    merged: list[Padded] = [x]
    position = 0
    for sources, targets in _groups(m, given, wanted):
        sizes, results = [given[i] for i in sources], [wanted[i] for i in targets]
        kept = [axis for i, axis in zip(sources, [x.axes[i] for i in sources], strict=True) if given[i] != 1]
        total = math.prod(sizes)
        if len(kept) == 1 and len([r for r in results if r != 1]) == 1:
            shares: list[Axis] = [kept[0] if size != 1 else (1,) for size in results]
        else:
            factors = simplest([f for axis, size in zip([x.axes[i] for i in sources], sizes, strict=True)
                                for f in (axis or (size,))])  # fmt: skip
            shares, factors_wanted = _shared(factors, results)
            if factors_wanted != factors:
                flat = Padded(_merged(m, merged[-1].array, position, sources, total), ((total,),) * position)
                flat = Padded(flat.array, (*[(1,)] * position, factors, *[(1,)] * (flat.array.ndim - position - 1)))
                rearranged = m.arranged(flat, position, total, factors_wanted)
                merged.append(Padded(_split(rearranged.array, position, [m.size(s) for s in sizes]), ()))
        axes += shares
        position += len(sources)
    array = jnp.reshape(merged[-1].array, [m.size(size) for size in wanted])
    return [Padded(array, tuple(axes))]


def _merged(m: Masking, array: Any, position: int, sources: Sequence[int], total: Size) -> Any:
    shape = array.shape
    return jnp.reshape(array, (*shape[:position], m.size(total), *shape[position + len(sources) :]))


def _split(array: Any, position: int, sizes: Sequence[int]) -> Any:
    return jnp.reshape(array, (*array.shape[:position], *sizes, *array.shape[position + 1 :]))


def _groups(m: Masking, given: Sequence[Size], wanted: Sequence[Size]) -> list[tuple[list[int], list[int]]]:
    """Return the smallest stretches of axes, before and after, that have equally many elements."""
    groups: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(given) or j < len(wanted):
        sources, targets = [], []
        before: Size = 1
        after: Size = 1
        while True:
            if i < len(given) and (not sources or m.size(before) < m.size(after)):
                before, i = before * given[i], i + 1
                sources.append(i - 1)
            elif j < len(wanted) and (not targets or m.size(after) < m.size(before)):
                after, j = after * wanted[j], j + 1
                targets.append(j - 1)
            elif before == after:
                break
            else:
                raise Unmaskable("a reshape whose sizes match at some lengths only")
            if before == after and sources and targets:
                break
            if before == after == 1 and (i == len(given) or j == len(wanted)):
                break
        groups.append((sources, targets))
    return groups


def _shared(factors: tuple[Size, ...], sizes: Sequence[Size]) -> tuple[list[Axis], tuple[Size, ...]]:
    """Share the factors of merged axes out to new axes; where they do not fit, these get factors of their own."""
    real = [size for size in sizes if size != 1]
    if len(real) == 1:
        return [factors if size != 1 else (1,) for size in sizes], factors
    own = simplest(real)
    if own == factors:
        return [(size,) for size in sizes], factors
    rest, shares = list(factors), []
    for size in sizes:
        share: list[Size] = []
        while size != 1 and math.prod(share) != size and rest:
            share.append(_cut(rest, size, math.prod(share)))
        if math.prod(share) != size:
            return [(size,) for size in sizes], own
        shares.append(simplest(share))
    return shares, factors


def _cut(rest: list[Size], size: Size, present: Size) -> Size:
    """Take the next factor, or the part of it that `size` has room for: of 8 n the n, of 8 the 2."""
    factor = rest.pop(0)
    room = size // present if size % present == 0 else factor
    part = factor // room if room != 0 and factor % room == 0 else 1
    if part != 1 and not is_symbolic(part) and room * part == factor:
        rest.insert(0, part)
        return room
    return factor


@rule("concatenate")
def concatenate(m: Masking, eqn: Any, operands: list[Padded]) -> list[Padded]:
    """Each array is written over the padding of the one before."""
    axis, shape = eqn.params["dimension"], eqn.outvars[0].aval.shape
    shapes = [variable.aval.shape for variable in eqn.invars]
    if not is_symbolic(shape[axis]):
        return _along_whole_axis(m, eqn, operands, axis)
    operands = [at_end(m, x, axis, s) for x, s in zip(operands, shapes, strict=True)]
    operands, axes = _same_but(m, operands, shape, axis)
    result = jnp.zeros([m.size(size) for size in shape], eqn.outvars[0].aval.dtype)
    offset: Any = 0
    for x, given in zip(operands, shapes, strict=True):
        result = lax.dynamic_update_slice_in_dim(result, x.array, offset, axis)
        offset = offset + m.true(given[axis])
    return [Padded(result, axes)]


def _along_whole_axis(m: Masking, eqn: Any, operands: list[Padded], axis: int) -> list[Padded]:
    arranged, axes = _same_but(m, operands, eqn.outvars[0].aval.shape, axis)
    return m.bound(eqn, [x.array for x in arranged], [axes])


def _same_but(
    m: Masking, operands: list[Padded], shape: Sequence[Size], axis: int
) -> tuple[list[Padded], tuple[Axis, ...]]:
    """Give arrays the same arrangement of padding along all axes but one."""
    held = [Padded(x.array, (*x.axes[:axis], None, *x.axes[axis + 1 :])) for x in operands]
    arranged, axes = m.together(held, shape)
    return arranged, (*axes[:axis], (shape[axis],), *axes[axis + 1 :])


@rule("stack")
def stack(m: Masking, eqn: Any, operands: list[Padded]) -> list[Padded]:
    """A new axis, without padding."""
    axis = eqn.params["axis"]
    arranged, axes = m.together(operands, eqn.invars[0].aval.shape)
    return m.bound(eqn, [x.array for x in arranged], [(*axes[:axis], (len(operands),), *axes[axis:])])


@rule("unstack")
def unstack(m: Masking, eqn: Any, operands: list[Padded]) -> list[Padded]:
    """One axis less, which had no padding: its size is how many results there are."""
    (x,), axis = operands, eqn.params["axis"]
    return m.bound(eqn, [x.array], [(*x.axes[:axis], *x.axes[axis + 1 :])] * len(eqn.outvars))


@rule("tile")
def tile(m: Masking, eqn: Any, operands: list[Padded]) -> list[Padded]:
    """Each copy takes its padding along."""
    (x,), repeats = operands, eqn.params["reps"]
    axes: list[Axis] = []
    for axis, size, count in zip(x.axes, eqn.invars[0].aval.shape, repeats, strict=True):
        is_constant = axis is None or (size == 1 and is_symbolic(count))
        axes.append(None if is_constant else simplest((count, *(axis or (size,)))))
    return m.bound(eqn, [x.array], [tuple(axes)])


@rule("pad")
def pad(m: Masking, eqn: Any, operands: list[Padded]) -> list[Padded]:
    """What the length leaves free is filled like what is added."""
    (x, value), shape, wanted = operands, eqn.invars[0].aval.shape, eqn.outvars[0].aval.shape
    config = list(eqn.params["padding_config"])
    touched = [i for i, row in enumerate(config) if is_symbolic(wanted[i]) and not _is_zero(*row)]
    for i in touched:
        x = at_end(m, x, i, shape)
    array = m.masked(x, shape, touched, value.array)
    for i in touched:
        low, high, inner = config[i]
        if is_symbolic(low):
            if inner or is_symbolic(high) or high < 0:
                raise Unmaskable("padding at both ends by numbers that depend on the length")
            sizes = [m.size(wanted[d]) if d == i else size for d, size in enumerate(array.shape)]
            array = lax.dynamic_update_slice_in_dim(jnp.full(sizes, value.array), array, m.true(low), i)
            config[i] = (0, 0, 0)
    array = lax.pad(array, value.array, at(tuple(config), m.rooms))
    kept = [is_symbolic(size) and i not in touched for i, size in enumerate(wanted)]
    axes = [axis if keep else (size,) for axis, keep, size in zip(x.axes, kept, wanted, strict=True)]
    return [Padded(array, tuple(axes))]


def _is_zero(*sizes: Size) -> bool:
    return all(not is_symbolic(size) and size == 0 for size in sizes)


@rule("slice")
def static_slice(m: Masking, eqn: Any, operands: list[Padded]) -> list[Padded]:
    """A start that depends on the length is a number of the program."""
    (x,), shape, wanted = operands, eqn.invars[0].aval.shape, eqn.outvars[0].aval.shape
    strides = eqn.params["strides"] or (1,) * len(shape)
    array, axes = x.array, list(x.axes)
    for i, (start, stop, stride) in enumerate(
        zip(eqn.params["start_indices"], eqn.params["limit_indices"], strides, strict=True)
    ):
        if shape[i] == wanted[i]:
            continue
        array = at_end(m, Padded(array, tuple(axes)), i, shape).array
        if is_symbolic(start):
            if stride != 1:
                raise Unmaskable("a slice with steps from a place that depends on the length")
            array = _with_room_behind(array, m.size(wanted[i]), i)
            array = lax.dynamic_slice_in_dim(array, m.true(start), m.size(wanted[i]), i)
        else:
            array = lax.slice_in_dim(array, start, min(m.size(stop), array.shape[i]), stride, i)
        axes[i] = (wanted[i],)
    return [Padded(array, tuple(axes))]


def _with_room_behind(array: Any, size: int, axis: int) -> Any:
    """Return the array with zeros behind it: slicing moves a start so that the longest part fits."""
    behind = [(0, 0, 0)] * array.ndim
    behind[axis] = (0, size, 0)
    return lax.pad(array, jnp.zeros((), array.dtype), behind)


@rule("split")
def split(m: Masking, eqn: Any, operands: list[Padded]) -> list[Padded]:
    """Parts of a size that depends on the length begin at a number of the program."""
    (x,), axis, shape = operands, eqn.params["axis"], eqn.invars[0].aval.shape
    if is_symbolic(shape[axis]):
        x = at_end(m, x, axis, shape)
    parts: list[Padded] = []
    start: Any = 0
    for size in eqn.params["sizes"]:
        array = _with_room_behind(x.array, m.size(size), axis)
        array = lax.dynamic_slice_in_dim(array, m.true(start), m.size(size), axis)
        parts.append(Padded(array, (*x.axes[:axis], (size,), *x.axes[axis + 1 :])))
        start = start + size
    return parts


@rule("rev")
def reverse(m: Masking, eqn: Any, operands: list[Padded]) -> list[Padded]:
    """The first becomes the last before the padding."""
    (x,), shape = operands, eqn.invars[0].aval.shape
    array, axes = x.array, list(x.axes)
    for i in eqn.params["dimensions"]:
        if is_symbolic(shape[i]):
            array = at_end(m, Padded(array, tuple(axes)), i, shape).array
            axes[i] = (shape[i],)
            places = m.true(shape[i]) - 1 - np.arange(array.shape[i])
            array = jnp.take(array, places, axis=i, mode="clip")
        else:
            array = jnp.flip(array, i)
    return [Padded(array, tuple(axes))]


@rule("sort")
def sort(m: Masking, eqn: Any, operands: list[Padded]) -> list[Padded]:
    """A first key puts the padding last."""
    axis, shape, keys = eqn.params["dimension"], eqn.invars[0].aval.shape, eqn.params["num_keys"]
    operands = [at_end(m, x, axis, shape) if is_symbolic(shape[axis]) else x for x in operands]
    operands, axes = m.together(operands, shape)
    arrays = [x.array for x in operands]
    if not is_symbolic(shape[axis]):
        return m.bound(eqn, arrays, [axes] * len(arrays))
    is_padding = ~jnp.asarray(m.valid(axes[axis], shape[axis]))
    is_padding = jnp.expand_dims(is_padding, [i for i in range(len(shape)) if i != axis])
    first = jnp.broadcast_to(is_padding, arrays[0].shape)
    found = lax.sort((first, *arrays), dimension=axis, is_stable=eqn.params["is_stable"], num_keys=keys + 1)
    return [Padded(array, axes) for array in found[1:]]


@rule("top_k")
def top_k(m: Masking, eqn: Any, operands: list[Padded]) -> list[Padded]:
    """The padding is below everything."""
    (x,), shape = operands, eqn.invars[0].aval.shape
    axis = eqn.params.get("axis", -1) % len(shape)
    x = at_end(m, x, axis, shape)
    array = m.masked(x, shape, [axis], lowest(eqn.invars[0].aval.dtype))
    size = eqn.outvars[0].aval.shape[axis]
    return m.bound(eqn, [array], [(*x.axes[:axis], (size,), *x.axes[axis + 1 :])] * 2)
