"""Runs a jaxpr with symbolic lengths on arrays that are longer than that: what lies beyond a length reaches nothing.

An array is padded at the end of each axis whose size depends on the length. What stands in the padding is arbitrary
(NaN too); the rules in `rules.py` put something harmless there where a primitive would let it reach a result. When
axes are merged, (4, n) to 4 n say, the padding is no longer at the end: the axis then keeps its factors, (4, n).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import jax.numpy as jnp
import numpy as np
from jax.extend import core
from jax.extend.core import get_opaque_trace_state

from funcgrad._program.lengths.symbol import Dimension, at, is_symbolic
from funcgrad._program.primitives import CALLS, REMADE, entered_in

Size: TypeAlias = Any  # int, or an expression of the length
Axis: TypeAlias = tuple[Size, ...] | None  # factors, of which each that is symbolic is padded; None: constant along it


class Unmaskable(Exception):  # noqa: N818 - no error: it says that each length needs a program of its own
    """What a program does with a length cannot be done with padded arrays."""


class Padded(NamedTuple):
    """An array with room for the longest length, and how each of its axes is padded."""

    array: Any
    axes: tuple[Axis, ...]


Rule: TypeAlias = Callable[["Masking", Any, list[Padded]], Sequence[Padded]]
RULES: dict[str, Rule] = {}
rule = entered_in(RULES)


class Masking:
    """lengths: the true lengths, traced. rooms: the longest that the arrays have room for."""

    def __init__(self, lengths: Sequence[Any], rooms: tuple[int, ...]) -> None:
        self.lengths, self.rooms = lengths, rooms
        self._sizes: dict[Any, int] = {}
        self._true: dict[Any, Any] = {}
        self._level: Any = None  # of tracing: where `_true` was worked out

    def size(self, size: Size) -> int:
        """Return what an expression is at the longest length: the size of an axis."""
        if not is_symbolic(size):
            return size
        found = self._sizes.get(size)
        if found is None:
            found = self._sizes[size] = at(size, self.rooms)
            if any(at(size, lengths) > found for lengths in _shorter(self.rooms)):
                raise Unmaskable("a size that falls while a length grows")
        return found

    def true(self, size: Size) -> Any:
        """Return what an expression is at the true length.

        It is worked out once: JAX asks traced lengths whether they are 0 or 1, and looks through all that was traced
        so far to say why they cannot tell.
        """
        level = get_opaque_trace_state(convention="flax")
        if level != self._level:
            self._level, self._true = level, {}
        if size not in self._true:
            self._true[size] = at(size, self.lengths)
        return self._true[size]

    def run(self, jaxpr: Any, constants: Sequence[Any], inputs: Sequence[Padded]) -> list[Padded]:
        """Compute a jaxpr's results."""
        values: dict[Any, Padded] = dict(zip(jaxpr.invars, inputs, strict=True))
        values.update((v, self.entire(x)) for v, x in zip(jaxpr.constvars, constants, strict=True))

        def read(atom: Any) -> Padded:
            return self.entire(atom.val) if isinstance(atom, core.Literal) else values[atom]

        for eqn in jaxpr.eqns:
            operands = [read(atom) for atom in eqn.invars]
            with eqn.ctx.manager:
                results = self._applied(eqn, operands)
            for variable, result in zip(eqn.outvars, results, strict=True):
                self._check(eqn, variable, result)
                values[variable] = result
        return [read(atom) for atom in jaxpr.outvars]

    def _applied(self, eqn: Any, operands: list[Padded]) -> Sequence[Padded]:
        found = RULES.get(eqn.primitive.name)
        is_call = found is not None and eqn.primitive.name in (*CALLS, *REMADE)
        if not is_call and not depends_on_length(eqn) and all(map(is_entire, operands)):
            return self.bound(eqn, [x.array for x in operands])
        if found is None:
            raise Unmaskable(f"{eqn.primitive.name} of a length that varies")
        return found(self, eqn, operands)

    def _check(self, eqn: Any, variable: Any, result: Padded) -> None:
        expected = tuple(map(self.size, variable.aval.shape))
        sizes = tuple([size if axis is None else math.prod(axis) for axis, size in
                       zip(result.axes, variable.aval.shape, strict=True)])  # fmt: skip
        if np.shape(result.array) != expected or sizes != tuple(variable.aval.shape):
            raise Unmaskable(f"{eqn.primitive.name} gives {sizes} in place of {variable.aval.shape}")

    def bound(self, eqn: Any, arrays: Sequence[Any], axes: Sequence[tuple[Axis, ...]] | None = None) -> list[Padded]:
        """Apply the primitive itself, with the longest length in its parameters. axes: of the results (entire)."""
        parameters = {name: at(value, self.rooms) for name, value in eqn.params.items()}
        found = eqn.primitive.bind(*arrays, **parameters)
        results = found if eqn.primitive.multiple_results else [found]
        if axes is None:
            return [self.entire(x) for x in results]
        return [Padded(x, a) for x, a in zip(results, axes, strict=True)]

    @staticmethod
    def entire(array: Any) -> Padded:
        """Return an array that has no padding."""
        return Padded(array, tuple([(size,) for size in np.shape(array)]))

    def axes_of(self, shape: Sequence[Size]) -> tuple[Axis, ...]:
        """Return the axes of an array of this shape that is padded at its ends."""
        return tuple([(size,) for size in shape])

    def valid(self, axis: Axis, size: Size) -> Any:
        """Return the mask of an axis: False where it is padding."""
        rest = np.arange(self.size(size), dtype=np.int32)
        factors = (size,) if axis is None else axis
        mask: Any = True
        for factor in reversed(factors):
            if is_symbolic(factor):
                mask = mask & (rest % self.size(factor) < self.true(factor))
            rest = rest // self.size(factor)
        return mask

    def masked(self, x: Padded, shape: Sequence[Size], axes: Sequence[int], fill: Any) -> Any:
        """Return the array with `fill` in the padding along these axes."""
        array = x.array
        for axis in axes:
            if is_padded(x.axes[axis], shape[axis]):
                mask = self.valid(x.axes[axis], shape[axis])
                mask = jnp.expand_dims(mask, [i for i in range(len(shape)) if i != axis])
                array = jnp.where(mask, array, jnp.asarray(fill, array.dtype))
        return array

    def arranged(self, x: Padded, position: int, size: Size, axis: Axis) -> Padded:
        """Return the same array with another arrangement of the padding along one axis."""
        present = x.axes[position]
        if axis is None or present == axis:
            return x
        axes = (*x.axes[:position], axis, *x.axes[position + 1 :])
        if present is None:
            return Padded(x.array, axes)
        places = self._counted(axis)  # for each place of the new arrangement, the element that stands there
        array = jnp.take(x.array, self._place(places, present), axis=position, mode="clip")
        assert array.shape[position] == self.size(size)
        return Padded(array, axes)

    def settled(self, x: Padded, shape: Sequence[Size]) -> Padded:
        """Return the same array with the padding of every axis at its end."""
        for position, size in enumerate(shape):
            x = self.arranged(x, position, size, (size,))
        return x

    def _counted(self, axis: tuple[Size, ...]) -> Any:
        """Return the number of the element at each place of an axis, counted without the padding."""
        places = np.arange(np.prod([self.size(factor) for factor in axis], dtype=np.int64), dtype=np.int64)
        number: Any = 0
        stride: Any = 1
        for factor in reversed(axis):
            number = number + places % self.size(factor) * stride
            places, stride = places // self.size(factor), stride * self.true(factor)
        return number

    def _place(self, numbers: Any, axis: tuple[Size, ...]) -> Any:
        """Return where the elements with these numbers stand on an axis."""
        place: Any = 0
        stride = 1
        for i, factor in reversed(list(enumerate(axis))):
            coordinate = numbers if i == 0 else numbers % self.true(factor)
            place = place + coordinate * stride
            numbers, stride = numbers // self.true(factor), stride * self.size(factor)
        return place

    def together(self, operands: Sequence[Padded], shape: Sequence[Size]) -> tuple[list[Padded], tuple[Axis, ...]]:
        """Give arrays of one shape the same arrangement of padding; where one is a number or of size 1, it stays so."""
        axes: list[Axis] = []
        shaped = [x for x in operands if len(x.axes) == len(shape)]
        for position, size in enumerate(shape):
            found = [x.axes[position] for x in shaped if x.axes[position] not in (None, (1,))]
            if not is_symbolic(size):
                axes.append((size,))
                continue
            chosen = max(found, key=len) if found else None  # type: ignore[arg-type]  # none of them is None
            axes.append(chosen)
            shaped = [x if x.axes[position] == (1,) else self.arranged(x, position, size, chosen) for x in shaped]
        arranged = iter(shaped)
        return [next(arranged) if len(x.axes) == len(shape) else x for x in operands], tuple(axes)


