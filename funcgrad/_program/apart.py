"""A program in two: what comes before the first call with a history, and the rest.

What sets a loop up, or prepares its data, is recorded in front of the step that reads it: labels that are computed
once, an image that is flipped or not as a coin falls, a state that begins with zeros. Compiled together with the step
each of these would be another large program. Apart, the step is the same one after all of them.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any, NamedTuple

from funcgrad._ops.conditions import BY_INSTRUCTION
from funcgrad._program.line import Hole, Instruction, Recorded, token_of
from funcgrad._program.stepwise import COMPILE
from funcgrad._program.trie import Call
from funcgrad._program.value import Aval

_CALL = 60e-6  # seconds that a program more is taken to cost each run


class Part(NamedTuple):
    """Some calls of a program as a program of their own. Its leaves, numbers and results are counted from 0.

    inputs: what its leaves are in the whole: a leaf (below 0) or a result. numbers: the places of its numbers there.
    wanted: the results to return. results: what these are in the whole. free: its leaves that nobody needs afterwards.
    avals: what is known of its leaves.
    """

    calls: Sequence[Recorded]
    inputs: Sequence[int]
    numbers: Sequence[int]
    wanted: Sequence[int]
    results: Sequence[int]
    free: Sequence[int]
    avals: Sequence[Aval]

    @property
    def is_constant(self) -> bool:
        """Whether it reads nothing: no leaf, and no number that is an input."""
        read = (a for call in self.calls for a in call.arguments)
        return not any(type(a) is Hole or (type(a) is int and a < 0) for a in read)


def without_and_with_history(calls: Sequence[Call], history: int) -> tuple[list[Call], list[Call]]:
    """Return the calls before the first one with a history, whose result this is, and the rest.

    A slice before it that is taken again later belongs to the rest: the first turn of a loop begins with it. What only
    looks at data (is each index a row?) belongs to the data: numbers that the host has need no such instruction.
    """
    first = sum(call.first < history for call in calls)
    again = {token_of(call.signature) for call in calls[first:] if _is_slice(call)}
    moved, read = list[Call](), set[int]()
    before = list[Call]()
    for call in reversed(calls[:first]):
        if _is_slice(call) and token_of(call.signature) in again and call.first not in read:
            moved.append(call)
        else:
            before.append(call)
            read.update(a for a in call.arguments if type(a) is int)
    before.reverse()
    data = {slot for call in before for slot in range(call.first, call.first + len(call.avals))}
    after = moved[::-1]
    for call in calls[first:]:
        if call.op in BY_INSTRUCTION and all(a in data for a in call.arguments if type(a) is int and a >= 0):
            before.append(call)
            data.add(call.first)
        else:
            after.append(call)
    return before, after


def _is_slice(call: Call) -> bool:
    """Tell whether a call only says where to read: its op is that of a view."""
    return getattr(call.op, "write_back", None) is not None


def parts_of(
    before: Sequence[Call],
    after: Sequence[Call],
    wanted: Sequence[int],
    free: Sequence[int],
    leaf_avals: Sequence[Aval],
) -> tuple[Part, Part]:
    """Return both as programs of their own."""
    slots = {slot: aval for call in before for slot, aval in enumerate(call.avals, call.first)}
    names = _Names(slots)
    rest = [names.renamed(call) for call in after]
    inputs, kept = names.inputs, set(wanted)
    handed_on = [slot for slot in slots if slot in kept or slot in inputs]
    numbers = range(1 + max([a.position for call in before for a in call.arguments if type(a) is Hole], default=-1))
    results = [slot for slot in wanted if slot not in slots]
    leaves = range(-1, -1 - len(leaf_avals), -1)
    return (
        Part(before, leaves, numbers, handed_on, handed_on, [i for i in free if -1 - i not in inputs], leaf_avals),
        Part(
            rest,
            list(inputs),
            list(names.numbers),
            [names.results[slot] for slot in results],
            results,
            [place for a, place in inputs.items() if (a not in kept if a >= 0 else -1 - a in free)],
            [slots[a] if a >= 0 else leaf_avals[-1 - a] for a in inputs],
        ),
    )


class _Names:
    """What the second part calls leaves, numbers and results of the whole. slots: the results of the first part."""

    def __init__(self, slots: Container[int]) -> None:
        self.slots = slots
        self.inputs: dict[int, int] = {}
        self.numbers: dict[int, int] = {}
        self.results: dict[int, int] = {}

    def renamed(self, call: Call) -> Instruction:
        """Return a call by the part's own names."""
        arguments = tuple(map(self._renamed, call.arguments))
        first = len(self.results)
        self.results.update((slot, first + i) for i, slot in enumerate(range(call.first, call.first + len(call.avals))))
        assert call.signature is not None
        return Instruction(call.signature, arguments, first)

    def _renamed(self, argument: Any) -> Any:
        if type(argument) is Hole:
            return Hole(self.numbers.setdefault(argument.position, len(self.numbers)), argument.kind)
        if type(argument) is not int:
            return argument
        if argument < 0 or argument in self.slots:
            return -1 - self.inputs.setdefault(argument, len(self.inputs))
        return self.results[argument]


