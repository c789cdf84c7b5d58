"""anomaly(): programs run fused; where one gives a NaN or inf it is run again op by op, and the first op is named."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from funcgrad._program import run
from funcgrad._program.record import Program
from funcgrad._program.run import flush
from funcgrad._program.trie import Call
from funcgrad.explain.programs import argument_of, computed


class AnomalyError(RuntimeError):
    """A program computed a NaN or an infinity. `line`: the user's forward line; `op`: what made it."""

    def __init__(self, message: str, line: str, op: str) -> None:
        super().__init__(message)
        self.line, self.op = line, op


class _Ran(NamedTuple):
    """A run that is not judged yet: whether all it computed is finite, and all that is needed to run it again."""

    is_fine: Any
    call: Call
    leaves: list[Any]
    numbers: list[float]


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
    execute = run._execute
    waiting: list[_Ran] = []

    def judged(program: Program) -> None:
        leaves, call, numbers = list(program.leaves), program.cursor, list(program.numbers)
        held: Any = [(array, _held, known) for array, _, known in leaves]
        program.leaves = held
        execute(program)
        _judge(waiting)
        floats = [a for a in program.outcome[0] if jnp.issubdtype(a.dtype, jnp.inexact)] if program.outcome else []
        if floats:
            with jax.enable_x64(True):
                waiting.append(_Ran(_all_finite(floats), call, [array for array, _, _ in leaves], numbers))

    flush()
    run._execute = judged
    try:
        yield
        flush()
        _judge(waiting)
    finally:
        run._execute = execute


def _held() -> bool:
    """Stand for a leaf's Value that somebody holds, so that its array is kept for another run."""
    return True


def _judge(waiting: list[_Ran]) -> None:
    while waiting:
        ran = waiting.pop(0)
        if not bool(ran.is_fine):
            waiting.clear()
            raise _found(ran)


def _found(ran: _Ran) -> AnomalyError:
    """Run the program again, an op at a time, and say where the first number that is not finite comes from."""
    results: dict[int, Any] = {}
    path = ran.call.path()
    with jax.enable_x64(True):
        for call in path:
            inputs = [argument_of(a, ran.leaves, results, ran.numbers) for a in call.arguments]
            made = computed(call, ran.leaves, results, ran.numbers)
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
    return AnomalyError("a result is not finite, but run op by op all are", ran.call.line, ran.call.op.name)


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
