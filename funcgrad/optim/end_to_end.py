"""Small arrays end to end: one flat array instead of one for each bias."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

import jax.numpy as jnp
from jax import lax

from funcgrad._ops.table import Array, Arrays
from funcgrad._program.value import Aval

_ALIKE = 8  # arrays of a shape that was there before, from which on a kernel for each is worth avoiding
SMALL = 2048  # elements (`python -m tests.benchmarks.steps --workloads tiny deep`: many small parameters)


class EndToEnd:
    """Which of a row of arrays lie end to end: the small ones of each dtype, where there is more than one.

    runs: the places of the arrays in each flat one. alone: of the others. width: how many arrays there are in all.
    """

    __slots__ = ("alone", "runs", "shapes", "width")

    def __init__(self, kinds: Sequence[Array | Aval], movable: Iterable[int] | None = None) -> None:
        """kinds: each with a shape and a dtype. movable: the places of those that may be moved; None: all."""
        self.shapes = [tuple(kind.shape) for kind in kinds]
        small: dict[object, list[int]] = {}
        for place in range(len(kinds)) if movable is None else movable:
            if math.prod(kinds[place].shape) <= SMALL:
                small.setdefault(kinds[place].dtype, []).append(place)
        self.runs = [run for run in small.values() if len(run) > 1]
        packed = {place for run in self.runs for place in run}
        self.alone = [place for place in range(len(kinds)) if place not in packed]
        self.width = len(self.alone) + len(self.runs)

    def pieces(self, run: list[int]) -> Iterator[tuple[int, int]]:
        """Yield for each array of a run its place in the row, and where in the flat array it begins."""
        start = 0
        for place in run:
            yield place, start
            start += math.prod(self.shapes[place])

    def pack(self, arrays: Sequence[Array]) -> list[Array]:
        """Return those that lie alone, then the flat arrays."""
        return [*[arrays[place] for place in self.alone], *[joined([arrays[i] for i in run]) for run in self.runs]]

    def unpack(self, arrays: Sequence[Array], *, stay_apart: bool = False) -> list[Array]:
        """Return all arrays in order, from those that lie alone and the flat ones.

        stay_apart: whether they are read one by one, and not put end to end again.
        """
        found: dict[int, Array] = dict(zip(self.alone, arrays, strict=False))
        for run, flat in zip(self.runs, arrays[len(self.alone) :], strict=True):
            shapes, starts = [self.shapes[place] for place in run], [start for _, start in self.pieces(run)]
            alike = stay_apart and len(run) - len(set(shapes)) >= _ALIKE
            found.update(zip(run, (_parts_alike if alike else _parts)(flat, starts, shapes), strict=True))
        return [found[place] for place in range(len(self.shapes))]


def joined(arrays: Arrays) -> Array:
    """Return arrays as one flat one."""
    return jnp.concatenate([lax.reshape(array, [array.size]) for array in arrays])


def part(flat: Array, start: int, shape: tuple[int, ...]) -> Array:
    """Return the array that begins at `start`. Shape: flat (n), result `shape`."""
    return lax.reshape(lax.slice(flat, [start], [start + math.prod(shape)]), shape)  # a fifth of jnp's time to trace


def _parts(flat: Array, starts: Sequence[int], shapes: Sequence[tuple[int, ...]]) -> list[Array]:
    return [part(flat, *each) for each in zip(starts, shapes, strict=True)]


def _parts_alike(flat: Array, starts: Sequence[int], shapes: Sequence[tuple[int, ...]]) -> list[Array]:
    """Return the same as `_parts`, on a CPU by slices that begin where XLA does not know when it compiles.

    It makes one kernel for equal slices, and those of equal size are equal only if their beginning is no part of them
    (`python -m tests.benchmarks.steps --workloads deep`, the first step: 3.2 s, and 3.7 s if `_ALIKE` is out of reach).
    """

    def known(_: Array) -> list[Array]:
        return [jnp.int32(start) for start in starts]

    def at_unknown(flat: Array) -> list[Array]:
        begins = lax.cond(flat[0] == 0, known, known, flat)
        sizes = [math.prod(shape) for shape in shapes]
        found = [lax.dynamic_slice(flat, [begin], [size]) for begin, size in zip(begins, sizes, strict=True)]
        return [array.reshape(shape) for array, shape in zip(found, shapes, strict=True)]

    return lax.platform_dependent(flat, cpu=at_unknown, default=lambda flat: _parts(flat, starts, shapes))
