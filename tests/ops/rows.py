"""The fast way to hold a row to its samples: through `Op.call` and `jax.vjp`, without recorder, tape or Tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import funcgrad._ops  # fills the table
from funcgrad._base import dtypes
from funcgrad._ops.table import TABLE, Op
from tests.ops.calling import built, cotangent
from tests.ops.samples import Sample

assert funcgrad._ops


class Slot:
    """A tensor argument on its way into a row."""

    def __init__(self, array: np.ndarray, grad: bool) -> None:
        self.array, self.grad = array, grad


def row_of(name: str, sample: Sample) -> Op | None:
    """Return the row behind a public name, or None for a hand-written front."""
    if sample.row is not None:
        return TABLE[sample.row]
    return next((op for op in TABLE.values() if name in op.names), None)


def bound(
    op: Op, args: Sequence[Any], kwargs: dict[str, Any], is_reflected: bool = False
) -> tuple[list[Any], list[Any]]:
    """Sort arguments into the row's inputs and statics, as the public functions do."""
    positional = [p for p in op.parameters if not p.keyword_only]
    args = list(args)
    if is_reflected:
        args[:2] = args[1::-1]
    if len(args) >= len(positional) and positional[-1].kind == "Dims" and isinstance(args[len(positional) - 1], int):
        args[len(positional) - 1 :] = [tuple(args[len(positional) - 1 :])]
    assert len(args) <= len(positional), f"{op} takes {len(positional)} arguments by position"
    given = {p.name: x for p, x in zip(positional, args, strict=False)} | kwargs
    unknown = set(given) - {p.name for p in op.parameters}
    assert not unknown, f"{op} has no arguments {unknown}"
    inputs: list[Any] = []
    for p in op.inputs:
        value = given.get(p.name, None if p.is_required else p.default)
        inputs.extend(value) if p.kind == "Arrays" else inputs.append(value)
    return inputs, [_static(p, given.get(p.name, p.default)) for p in op.statics]


def _static(parameter: Any, value: Any) -> Any:
    if parameter.kind == "Dims" and isinstance(value, int):
        return (value,)
    if isinstance(value, list):
        return tuple(value)
    return value


def call_row(op: Op, name: str, sample: Sample) -> tuple[list[np.ndarray], list[np.ndarray], str]:
    """Return a row's results, the gradients of the inputs that want one, and torch's name of the node."""
    args, kwargs = built(
        name,
        sample,
        lambda array, given: Slot(array, given.grad),
        lambda kind: getattr(dtypes, kind + "_" * (kind == "bool")),
    )
    inputs, statics = bound(op, args, kwargs, name.startswith(".__r") and not name.startswith(".__rshift"))
    places = [i for i, x in enumerate(inputs) if isinstance(x, Slot)]
    wanted = [i for i in places if inputs[i].grad]
    with jax.enable_x64(True):
        arrays = [jnp.asarray(inputs[i].array) for i in places]

        def compute(arrays: list[jax.Array]) -> tuple[Any, Any]:
            full = list(inputs)
            for place, array in zip(places, arrays, strict=True):
                full[place] = array

            def forward(*primals: jax.Array) -> tuple[jax.Array, ...]:
                for place, primal in zip(wanted, primals, strict=True):
                    full[place] = primal
                return op.call(full, statics)

            if op.grad is None or not wanted or not sample.gradient:
                return forward(*[full[i] for i in wanted]), ()
            results, pull = jax.vjp(forward, *[full[i] for i in wanted])
            return results, pull(_cotangents(name, results))

        results, gradients = jax.jit(compute)(arrays)
        gradients = [np.conj(g) if g.dtype.kind == "c" else np.asarray(g) for g in gradients]
    return [np.asarray(r) for r in results], gradients, _node(op, inputs, statics)


def _cotangents(name: str, results: tuple[jax.Array, ...]) -> tuple[Any, ...]:
    """torch's complex gradients are the conjugates of JAX's, on both sides of a pull-back."""
    made: list[Any] = []
    for i, result in enumerate(results):
        kind = dtypes.of_numpy(result.dtype)
        if kind.is_differentiable:
            made.append(jnp.asarray(np.conj(cotangent(name, i, result.shape, kind.name)), result.dtype))
        else:
            made.append(np.zeros(result.shape, jax.dtypes.float0))
    return tuple(made)


def _node(op: Op, inputs: list[Any], statics: list[Any]) -> str:
    grad = op.grad
    if callable(grad):
        grad = grad(
            tuple(x.array.shape if isinstance(x, Slot) else None if x is None else type(x) for x in inputs),
            tuple(statics),
        )
    return grad[0] if isinstance(grad, tuple) else grad or ""
