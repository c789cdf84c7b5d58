"""One instruction as a function of its arrays and numbers: all else is part of the function.

There is one for all that compute the same, whoever asks: the shapes that an op gives, the programs of which it is a
part, numpy. JAX keeps what it has traced of it, so that an op is traced once, and once more to be differentiated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax

from funcgrad._base.bounded import Bounded
from funcgrad._base.dtypes import get_default_dtype
from funcgrad._ops.table import Number

Fixed = Sequence[tuple[Any] | None]
FUNCTIONS: Bounded[Any] = Bounded(4096)  # by what they compute; a pull-back's is known by itself


def function_of(op: Any, statics: tuple[Any, ...], fixed: Fixed, kinds: Sequence[type | None]) -> Any:
    """Return the jitted function; it is given arrays, and the values of numbers, in one list.

    fixed: for each argument (what it is,), or None where it is given. kinds: the Python types of given numbers.
    """
    exactly = tuple([known and repr(known) for known in fixed])  # 0.0 == -0.0 == False
    key = op, statics, get_default_dtype(), exactly, tuple(kinds)
    return FUNCTIONS.found(key, lambda: jax.jit(computation(op, statics, fixed, kinds)))


def computation(
    op: Any, statics: tuple[Any, ...], fixed: Fixed, kinds: Sequence[type | None]
) -> Callable[[list[Any]], Sequence[Any]]:
    """Return the function as Python has it."""

    def run(given: list[Any]) -> Sequence[Any]:
        rest = iter(given)
        arguments = [
            known[0] if known else next(rest) if kind is None else Number(next(rest), kind)
            for known, kind in zip(fixed, kinds, strict=True)
        ]
        return op.call(arguments, statics)

    run.__name__ = op.name
    return run


def called(op: Any, inputs: Sequence[Any], statics: tuple[Any, ...]) -> Sequence[Any]:
    """Compute an instruction by its function, of arrays, Numbers, and what is part of the function."""
    given = [_is_given(x) for x in inputs]
    kinds = [x.kind if type(x) is Number else None for x in inputs]
    fixed = [None if g else (x,) for x, g in zip(inputs, given, strict=True)]
    execute = function_of(op, statics, fixed, kinds)
    return execute([x.value if type(x) is Number else x for x, g in zip(inputs, given, strict=True) if g])


def forget_functions() -> None:
    """Begin anew: no op was traced before."""
    FUNCTIONS.clear()


def _is_given(x: Any) -> bool:
    """Tell whether an input is an array, or a number that an array holds; all else is part of the function."""
    return type(x) is Number or hasattr(x, "shape")
