"""A program in parts: what comes before the first call with a history, what a loss needs, and the rest.

What sets a loop up, or prepares its data, is recorded in front of the step that reads it: labels that are computed
once, an image that is flipped or not as a coin falls, a state that begins with zeros. Compiled together with the step
each of these would be another large program. Apart, the step is the same one after all of them.

Who reads the loss of a step waits for what computes it. If that is a program of its own, XLA goes on with the backward
pass and the update while Python records the next step.
"""

from __future__ import annotations

import math
from collections.abc import Container, Sequence
from itertools import chain
from typing import Any, NamedTuple

from funcgrad._base.config import settings
from funcgrad._ops.conditions import BY_INSTRUCTION
from funcgrad._program.joining import SHAPING, SMALL
from funcgrad._program.line import Hole, Instruction, Recorded, needed_calls, takes_rows, token_of
from funcgrad._program.process import computes_on_cpu
from funcgrad._program.renting import as_of_now
from funcgrad._program.trie import Call
from funcgrad._program.value import Aval

PIECES = 32  # views of one tensor that a program gives away: more are taken one by one


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
    looks at data (is each index a row?) belongs to the data: numbers that the host has need no such instruction. Nor do
    they to be shown in another shape, as a mask that numpy has made once and that is kept.
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
        reads = [a for a in call.arguments if type(a) is int]
        looks = call.op in BY_INSTRUCTION and all(a in data for a in reads if a >= 0)
        if looks or (_shows_little(call) and data.issuperset(reads)):
            before.append(call)
            data.update(range(call.first, call.first + len(call.avals)))
        else:
            after.append(call)
    return before, after


def without_what_stays(
    data: Sequence[Call], after: Sequence[Call], wanted: Sequence[int]
) -> tuple[list[Call], list[Call]]:
    """Return the calls that make what is held and is not read whole by what follows, and the rest.

    Who holds a set and reads a few rows of it will read others in the next turn: `Y = f(X)` before a loop over `Y[i : i
    + 8]`, `X = X[order]` at the start of an epoch, `batches = X.split(8)`. What is not read at all was left by the step
    before: an average of weights, the sum of the losses so far.
    """
    whole = {a for call in (*data, *after) if not _takes_a_batch(call) for a in call.arguments if type(a) is int}
    made = {slot for call in data if call.op not in BY_INSTRUCTION for slot in _slots(call)}
    stays = made.intersection(wanted) - whole
    if not stays:
        return [], [*data, *after]
    bases = {call.arguments[0] for call in data if call.first in stays and takes_rows(call)}
    pieces = {call.first for call in data if takes_rows(call) and call.arguments[0] in bases}
    looks = {call.first for call in data if call.op in BY_INSTRUCTION}
    early = needed_calls(data, stays | pieces | looks)
    begun = set(early)
    return early, [call for call in (*data, *after) if call not in begun]


def _takes_a_batch(call: Call) -> bool:
    return takes_rows(call) or call.op.name == "index"


def _shows_little(call: Call) -> bool:
    """Tell whether numpy, where it has the array, would show it in another shape and record nothing."""
    return settings.host and call.op in SHAPING and call.avals[0].nbytes <= SMALL and computes_on_cpu()


def without_and_with_last(calls: Sequence[Call]) -> tuple[list[Call], list[Call]]:
    """Return the calls that have nothing to do with what the last one gives, and the rest.

    What nobody waited for, such as the mean of an evaluation's losses, is recorded in front of what comes next.
    """
    connected, before = _slots(calls[-1]), 0
    while len(connected) > before:
        before = len(connected)
        for call in reversed(calls):
            touched = _slots(call) | {a for a in call.arguments if type(a) is int and a >= 0}
            if not touched.isdisjoint(connected):
                connected |= touched
    return [call for call in calls if call.first not in connected], [call for call in calls if call.first in connected]


def _slots(call: Recorded) -> set[int]:
    return set(range(call.first, call.first + len(call.avals)))


