"""A length as a symbol: one of JAX's symbolic dimensions (those of `jax.export`), with which ops can be traced.

What an op does with a shape then holds for every length between the symbol's bounds, or the tracing fails.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from jax import export

from funcgrad._program.value import Aval, aval

T = TypeVar("T")
_LEAST_ROOM = 4


@functools.cache
def between(least: int, most: int) -> Any:
    """Return the symbol of a length between two bounds: the narrower they are, the more comparisons it decides."""
    (symbol,) = export.symbolic_shape("n", constraints=[f"n >= {least}", f"n <= {most}"])
    return symbol


Dimension = type(between(2, _LEAST_ROOM))


def room_for(length: int) -> int:
    """Return the length up to which a program of this length is compiled: the next power of two."""
    return max(_LEAST_ROOM, 1 << (length - 1).bit_length())


def symbol_of(room: int) -> Any:
    """Return the symbol of the lengths that have this room."""
    return between(2 if room == _LEAST_ROOM else room // 2 + 1, room)


def is_symbolic(dimension: Any) -> bool:
    """Tell whether a dimension depends on the length."""
    return isinstance(dimension, Dimension)


def at(found: Any, length: Any) -> Any:
    """Put a length in the place of the symbol, in an expression or in a tuple that holds some."""
    if isinstance(found, Dimension):
        size = found._evaluate({"n": length})
        return int(size) if isinstance(size, np.integer) else size
    if isinstance(found, tuple):
        values = [at(part, length) for part in found]
        return type(found)(*values) if hasattr(found, "_fields") else tuple(values)
    if type(found) is Aval:
        return aval(at(tuple(found.struct.shape), length), found.dtype.numpy, found.placement)
    return found


class Refusal(NamedTuple):
    """Why something cannot be done with an open length."""

    reason: str


def attempted(make: Callable[..., T], *arguments: Any) -> T | Refusal:
    """Return make(*arguments), which traces something with an open length, or why it could not.

    Any row may fail in its own way there. It is done in a thread of its own: JAX leaves cycles of frames behind when it
    traces symbols, which would keep the caller's frames alive, and with them tensors that nobody wants any more.
    """
    found: list[T | Refusal] = []

    def attempt() -> None:
        try:
            found.append(make(*arguments))
        except Exception as error:  # it becomes the reason, which `explain` tells
            found.append(Refusal(next(iter(str(error).splitlines()), type(error).__name__)))

    worker = threading.Thread(target=attempt, name="funcgrad-lengths")
    worker.start()
    worker.join()
    return found[0]
