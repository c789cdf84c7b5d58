"""What primitives do with padded arrays: elementwise ones let the padding be, sums find something harmless in it.

What moves elements about is in `moving.py`, what reads or writes at computed places in `indexing.py`, what holds a
jaxpr in `control.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from funcgrad._program.lengths.masking import (
    Axis,
    Masking,
    Padded,
    Size,
    Unmaskable,
    is_padded,
    rule,
)
from funcgrad._program.lengths.symbol import is_symbolic
from funcgrad._program.primitives import ELEMENTWISE, REDUCTIONS


@rule(*ELEMENTWISE)
def elementwise(m: Masking, eqn: Any, operands: list[Padded]) -> list[Padded]:
    """The padding of the result is what the padding of the operands gives."""
    arranged, axes = m.together(operands, eqn.outvars[0].aval.shape)
    return m.bound(eqn, [x.array for x in arranged], [axes] * len(eqn.outvars))


@rule("bitcast_convert_type")
def same_bits(m: Masking, eqn: Any, operands: list[Padded]) -> Sequence[Padded]:
    """Elementwise where the dtypes are equally wide; else there is an axis more or less."""
    if eqn.invars[0].aval.ndim != eqn.outvars[0].aval.ndim:
        raise Unmaskable("the bits of a length that varies are split or joined")
    return elementwise(m, eqn, operands)


@rule("optimization_barrier")
def barrier(m: Masking, eqn: Any, operands: list[Padded]) -> list[Padded]:
    """Nothing happens to each of several arrays."""
    return m.bound(eqn, [x.array for x in operands], [x.axes for x in operands])


@rule("dim_as_value")
def dimension(m: Masking, eqn: Any, operands: list[Padded]) -> list[Padded]:
    """The true size."""
    return [m.entire(jnp.asarray(m.true(eqn.params["dim"]), eqn.outvars[0].aval.dtype))]


@rule("iota")
def iota(m: Masking, eqn: Any, operands: list[Padded]) -> list[Padded]:
    """Counting goes on in the padding; along the other axes nothing changes."""
    counted = eqn.params["dimension"]
    axes = [(size,) if i == counted or not is_symbolic(size) else None
            for i, size in enumerate(eqn.outvars[0].aval.shape)]  # fmt: skip
    return m.bound(eqn, [x.array for x in operands], [tuple(axes)])


@rule("broadcast_in_dim")
def broadcast(m: Masking, eqn: Any, operands: list[Padded]) -> list[Padded]:
    """New axes are constant along themselves."""
    shape, given = eqn.outvars[0].aval.shape, eqn.invars[0].aval.shape
    axes: list[Axis] = [None if is_symbolic(size) else (size,) for size in shape]
    for source, target in enumerate(eqn.params["broadcast_dimensions"]):
        if given[source] == shape[target]:
            axes[target] = operands[0].axes[source]
    return m.bound(eqn, [operands[0].array], [tuple(axes)])


@rule("transpose")
def transpose(m: Masking, eqn: Any, operands: list[Padded]) -> list[Padded]:
    """Axes take their padding along."""
    (x,) = operands
    return m.bound(eqn, [x.array], [tuple([x.axes[i] for i in eqn.params["permutation"]])])


@rule("squeeze")
def squeeze(m: Masking, eqn: Any, operands: list[Padded]) -> list[Padded]:
    """Axes of size 1 have no padding."""
    (x,) = operands
    dropped = eqn.params["dimensions"]
    return m.bound(eqn, [x.array], [tuple([axis for i, axis in enumerate(x.axes) if i not in dropped])])


def lowest(dtype: Any) -> Any:
    """Return what is no larger than anything of a dtype."""
    if dtype == np.bool_:
        return False
    return -np.inf if jnp.issubdtype(dtype, jnp.inexact) else jnp.iinfo(dtype).min


def highest(dtype: Any) -> Any:
    """Return what is no smaller than anything of a dtype."""
    if dtype == np.bool_:
        return True
    return np.inf if jnp.issubdtype(dtype, jnp.inexact) else jnp.iinfo(dtype).max


def zero(dtype: Any) -> Any:
    """Return what adds nothing."""
    return 0


def one(dtype: Any) -> Any:
    """Return what multiplies nothing."""
    return 1


_NEUTRAL = {
    "reduce_sum": zero, "reduce_prod": one, "reduce_max": lowest, "reduce_min": highest, "reduce_and": highest,
    "reduce_or": zero, "reduce_xor": zero, "cumsum": zero, "cumprod": one, "cummax": lowest, "cummin": highest,
    "cumlogsumexp": lowest, "argmax": lowest, "argmin": highest, "reduce_window_sum": zero,
    "reduce_window_max": lowest, "reduce_window_min": highest,
}  # fmt: skip


@rule(*REDUCTIONS)
def reduction(m: Masking, eqn: Any, operands: list[Padded]) -> list[Padded]:
    """The padding counts as nothing."""
    (x,), reduced = operands, eqn.params["axes"]
    fill = _NEUTRAL[eqn.primitive.name](eqn.invars[0].aval.dtype)
    array = m.masked(x, eqn.invars[0].aval.shape, reduced, fill)
    return m.bound(eqn, [array], [tuple([axis for i, axis in enumerate(x.axes) if i not in reduced])])


@rule("argmax", "argmin")
def arg_reduction(m: Masking, eqn: Any, operands: list[Padded]) -> list[Padded]:
    """Of equal elements the first counts, which is never in the padding."""
    shape, (axis,) = eqn.invars[0].aval.shape, eqn.params["axes"]
    x = at_end(m, operands[0], axis, shape)
    array = m.masked(x, shape, [axis], _NEUTRAL[eqn.primitive.name](eqn.invars[0].aval.dtype))
    return m.bound(eqn, [array], [tuple([a for i, a in enumerate(x.axes) if i != axis])])


@rule("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp")
def cumulation(m: Masking, eqn: Any, operands: list[Padded]) -> list[Padded]:
    """Backwards, the padding comes first and must count as nothing."""
    shape, axis = eqn.invars[0].aval.shape, eqn.params["axis"]
    x = at_end(m, operands[0], axis, shape)
    array = x.array
    if eqn.params["reverse"]:
        array = m.masked(x, shape, [axis], _NEUTRAL[eqn.primitive.name](eqn.invars[0].aval.dtype))
    return m.bound(eqn, [array], [x.axes])


def at_end(m: Masking, x: Padded, position: int, shape: Sequence[Size]) -> Padded:
    """Return the array with the padding of one axis at its end."""
    return m.arranged(x, position, shape[position], (shape[position],))


@rule("dot_general")
def dot(m: Masking, eqn: Any, operands: list[Padded]) -> list[Padded]:
    """Along the axes that are summed over, the padding of both operands is zero (zero times NaN would be NaN)."""
    (left_summed, right_summed), (left_batch, right_batch) = eqn.params["dimension_numbers"]
    left, right = operands
    shapes = [variable.aval.shape for variable in eqn.invars]
    for i, j in (*zip(left_summed, right_summed, strict=True), *zip(left_batch, right_batch, strict=True)):
        if is_symbolic(shapes[0][i]):
            found = [axis for axis in (left.axes[i], right.axes[j]) if axis is not None]
            chosen = max(found, key=len) if found else (shapes[0][i],)
            left = m.arranged(left, i, shapes[0][i], chosen)
            right = m.arranged(right, j, shapes[1][j], chosen)
    arrays = [m.masked(left, shapes[0], left_summed, 0), m.masked(right, shapes[1], right_summed, 0)]
    axes = [
        *[left.axes[i] for i in left_batch],
        *[axis for i, axis in enumerate(left.axes) if i not in (*left_summed, *left_batch)],
        *[axis for i, axis in enumerate(right.axes) if i not in (*right_summed, *right_batch)],
    ]
    return m.bound(eqn, arrays, [tuple(axes)])


@rule("ragged_dot_general")
def dot_in_groups(m: Masking, eqn: Any, operands: list[Padded]) -> list[Padded]:
    """As in `dot`; sizes of groups count true places, so that padding stands behind all of them, in no group."""
    numbers, (*shapes, sizes) = eqn.params["ragged_dot_dimension_numbers"], [x.aval.shape for x in eqn.invars]
    (left_summed, right_summed), (left_batch, right_batch) = numbers.dot_dimension_numbers
    if any(map(is_symbolic, sizes)):
        raise Unmaskable("the number of groups varies")
    left, right = (m.settled(x, shape) for x, shape in zip(operands, shapes, strict=False))
    adds_up_groups = not set(left_summed).isdisjoint(numbers.lhs_ragged_dimensions)
    arrays = [m.masked(left, shapes[0], left_summed, 0), m.masked(right, shapes[1], right_summed, 0), operands[2].array]
    given = (*right_summed, *right_batch, *numbers.rhs_group_dimensions)
    axes = [
        *([None] if adds_up_groups else []),
        *[left.axes[i] for i in left_batch],
        *[axis for i, axis in enumerate(left.axes) if i not in (*left_summed, *left_batch)],
        *[axis for i, axis in enumerate(right.axes) if i not in given],
    ]
    return m.bound(eqn, arrays, [tuple(axes)])


@rule("conv_general_dilated")
def convolution(m: Masking, eqn: Any, operands: list[Padded]) -> list[Padded]:
    """Where the padding would be summed over it is zero: along channels and space, of both operands."""
    numbers, shapes = eqn.params["dimension_numbers"], [variable.aval.shape for variable in eqn.invars]
    _refuse_open_steps(eqn, "window_strides", "lhs_dilation", "rhs_dilation")
    if any(is_symbolic(low) for low, _ in eqn.params["padding"]):
        raise Unmaskable("a convolution padded at the beginning by a number that depends on the length")
    specs = (numbers.lhs_spec, numbers.rhs_spec)
    arrays = []
    for x, shape, spec in zip(operands, shapes, specs, strict=True):
        for axis in range(len(shape)):
            if is_padded(x.axes[axis], shape[axis]):
                x = at_end(m, x, axis, shape)
        arrays.append(m.masked(x, shape, spec[1:], 0))
    return m.bound(eqn, arrays, [m.axes_of(eqn.outvars[0].aval.shape)])


@rule("reduce_window_sum", "reduce_window_max", "reduce_window_min")
def window_reduction(m: Masking, eqn: Any, operands: list[Padded]) -> list[Padded]:
    """The padding counts as nothing in the windows that reach it."""
    (x,), shape, wanted = operands, eqn.invars[0].aval.shape, eqn.outvars[0].aval.shape
    if any(is_symbolic(low) for low, _ in eqn.params["padding"]):
        raise Unmaskable("windows padded at the beginning by a number that depends on the length")
    _refuse_open_steps(eqn, "window_strides", "base_dilation", "window_dilation")
    if any(is_symbolic(size) and n != 1 for size, n in zip(eqn.params["window_dimensions"], wanted, strict=True)):
        raise Unmaskable("windows whose size depends on the length")
    moved = [i for i in range(len(shape)) if eqn.params["window_dimensions"][i] != 1 or shape[i] != wanted[i]]
    for i in moved:
        x = at_end(m, x, i, shape)
    array = m.masked(x, shape, moved, _NEUTRAL[eqn.primitive.name](eqn.invars[0].aval.dtype))
    axes = [(wanted[i],) if i in moved else axis for i, axis in enumerate(x.axes)]
    return m.bound(eqn, [array], [tuple(axes)])


def _refuse_open_steps(eqn: Any, *names: str) -> None:
    if any(is_symbolic(step) for name in names for step in eqn.params[name]):
        raise Unmaskable("windows with steps or gaps that depend on the length")


@rule("cholesky", "lu", "triangular_solve")
def factors(m: Masking, eqn: Any, operands: list[Padded]) -> Sequence[Padded]:
    """Square matrices go on as the identity does: so do their factors, and nothing solved with them reaches there."""
    (matrix, *right), shapes = operands, [variable.aval.shape for variable in eqn.invars]
    size, rank = shapes[0][-1], len(shapes[0])
    if not is_padded(matrix.axes[-1], size) or shapes[0][-2] != size:
        return of_matrices(m, eqn, operands)
    batch = matrix.axes[:-2]
    for axis in (rank - 2, rank - 1):
        matrix = at_end(m, matrix, axis, shapes[0])
    beyond = jnp.logical_not(m.valid((size,), size)).astype(matrix.array.dtype)
    arrays = [m.masked(matrix, shapes[0], (rank - 2, rank - 1), 0) + jnp.diag(beyond)]
    axes = [matrix.axes, *[(*batch, (size,)) for _ in eqn.outvars[1:]]]  # of `lu` also two vectors
    for x in right:
        if x.axes[:-2] != batch:
            raise Unmaskable(f"{eqn.primitive.name} of batches that are padded otherwise")
        solved = rank - 2 if eqn.params["left_side"] else rank - 1
        x = at_end(m, x, solved, shapes[1])
        arrays.append(m.masked(x, shapes[1], [solved], 0))
        axes = [x.axes]
    return m.bound(eqn, arrays, axes)


@rule("eigh", "qr", "svd", "householder_product", "tridiagonal", "geqrf", "fft")
def of_matrices(m: Masking, eqn: Any, operands: list[Padded]) -> list[Padded]:
    """Many matrices may be padded with others, the matrices themselves not."""
    inner = len(eqn.params["fft_lengths"]) if eqn.primitive.name == "fft" else 2
    batch = operands[0].axes[:-inner] if inner == 2 else operands[0].axes[: len(operands[0].axes) - inner]
    for x, variable in zip(operands, eqn.invars, strict=True):
        rest = range(len(batch), len(x.axes))
        if x.axes[: len(batch)] != batch or any(is_padded(x.axes[i], variable.aval.shape[i]) for i in rest):
            raise Unmaskable(f"{eqn.primitive.name} of matrices whose size varies")
    shapes = [variable.aval.shape for variable in eqn.outvars]
    return m.bound(eqn, [x.array for x in operands], [(*batch, *m.axes_of(s[len(batch) :])) for s in shapes])