def without_states(calls: Sequence[Call], wanted: Sequence[int]) -> tuple[list[Call], list[Call]]:
    """Return the constants that may be a loop's state in its first turn, and the rest.

    Such a state begins with zeros; from the second turn on the program reads what the turn before returned. So it is a
    constant of the shape and dtype of a result, and not a single number.
    """
    returned = set(wanted)
    computing = [call for call in calls if call.op not in BY_INSTRUCTION]
    given = {aval for call in computing for slot, aval in enumerate(call.avals, call.first) if slot in returned}
    states = [call for call in calls if _is_constant(call) and all(a.shape and a in given for a in call.avals)]
    begun = set(states)
    return states, [call for call in calls if call not in begun]


def without_pieces(calls: Sequence[Recorded]) -> tuple[list[Recorded], list[Recorded]]:
    """Return the calls that compute something, and those that give away what is gone over: views that nothing reads.

    These are many views of little: the turns of an episode may end in a view each, which is another thing.
    """
    pieces: set[int] = set()  # by their first results
    read: set[int] = set()
    given: set[int] = set()  # what is gone over
    for call in reversed(calls):
        bases = [a for a in call.arguments if type(a) is int]
        if _is_slice(call) and read.isdisjoint(_slots(call)):
            pieces.add(call.first)
            given.difference_update(_slots(call))
            given.update(bases)
        else:
            read.update(bases)
    if len(pieces) <= PIECES * len(given):
        return list(calls), []
    return [x for x in calls if x.first not in pieces], [x for x in calls if x.first in pieces]


def _is_constant(call: Call) -> bool:
    """Tell whether a call reads nothing."""
    return not any(type(a) is Hole or type(a) is int for a in call.arguments)


def _is_slice(call: Recorded) -> bool:
    """Tell whether a call only says where to read: its op is that of a view."""
    return getattr(call.op, "write_back", None) is not None


def parts_of(
    before: Sequence[Recorded],
    after: Sequence[Recorded],
    wanted: Sequence[int],
    free: Sequence[int],
    leaf_avals: Sequence[Aval],
) -> tuple[Part, Part]:
    """Return both as programs of their own."""
    slots = {slot: aval for call in before for slot, aval in enumerate(call.avals, call.first)}
    names = _Names(slots)
    rest = [names.renamed(call) for call in after]
    inputs, kept, given_up = names.inputs, set(wanted), set(free)
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
            [place for a, place in inputs.items() if (a not in kept if a >= 0 else -1 - a in given_up)],
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

    def renamed(self, call: Recorded) -> Instruction:
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