def _shorter(rooms: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield lengths for which there is room: each shorter by itself, and all of them."""
    for shorter in (2, *(room // 2 for room in rooms), *(room - 1 for room in rooms)):
        each = [min(shorter, room) for room in rooms]
        yield tuple(each)
        yield from ((*rooms[:i], length, *rooms[i + 1 :]) for i, length in enumerate(each))


def is_padded(axis: Axis, size: Size) -> bool:
    """Tell whether an axis of this size has padding."""
    return is_symbolic(size) if axis is None else any(map(is_symbolic, axis))


def is_entire(x: Padded) -> bool:
    """Tell whether an array has no padding."""
    return not any(axis is None or any(map(is_symbolic, axis)) for axis in x.axes)


def depends_on_length(found: Any) -> bool:
    """Tell whether an equation, a parameter or an inner jaxpr names the length."""
    if isinstance(found, Dimension):
        return True
    if isinstance(found, (tuple, list)):
        return any(map(depends_on_length, found))
    if isinstance(found, core.Jaxpr):  # since jax 0.12 closed ones are too
        return any(map(depends_on_length, found.eqns))
    if isinstance(found, core.ClosedJaxpr):
        return depends_on_length(found.jaxpr)
    if isinstance(found, core.JaxprEqn):
        shapes = [getattr(atom.aval, "shape", ()) for atom in (*found.invars, *found.outvars)]
        return depends_on_length(shapes) or depends_on_length(list(found.params.values()))
    return False


def simplest(factors: Sequence[Size]) -> tuple[Size, ...]:
    """Return the factors of an axis without those that say nothing: what pads n at its end pads 4 n so."""
    kept: list[Size] = []
    for factor in factors:
        if not is_symbolic(factor) and kept:
            kept[-1] = kept[-1] * factor
        elif is_symbolic(factor) and kept and not is_symbolic(kept[-1]) and kept[-1] == 1:
            kept[-1] = factor
        else:
            kept.append(factor)
    return tuple(kept) or (1,)
