"""Lets the routines of LAPACK that a program calls for batches of matrices run one after another.

On a CPU XLA runs what does not depend on each other at once, in a thread for each core. Such a routine shares a batch
out among these threads, and waits for them in its own: where as many wait as there are threads, all wait for ever.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from funcgrad._ops.table import Op

_ROOMS = frozenset(f"funcgrad._ops.{room}" for room in ("decompositions", "ldl", "matrix_exponential", "solving"))


class InTurn:
    """The routines of a line, of which each is given what depends on the one before."""

    def __init__(self) -> None:
        self._before: jax.Array | None = None

    def run(self, op: Any, arguments: list[Any], compute: Callable[[list[Any]], Sequence[Any]]) -> Sequence[Any]:
        """Compute an instruction. Of such a routine the arguments depend on the one before.

        Of a pull-back the last does, a cotangent: what was kept for it is known by identity.
        """
        if not _is_shared_out(op, arguments):
            return compute(arguments)
        if self._before is not None:
            places = [i for i, x in enumerate(arguments) if _is_inexact(x)]
            chosen = places if isinstance(op, Op) or hasattr(op, "halves") else places[-1:]
            arguments = [_after(self._before, x) if i in chosen else x for i, x in enumerate(arguments)]
        results = compute(arguments)
        self._before = next((x for x in results if _is_inexact(x) and x.size), self._before)
        return results


def _is_shared_out(op: Any, arguments: Sequence[Any]) -> bool:
    """Tell whether an instruction is a routine of LAPACK for a batch, or its pull-back."""
    row = _row(op)
    is_routine = row is not None and row.function.__module__ in _ROOMS
    return is_routine and any(getattr(x, "ndim", 0) > 2 for x in arguments)


def _row(op: Any) -> Op | None:
    """Return the table's row that an op is, or was derived from; None for what is made of many."""
    while not isinstance(op, Op):
        signature = getattr(op, "signature", None) or getattr(getattr(op, "forward", None), "signature", None)
        if signature is None:
            return None
        op = signature.op
    return op


def _is_inexact(x: Any) -> bool:
    return hasattr(x, "dtype") and jnp.issubdtype(x.dtype, jnp.inexact)


def _after(before: jax.Array, x: jax.Array) -> jax.Array:
    """Return the array, which XLA takes to depend on another: no number is and is not equal to itself."""
    number = before.reshape(-1)[0]
    never = (number == number) & (number != number)
    return jnp.where(never, jnp.zeros((), x.dtype), x)