class InStages:
    """A program as several that run one after the other; each reads leaves and what earlier ones gave.

    stages: parts, each with its plan. What the first gives is kept where it depends on nothing. renting: the places of
    those that have no executable of their own yet. spare: how often it may run until one of these is worth a compile,
    or, if there are none, the whole is; below 0: it stays as it is.
    """

    def __init__(
        self, stages: Sequence[tuple[Part, Any]], wanted: Sequence[int], leaves: int, *, spare: int = -1
    ) -> None:
        self.stages = tuple(stages)
        places: dict[Any, int] = {-1 - leaf: leaf for leaf in range(leaves)}
        self.reads: list[tuple[list[int], list[int]]] = []
        for part, plan in stages:
            given, kept = [[places[part.inputs[i]] for i in read] for read in (plan.given, plan.kept)]
            self.reads.append((given, kept))
            for place in plan.order:
                places[part.results[place]] = len(places)
        self.wanted = [places[slot] for slot in wanted]
        self.donated = sum(place < leaves for given, _ in self.reads for place in given)
        first, plan = stages[0]
        is_constant = first.is_constant and not set(first.results) & set(wanted)
        self._lasting = range(leaves, leaves + len(plan.order) if is_constant else leaves)
        self._constants: Sequence[Any] = ()
        once = int(is_constant)
        self.renting = [turn for turn, (_, plan) in enumerate(self.stages) if turn >= once and plan.spare > 0]
        self.whole = spare
        self.spare = min([self.stages[turn][1].spare for turn in self.renting], default=spare)

    @property
    def due(self) -> list[int]:
        """The places of the stages that are worth a compile first."""
        spares = [self.stages[turn][1].spare for turn in self.renting]
        return [turn for turn, spare in zip(self.renting, spares, strict=True) if spare <= min(spares)]

    def run(
        self, begun: list[Sequence[Any]], leaves: Sequence[Any], numbers: Sequence[float], shared: Container[int]
    ) -> list[Any]:
        """Run the stages that have not run yet; return what is wanted of all.

        begun: what each stage gave, so that nothing is lost when the next is interrupted. shared: leaves that others
        hold too.
        """
        values = [*leaves, *chain.from_iterable(begun)]
        for turn in range(len(begun), len(self.stages)):
            if turn == 0 and self._constants:
                begun.append(self._constants)
            else:
                part, plan = self.stages[turn]
                reads, kept = self.reads[turn]
                held = [i for i, place in zip(plan.given, reads, strict=True) if self._is_held(place, shared)]
                given = plan.with_copies([values[place] for place in reads], held)
                own = plan.numbers([numbers[i] for i in part.numbers])
                plan.spare -= 1
                inputs = given, [values[place] for place in kept], own
                # map: no Python bytecode, so no Ctrl-C, between the run and keeping its outcome
                begun.extend(map(as_of_now(plan.execute, *inputs), *[[x] for x in inputs]))
            if turn == 0 and self._lasting:
                self._constants = begun[0]
            values += begun[turn]
        return [values[place] for place in self.wanted]

    def _is_held(self, place: int, shared: Container[int]) -> bool:
        return place in shared or place in self._lasting

    def unread(self, begun: Sequence[Sequence[Any]], leaves: Sequence[Any]) -> list[Any]:
        """Return the leaves that the stages which have not run yet read."""
        left = self.reads[len(begun) :]
        return [leaves[place] for both in left for read in both for place in read if place < len(leaves)]


def flattened(part: Part, stages: Sequence[tuple[Part, Any]]) -> list[tuple[Part, Any]]:
    """Return the stages of a part as stages of the whole."""
    names = dict(zip(part.wanted, part.results, strict=True))
    inside = object()  # the name, with a result's number, of what the stages hand on among themselves

    def named(a: Any) -> Any:
        return part.inputs[-1 - a] if type(a) is int and a < 0 else names.get(a, (inside, a))

    return [
        (
            one._replace(
                inputs=[named(a) for a in one.inputs],
                numbers=[part.numbers[i] for i in one.numbers],
                results=[named(slot) for slot in one.results],
            ),
            plan,
        )
        for one, plan in stages
    ]


def loss_first(part: Part, loss: int, least: int) -> tuple[Part, Part] | None:
    """Return a training step as what its loss needs, and the rest; None where the rest is too little to gain by it.

    Numbers that hardly need more than the loss come with it (how many answers are right). least: elements that the rest
    writes.
    """
    updates = [call for call in part.calls if hasattr(call.op, "replaced")]
    first = needed_calls(part.calls, [loss])
    if not updates or updates[0] in first:
        return None
    losses, enough = [loss], 1.1 * work(first)
    for call in part.calls:
        for slot, aval in enumerate(call.avals, call.first):
            if slot in part.wanted and aval.shape == () and call not in updates:
                needed = needed_calls(part.calls, [*losses, slot])
                if work(needed) <= enough:
                    first, losses = needed, [*losses, slot]
    early = {call.first for call in first}
    rest = [call for call in part.calls if call.first not in early]
    return None if work(rest) < least else parts_of(first, rest, part.wanted, part.free, part.avals)


def work(calls: Sequence[Recorded]) -> int:
    """Return how many elements calls write."""
    return sum(math.prod(aval.shape) for call in calls for aval in call.avals)
