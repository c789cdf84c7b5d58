"""Compiles a program with lengths open for lengths up to a bound, and runs it at some of them.

Leaves are padded with zeros on the host, or on the GPU if they are large; results are cut to their length there too.
On the host neither needs a compile.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from funcgrad._program.compiling import options_for
from funcgrad._program.lengths import control, indexing, moving, rules  # noqa: F401 - they enter their rules
from funcgrad._program.lengths.family import Form, Sample
from funcgrad._program.lengths.masking import Masking, Padded, Unmaskable
from funcgrad._program.lengths.symbol import AtLengths, is_symbolic
from funcgrad._program.line import Loop, Step
from funcgrad._program.renting import as_of_now, rented
from funcgrad._program.value import Aval

Shape = tuple[Any, ...]
SMALL = 1 << 20  # bytes: these come to the host and go back in less time than a kernel takes to compile


class Roomy:
    """A program with lengths open, compiled for lengths up to `rooms`: (given, kept, numbers, lengths) -> results.

    kept, results: the shapes of the kept leaves and of the results, with the lengths open; padded: of the leaves at
    `rooms`, None where they have none. line: what it computes.
    """

    def __init__(
        self,
        step: Callable[..., Any],
        given: Sequence[Aval],
        kept: Sequence[Aval],
        numbers: int,
        rooms: tuple[int, ...],
        line: Sequence[Step | Loop],
    ) -> None:
        self.rooms = rooms
        self.kept = [tuple(a.struct.shape) for a in kept]
        self._shapes, there = Counter(filter(_is_open, self.kept)), AtLengths(rooms)
        self.padded = [there.of(shape) if _is_open(shape) else None for shape in self.kept]
        number_structs = jax.ShapeDtypeStruct((numbers,), np.dtype(np.float64))
        with jax.enable_x64(True):
            traced = jax.make_jaxpr(step)([a.struct for a in given], [a.struct for a in kept], number_structs)
            self.results = [tuple(a.shape) for a in traced.out_avals]
            made = [tuple(x.aval.shape) for equation in traced.eqns for x in equation.outvars]
            self._shapes.update(filter(_is_open, made))
            donated = (0,) if _have_partners([a.struct for a in given], traced.out_avals) else ()
            jitted = jax.jit(self._masked(traced), donate_argnums=donated, compiler_options=options_for(line))
            room_structs = [jax.ShapeDtypeStruct(there.of(tuple(a.struct.shape)), a.dtype.numpy) for a in kept]
            length_structs = jax.ShapeDtypeStruct((len(rooms),), np.dtype(np.int32))
            inputs = [a.struct for a in given], room_structs, number_structs, length_structs
            jitted.trace(*inputs)
            self.execute = rented(jitted, line, inputs, len(self.results)) or jitted
        self._most = self._elements(there)

    def _masked(self, traced: Any) -> Callable[..., Any]:
        def masked(given: list[Any], kept: list[Any], numbers: Any, lengths: Any) -> list[Any]:
            masking = Masking([lengths[i] for i in range(len(self.rooms))], self.rooms)
            padded = [Padded(x, masking.axes_of(shape)) for x, shape in zip(kept, self.kept, strict=True)]
            inputs = [*map(masking.entire, given), *padded, masking.entire(numbers)]
            results = masking.run(traced.jaxpr, traced.consts, inputs)
            return [masking.settled(x, shape).array for x, shape in zip(results, self.results, strict=True)]

        return masked

    def waste(self, there: AtLengths) -> int:
        """Return how many elements the leaves and results of its instructions with an open length have too many."""
        return self._most - self._elements(there)

    def _elements(self, there: AtLengths) -> int:
        return sum(math.prod(there.of(shape)) * count for shape, count in self._shapes.items())


class AtLength:
    """Called as a plan is: a Roomy program at the lengths for which one recorded program asks.

    waste: how many elements more it computes than that program has. is_ample: whether less room would do.
    """

    def __init__(self, roomy: Roomy, form: Form, sample: Sample, there: AtLengths, *, is_ample: bool = False) -> None:
        self.roomy, self.lengths, self.is_ample = roomy, np.array(there.lengths, np.int32), is_ample
        self.numbers = form.numbers_of(sample)
        self.cut = [there.of(shape) if _is_open(shape) else None for shape in roomy.results]
        self.waste = roomy.waste(there)

    def __call__(self, given: list[Any], kept: list[Any], numbers: Any) -> list[Any]:
        """Run the program."""
        read = np.array([numbers[x] if type(x) is int else x for x in self.numbers], np.float64)
        leaves = [x if shape is None else _padded(x, shape) for x, shape in zip(kept, self.roomy.padded, strict=True)]
        inputs = given, leaves, read, self.lengths
        results = as_of_now(self.roomy.execute, *inputs)(*inputs)
        return [x if shape is None else _cut(x, shape) for x, shape in zip(results, self.cut, strict=True)]


def _is_open(shape: Shape) -> bool:
    return any(map(is_symbolic, shape))


def _have_partners(given: Sequence[Any], results: Sequence[Any]) -> bool:
    """Tell whether each leaf finds a result of its shape, with the lengths open, to give its memory to."""
    wanted, there = (Counter((tuple(x.shape), x.dtype) for x in some) for some in (given, results))
    return wanted <= there


def _padded(array: Any, shape: Shape) -> Any:
    if _is_near(array):
        found = np.zeros(shape, array.dtype)
        found[tuple(map(slice, array.shape))] = np.asarray(array)
        return found
    return jnp.pad(array, [(0, size - present) for size, present in zip(shape, array.shape, strict=True)])


def _cut(array: Any, shape: Shape) -> Any:
    whole = np.asarray(array) if _is_near(array) else array
    found = whole[tuple(map(slice, shape))]
    return np.array(found) if isinstance(found, np.ndarray) else found


def _is_near(array: Any) -> bool:
    """Tell whether numpy can read the array where it is, or it is so small that it is read from the GPU as quickly.

    Padded or cut on the GPU, each length would be compiled for.
    """
    return isinstance(array, np.ndarray) or array.nbytes <= SMALL or next(iter(array.devices())).platform == "cpu"


__all__ = ["AtLength", "Roomy", "Unmaskable"]
