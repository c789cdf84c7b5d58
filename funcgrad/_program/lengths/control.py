"""The rules of primitives that hold a jaxpr: calls are run through, loops turn as often as the longest length asks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax
from jax.extend import core

from funcgrad._program.lengths.masking import Axis, Masking, Padded, rule
from funcgrad._program.lengths.symbol import is_symbolic
from funcgrad._program.primitives import CALLS, REMADE, called, parts_of_scan


@rule(*CALLS, *REMADE)
def call(m: Masking, eqn: Any, operands: list[Padded]) -> list[Padded]:
    """The inner jaxpr is run in place."""
    return m.run(*called(eqn), operands)


@rule("custom_linear_solve")
def solve(m: Masking, eqn: Any, operands: list[Padded]) -> list[Padded]:
    """What solves is run in place; the products that its derivatives need are derived already."""
    counts, parts = eqn.params["const_lengths"], eqn.params["jaxprs"]
    first = counts.matvec + counts.vecmat
    held = operands[first : first + counts.solve]
    return _inline(m, parts.solve, [*held, *operands[first + counts.solve + counts.transpose_solve :]])


def _inline(m: Masking, inner: Any, operands: Sequence[Padded]) -> list[Padded]:
    if isinstance(inner, core.ClosedJaxpr):
        return m.run(inner.jaxpr, inner.consts, operands)
    return m.run(inner, (), operands)


def _settled(m: Masking, x: Padded, shape: Sequence[Any]) -> Padded:
    """Return an array none of whose axes leaves its padding open."""
    return Padded(x.array, tuple([(size,) if axis is None else axis for axis, size in zip(x.axes, shape, strict=True)]))


def _like(m: Masking, x: Padded, axes: Sequence[Axis], shape: Sequence[Any]) -> Any:
    for position, axis in enumerate(axes):
        x = m.arranged(x, position, shape[position], axis)
    return x.array


@rule("scan")
def scan(m: Masking, eqn: Any, operands: list[Padded]) -> list[Padded]:
    """Turns beyond the true length leave what is carried as it is. Backwards, they come first."""
    parameters, closed = eqn.params, eqn.params["jaxpr"]
    fixed, moving = parts_of_scan(eqn)
    turns, constants, first_stack = parameters["length"], operands[:fixed], fixed + moving
    shapes = [variable.aval.shape for variable in closed.jaxpr.invars]
    carried = [_settled(m, x, s) for x, s in zip(operands[len(constants) : first_stack], shapes[len(constants) :],
                                                 strict=False)]  # fmt: skip
    stacks = [m.arranged(x, 0, turns, (turns,)) for x in operands[first_stack:]]
    written: list[tuple[Axis, ...]] = []

    def turn(carry: list[Any], now: tuple[Any, list[Any]]) -> tuple[list[Any], list[Any]]:
        inputs = [*constants, *[Padded(x, c.axes) for x, c in zip(carry, carried, strict=True)],
                  *[Padded(x, s.axes[1:]) for x, s in zip(now[1], stacks, strict=True)]]  # fmt: skip
        results = m.run(closed.jaxpr, closed.consts, inputs)
        after = [_like(m, x, c.axes, s) for x, c, s in
                 zip(results, carried, shapes[len(constants) : first_stack], strict=False)]  # fmt: skip
        if is_symbolic(turns):
            after = [jnp.where(now[0] < m.true(turns), new, old) for new, old in zip(after, carry, strict=True)]
        written[:] = [x.axes for x in results[len(carried) :]]
        return after, [x.array for x in results[len(carried) :]]

    count = jnp.arange(m.size(turns))
    last, each = lax.scan(turn, [x.array for x in carried], (count, [x.array for x in stacks]), m.size(turns),
                          reverse=parameters["reverse"], unroll=parameters["unroll"])  # fmt: skip
    return [*[Padded(x, c.axes) for x, c in zip(last, carried, strict=True)],
            *[Padded(x, ((turns,), *axes)) for x, axes in zip(each, written, strict=True)]]  # fmt: skip


@rule("while")
def while_loop(m: Masking, eqn: Any, operands: list[Padded]) -> list[Padded]:
    """The padding turns along; what ends the loop has none."""
    parameters = eqn.params
    asked, turned = parameters["cond_nconsts"], parameters["body_nconsts"]
    condition_constants, body_constants = operands[:asked], operands[asked : asked + turned]
    shapes = [variable.aval.shape for variable in eqn.outvars]
    carried = [_settled(m, x, s) for x, s in zip(operands[asked + turned :], shapes, strict=True)]

    def present(arrays: Sequence[Any]) -> list[Padded]:
        return [Padded(x, c.axes) for x, c in zip(arrays, carried, strict=True)]

    def goes_on(arrays: list[Any]) -> Any:
        return _inline(m, parameters["cond_jaxpr"], [*condition_constants, *present(arrays)])[0].array

    def turn(arrays: list[Any]) -> list[Any]:
        results = _inline(m, parameters["body_jaxpr"], [*body_constants, *present(arrays)])
        return [_like(m, x, c.axes, s) for x, c, s in zip(results, carried, shapes, strict=True)]

    return present(lax.while_loop(goes_on, turn, [x.array for x in carried]))


@rule("cond")
def cond(m: Masking, eqn: Any, operands: list[Padded]) -> list[Padded]:
    """Each branch ends with its padding where that of an array of its own would be: at the end."""
    which, *rest = operands
    shapes = [variable.aval.shape for variable in eqn.outvars]

    def branch(inner: Any) -> Any:
        def run(arrays: list[Any]) -> list[Any]:
            inputs = [Padded(array, x.axes) for array, x in zip(arrays, rest, strict=True)]
            results = _inline(m, inner, inputs)
            return [m.settled(x, s).array for x, s in zip(results, shapes, strict=True)]

        return run

    found = lax.switch(which.array, list(map(branch, eqn.params["branches"])), [x.array for x in rest])
    return [Padded(x, m.axes_of(s)) for x, s in zip(found, shapes, strict=True)]
