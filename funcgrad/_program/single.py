"""One instruction as a function of its arrays and numbers: all else is part of the function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from funcgrad._ops.table import Number
from funcgrad._program.line import Step


def function_of(
    step: Step, fixed: Sequence[tuple[Any] | None], kinds: Sequence[type | None]
) -> Callable[[list[Any]], Sequence[Any]]:
    """Return the function; it is given arrays, and the values of numbers, in one list.

    fixed: for each argument (what it is,), or None where it is given. kinds: the Python types of given numbers.
    """
    op, statics = step.op, step.statics

    def run(given: list[Any]) -> Sequence[Any]:
        rest = iter(given)
        arguments = [
            known[0] if known else next(rest) if kind is None else Number(next(rest), kind)
            for known, kind in zip(fixed, kinds, strict=True)
        ]
        return op.call(arguments, statics)

    run.__name__ = op.name
    return run