class InTwo:
    """Called as a plan is: (given leaves, kept leaves, numbers) -> results, in the order of those wanted.

    parts: each with its plan. given, kept: which leaves of the whole go into which list. rents: whether the second part
    has no executable of its own yet. What the first part gives is kept where it depends on nothing.
    """

    def __init__(self, parts: Sequence[tuple[Part, Any]], wanted: Sequence[int], leaves: int) -> None:
        self.parts, self.rents = parts, parts[-1][1].spare > 0
        donated = {part.inputs[i] for part, plan in parts for i in plan.given}
        self.given = [leaf for leaf in range(leaves) if -1 - leaf in donated]
        self.kept = [leaf for leaf in range(leaves) if -1 - leaf not in donated]
        places = {-1 - leaf: place for place, leaf in enumerate((*self.given, *self.kept))}
        self.reads: list[tuple[list[int], list[int]]] = []
        for part, plan in parts:
            self.reads.append(
                ([places[part.inputs[i]] for i in plan.given], [places[part.inputs[i]] for i in plan.kept])
            )
            for place in plan.order:
                places[part.results[place]] = len(places)
        self.wanted = [places[slot] for slot in wanted]
        first = parts[0][0]
        self._is_constant = first.is_constant and not set(first.results) & set(wanted)
        self._constants: list[Any] = []
        second, plan = parts[-1]
        self._from_first = {place for place in plan.given if self._is_constant and second.inputs[place] >= 0}

    def __call__(self, given: Sequence[Any], kept: Sequence[Any], numbers: Any) -> list[Any]:
        """Run both parts, one after the other."""
        values = [*given, *kept]
        values += self._constants or self._run(0, values, numbers, ())
        if self._is_constant:
            self._constants = values[len(given) + len(kept) :]
        values += self._run(1, values, numbers, self._from_first)
        return [values[place] for place in self.wanted]

    def _run(self, turn: int, values: list[Any], numbers: Any, shared: Container[int]) -> Sequence[Any]:
        """Run one part. shared: its leaves that are needed again, so that copies of them are donated."""
        part, plan = self.parts[turn]
        given, kept = [[values[place] for place in places] for places in self.reads[turn]]
        plan.spare -= 1
        own = plan.numbers([float(numbers[i]) for i in part.numbers])
        return plan.execute(plan.with_copies(given, shared), kept, own)

    @property
    def last(self) -> Any:
        """What runs the second part."""
        return self.parts[-1][1].execute

    @property
    def spare(self) -> int:
        """How often it may run until a compile is worth it."""
        if self.rents:
            return self.parts[-1][1].spare
        return int(COMPILE * sum(len(part.calls) for part, _ in self.parts) / _CALL)
