"""anomaly(): programs run fused; where one gives a NaN or inf it is run again op by op, and the first op is named."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from funcgrad._program.run import Finished, flush, observed
from funcgrad._program.trie import Call
from funcgrad.explain.programs import argument_of, computed


class AnomalyError(RuntimeError):
    """A program computed a NaN or an infinity. `line`: the user's forward line; `op`: what made it."""

    def __init__(self, message: str, line: str, op: str) -> None:
        super().__init__(message)
        self.line, self.op = line, op


class _Unjudged(NamedTuple):
    """A run, and whether all that it gave is finite: an array that XLA may still be computing."""

    is_fine: Any
    run: Finished


@jax.jit
def _all_finite(arrays: list[Any]) -> Any:
    return jnp.stack([jnp.isfinite(array).all() for array in arrays]).all()


@contextmanager
def anomaly() -> Iterator[None]:
    """Raise AnomalyError, inside, when a program gives a NaN or inf: it names the user's forward line and the backward.

    Programs run fused as always, with one more small program after each that looks at the results; only one that went
    wrong is run again, op by op. It is judged when the next one runs, so that nothing waits for it. Arrays are not
    donated inside, so parameters take twice their memory.
    """
    waiting: list[_Unjudged] = []

    def look_at(run: Finished) -> None:
        _judge(waiting)
        floats = [array for array in run.results if jnp.issubdtype(array.dtype, jnp.inexact)]
        if floats:
            with jax.enable_x64(True):
                waiting.append(_Unjudged(_all_finite(floats), run))

    flush()
    with observed(look_at):
        yield
        flush()
        _judge(waiting)


def _judge(waiting: list[_Unjudged]) -> None:
    while waiting:
        is_fine, run = waiting.pop(0)
        if not bool(is_fine):
            waiting.clear()
            raise _found(run)


def _found(run: Finished) -> AnomalyError:
    """Run the program again, an op at a time, and say where the first number that is not finite comes from."""
    results: dict[int, Any] = {}
    path = run.call.path()
    with jax.enable_x64(True):
        for call in path:
            inputs = [argument_of(a, run.leaves, results, run.numbers) for a in call.arguments]
            made = computed(call, run.leaves, results, run.numbers)
            results.update(enumerate(made, call.first))
            bad = next((kind for array in made if (kind := _not_finite(array))), None)
            if bad is None:
                continue
            given = next((kind for x in inputs if (kind := _not_finite(x))), None)
            forward = _forward_of(call, path)
            line = (forward or call).line
            if given is not None:
                message = f"{call.op.name} at {line} was given {given}: a tensor that was there before this program"
            elif forward is not None:
                message = (
                    f"{bad} in the gradient of {forward.op.name}, which was called at {line}; its backward ran at "
                    f"{call.line}. It was given {_ranges(inputs)}"
                )
            else:
                message = f"{call.op.name} at {line} made {bad}. It was given {_ranges(inputs)}"
            return AnomalyError(message, line, (forward or call).op.name)
    return AnomalyError("a result is not finite, but run op by op all are", run.call.line, run.call.op.name)


def _forward_of(call: Call, path: list[Call]) -> Call | None:
    """Return the forward call that a pull-back belongs to."""
    signature = getattr(call.op, "signature", None)
    used = getattr(call.op, "used", None)
    if signature is None or used is None:
        return None
    saved = list(call.arguments[: len(used)])
    alike = [one for one in path if one.signature is not None and one.op is signature.op and one is not call]
    exact = [one for one in alike if [one.arguments[i] for i in used] == saved and one.signature is signature]
    return (exact or alike or [None])[-1]


def _not_finite(array: Any) -> str | None:
    if not hasattr(array, "dtype") or not jnp.issubdtype(array.dtype, jnp.inexact):
        return None
    numbers = np.asarray(array).astype(np.complex128 if array.dtype.kind == "c" else np.float64)
    if np.isnan(numbers).any():
        return "a NaN"
    return "an infinity" if np.isinf(numbers).any() else None


def _ranges(inputs: list[Any]) -> str:
    shown = []
    for x in inputs:
        if hasattr(x, "dtype") and x.dtype.kind in "fiu" and x.size:
            numbers = np.asarray(x).astype(np.float64)
            shown.append(f"{x.dtype}{list(x.shape)} from {numbers.min():.6g} to {numbers.max():.6g}")
    return ", ".join(shown) or "no tensors"
