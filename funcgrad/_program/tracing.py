"""Computes a line while it is traced: instructions one by one, loops as `lax.scan`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from funcgrad._ops.table import Number
from funcgrad._program.fission import scanned
from funcgrad._program.in_turn import InTurn
from funcgrad._program.line import Argument, Carried, Hole, Loop, Ref, Step, arguments_of
from funcgrad._program.single import called
from funcgrad._program.trie import Constant, are_joined

_PRODUCTS = frozenset(("mul", "pow", "square"))
Parts = Mapping[Any, bool]  # of a loop: the results that are read, and whether of any turn but the last


def parts_read(steps: Sequence[Step | Loop], wanted: Iterable[Argument]) -> dict[int, dict[Any, bool]]:
    """Return for each loop of a line which of its results are read by the line itself or wanted of it."""
    read: dict[int, dict[Any, bool]] = {i: {} for i, step in enumerate(steps) if type(step) is Loop}
    for argument in (*arguments_of(steps), *wanted):
        if type(argument) is Ref and argument.turn is not None:
            parts, loop = read[argument.step], steps[argument.step]
            assert type(loop) is Loop
            parts[argument.part] = parts.get(argument.part, False) or argument.turn < loop.turns - 1
    return read


class Tracing:
    """The values of a line so far. `leaves`: what it is given, by number from 0; `numbers`: the program's.

    once: whether instructions of one kind are traced once.
    """

    def __init__(self, leaves: Any, numbers: Any, read: Mapping[int, Parts], *, once: bool = True) -> None:
        self.leaves, self.numbers, self.read, self.once = leaves, numbers, read, once
        self.values: dict[int, Any] = {}
        self.products: set[int] = set()  # instructions
        self.in_turn = InTurn()

    def run(self, steps: Sequence[Step | Loop], first: int = 0) -> None:
        """Compute instructions; `first` is the number of the first of them."""
        for i, step in enumerate(steps, first):
            if isinstance(step, Loop):
                self.values[i] = self._turned(step, self.read[i])
            elif are_joined(step.op, step.token[2]) and any(n > 1 for _, n, _ in stretches(step.arguments)):
                self.values[i] = [end_to_end(self._stacked(step.arguments), step.op.name == "stack", *step.statics)]
            elif (joined := getattr(step.op, "takes_apart", None)) is not None:
                whole = self._array(step.arguments[-1])
                count, is_stack = len(joined.arguments), joined.op.name == "stack"
                self.values[i] = taken_apart(whole, count, is_stack, *joined.statics)
            else:
                arguments = [self.get(a) for a in step.arguments]
                if step.op.name in _PRODUCTS:
                    self.products.add(i)
                elif step.op.name == "sub" and all(map(self._is_product, step.arguments)):
                    arguments = list(map(_as_rounded, arguments))
                self.values[i] = self.in_turn.run(step.op, arguments, partial(self._computed, step))

    def _computed(self, step: Step, arguments: list[Any]) -> Sequence[Any]:
        # JAX traces a layer of a deep net once, and not each, and XLA is given one function for all of its kind
        # (`python -m tests.benchmarks.loops --workloads blocks-20`).
        return called(step.op, arguments, step.statics) if self.once else step.op.call(arguments, step.statics)

    def get(self, argument: Argument) -> Any:
        """Return what an argument stands for."""
        if type(argument) is int:
            return self.leaves[-1 - argument]
        if type(argument) is Ref:
            value = self.values[argument.step][argument.part]
            stacked = argument.turn is not None and self.read[argument.step][argument.part]
            return value[argument.turn] if stacked else value
        if type(argument) is Hole:
            return Number(self.numbers[argument.position], argument.kind)
        if type(argument) is Carried:
            return Number(self.leaves[-1 - argument.leaf], argument.kind)
        return argument.number if type(argument) is Constant else argument

    def _is_product(self, argument: Argument) -> bool:
        return type(argument) is Ref and argument.turn is None and argument.step in self.products

    def _turned(self, loop: Loop, read: Parts) -> dict[Any, Any]:
        """Run a loop. Result: what is read of it, of the last turn or stacked."""
        constants = [self._array(a) for a in loop.arguments[: loop.constants]]
        initial = [self._array(a) for a in loop.initial]
        stacks = [self._stacked(stack) for stack in loop.stacks]
        last = [part for part, stacked in read.items() if not stacked and part not in loop.updates]
        each = [part for part, stacked in read.items() if stacked]
        outside = (*loop.updates, *last, *each)
        inner = parts_read(loop.body, outside)

        def turn(carry: list[Any], now: list[Any]) -> tuple[list[Any], list[Any]]:
            body = Tracing([*constants, *carry[: loop.carries], *now], self.numbers, inner, once=self.once)
            body.run(loop.body)
            results = [body.get(argument) for argument in outside]
            count = loop.carries + len(last)
            return results[:count], results[count:]

        zeros = [jnp.zeros(*loop.shape_of(part)) for part in last]
        carry, stacked = scanned(turn, [*initial, *zeros], stacks, loop.turns)
        ends = dict(zip((*loop.updates, *last), carry, strict=True))
        ends = {part: value for part, value in ends.items() if part in read and not read[part]}
        return ends | dict(zip(each, stacked, strict=True))

    def _array(self, argument: Argument) -> Any:
        found = self.get(argument)
        return found.value if type(found) is Number else found

    def _stacked(self, stack: Sequence[Argument]) -> jax.Array:
        """Return one array with an element for each turn."""
        if all(type(a) is Constant for a in stack):
            return jnp.asarray(np.array([a.number for a in stack], np.float64))
        pieces: list[jax.Array] = []
        for i, length, direction in stretches(stack):
            if length > 1:
                pieces.append(self._slice(stack[i], length, direction))
            else:
                found = self._array(stack[i])
                pieces.append(jnp.asarray(found, np.float64 if isinstance(found, (int, float)) else None)[None])
        return pieces[0] if len(pieces) == 1 else jnp.concatenate(pieces)

    def _slice(self, first: Argument, length: int, direction: int) -> jax.Array:
        """Return the results of consecutive turns of another loop, forwards or backwards, or what else is a stretch."""
        if type(first) is Hole:
            return self.numbers[first.position : first.position + length * direction : direction]
        results = self.values[first.step]
        whole, begin = (results, first.part) if first.turn is None else (results[first.part], first.turn)
        part = whole[begin : begin + length] if direction > 0 else whole[begin - length + 1 : begin + 1][::-1]
        return part if hasattr(part, "shape") else jnp.stack(part)


def _as_rounded(product: Any) -> Any:
    """Return the product such that it is not subtracted in one rounding with it: of equal products nothing remains.

    Otherwise x * x - y * y is below 0 for half of all y = x, and its root NaN. A comparison is what compilers leave.
    """
    return jnp.where(product == product, product, np.nan) if jnp.issubdtype(product.dtype, np.floating) else product


def stretches(stack: Sequence[Argument]) -> Iterator[tuple[int, int, int]]:
    """Yield where there are arguments of consecutive turns of one loop, how many, and in which direction these go.

    Likewise the results of one instruction that has many; and numbers, which may be equally far from each other.
    """
    i = 0
    while i < len(stack):
        length, direction = _stretch(stack, i) if type(stack[i]) in (Ref, Hole) else (1, 1)
        yield i, length, direction
        i += length


def _stretch(stack: Sequence[Argument], i: int) -> tuple[int, int]:
    place, direction = _place(stack[i]), 0
    if place is None:
        return 1, 1
    length = 1
    while i + length < len(stack):
        following = _place(stack[i + length])
        if following is None or following[0] != place[0]:
            break
        step = following[1] - (place[1] + direction * (length - 1))
        if (step < 1 if place[0] is Hole else abs(step) != 1) or (direction and step != direction):
            break
        direction = step
        length += 1
    return length, direction or 1


def _place(argument: Argument) -> tuple[Any, int] | None:
    if type(argument) is Hole:
        return Hole, argument.position
    if type(argument) is Ref:
        return (argument[:2], argument.turn) if argument.turn is not None else (argument.step, argument.part)
    return None


def end_to_end(stacked: Any, is_stack: bool, dim: int = 0) -> Any:
    """Return a stack (count, *shape), of numpy's or JAX's, as a stack along another dimension, or end to end."""
    ndim = stacked.ndim if is_stack else stacked.ndim - 1
    dim %= ndim
    moved = stacked.transpose([*range(1, dim + 1), 0, *range(dim + 1, stacked.ndim)])
    if is_stack:
        return moved
    count, *shape = stacked.shape
    return moved.reshape(*shape[:dim], count * shape[dim], *shape[dim + 1 :])


def taken_apart(whole: Any, count: int, is_stack: bool, dim: int = 0) -> Any:
    """Return a stack (count, *shape) of the parts that an array was made of, as a stack along `dim` or end to end."""
    dim %= whole.ndim
    if not is_stack:
        shape = whole.shape
        whole = whole.reshape(*shape[:dim], count, shape[dim] // count, *shape[dim + 1 :])
    return whole.transpose([dim, *[i for i in range(whole.ndim) if i != dim]])
