"""Lengths as symbols: JAX's symbolic dimensions (those of `jax.export`), with which ops can be traced.

What an op does with a shape then holds for all lengths between the symbols' bounds, or the tracing fails. (Whether two
lengths are equal is answered with no: a row takes its general way then, which is right where they are.)
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from jax import export

from funcgrad._program.value import Aval, aval

T = TypeVar("T")
_LEAST_ROOM = 4
NEAR = 16  # rooms up to here serve everything shorter
NAMES = tuple([f"n{i}" for i in range(32)])  # of lengths that may vary independently in one program
Bounds: TypeAlias = tuple[tuple[int, int], ...]  # of each length: the least, the most


@functools.cache
def between(bounds: Bounds) -> tuple[Any, ...]:
    """Return the symbols of lengths between bounds: the narrower these are, the more comparisons they decide."""
    names = NAMES[: len(bounds)]
    rows = zip(names, bounds, strict=True)
    limits = [limit for name, (least, most) in rows for limit in (f"{name} >= {least}", f"{name} <= {most}")]
    return tuple(export.symbolic_shape(", ".join(names), constraints=limits))


Dimension = type(between(((2, _LEAST_ROOM),))[0])


def room_for(length: int) -> int:
    """Return the length up to which a program of this length is compiled: the next power of two."""
    return max(_LEAST_ROOM, 1 << (length - 1).bit_length())


def narrow(rooms: tuple[int, ...]) -> Bounds:
    """Return the bounds of the lengths that have no room in half of these."""
    return tuple([(2 if room == _LEAST_ROOM else room // 2 + 1, room) for room in rooms])


def wide(rooms: tuple[int, ...]) -> Bounds:
    """Return bounds that leave out only what is much shorter than these rooms."""
    return tuple([(2 if room <= NEAR else room // 4 + 1, room) for room in rooms])


def open_up_to(rooms: tuple[int, ...]) -> Bounds:
    """Return the bounds of all lengths for which there is room."""
    return tuple([(2, room) for room in rooms])


def is_symbolic(dimension: Any) -> bool:
    """Tell whether a dimension depends on a length."""
    return isinstance(dimension, Dimension)


def lengths_in(found: Any) -> set[str]:
    """Return the names of the lengths on which something depends: a dimension, what is known of an array, tuples."""
    if isinstance(found, Dimension):
        return found._get_vars()
    parts = found.struct.shape if type(found) is Aval else found if isinstance(found, tuple) else ()
    return {name for part in parts for name in lengths_in(part)}


def at(found: Any, lengths: Sequence[Any]) -> Any:
    """Put lengths in the places of their symbols, in an expression or in a tuple that holds some."""
    return AtLengths(lengths).of(found)


class AtLengths(dict[Any, Any]):
    """Puts lengths in the places of their symbols. Each expression, and what is known of each array, once."""

    def __init__(self, lengths: Sequence[Any]) -> None:
        super().__init__()
        self.lengths = lengths
        self._by_name = dict(zip(NAMES, lengths, strict=False))

    def of(self, found: Any) -> Any:
        """Return an expression, or a tuple that holds some, at these lengths."""
        if isinstance(found, Dimension) or type(found) is Aval:
            return self[found]
        if isinstance(found, tuple):
            values = [self.of(part) for part in found]
            return type(found)(*values) if hasattr(found, "_fields") else tuple(values)
        return found

    def __missing__(self, found: Any) -> Any:
        if type(found) is Aval:
            shape = self.of(tuple(found.struct.shape))
            made = aval(shape, found.dtype.numpy, found.placement, found.order)
        else:
            size = found._evaluate(self._by_name)
            made = int(size) if isinstance(size, np.integer) else size
        self[found] = made
        return made


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
