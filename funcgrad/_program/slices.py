"""Takes out of a loop what it reads and writes slice by slice, so that its body does not know how long the whole is.

A loop over a sentence reads `x[:, t]`, and its backward adds the gradient of that slice to one of the whole x. Where
the number of turns varies (see `parts`), x does too, and the body would be another one for each length. So the slices
of all turns are taken before the loop, which then reads one in each turn; and the gradients of all slices, which it
leaves, are put in their places after it. Both are loops of their own, of a kind that the host runs without compiling.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeGuard

from funcgrad._program.line import Argument, Carried, Loop, Ref, Step
from funcgrad._program.tracing import parts_read

_RESULT = Ref(0, 0)


def with_slices_apart(
    line: Sequence[Step | Loop], results: Sequence[Argument]
) -> tuple[list[Step | Loop], list[Argument]]:
    """Return the same line with the slices of its loops in loops of their own, and where its results are found."""
    if not any(isinstance(step, Loop) and any(map(_takes_or_puts, step.body)) for step in line):
        return list(line), list(results)
    read = parts_read(line, results)
    made: list[Step | Loop] = []
    places: dict[Ref, Ref] = {}  # where a result is found: without its turn

    def renamed(argument: Argument) -> Argument:
        if type(argument) is not Ref:
            return argument
        return places[Ref(*argument[:2])]._replace(turn=argument.turn)

    for i, step in enumerate(line):
        step = step.reading([renamed(argument) for argument in step.arguments])
        if isinstance(step, Loop) and not only_selects(step):
            steps, parts = _Split(step, read[i], len(made)).steps()
        else:
            steps = [step]
            parts = {part: Ref(len(made), part) for part in (read[i] if isinstance(step, Loop) else _parts(step))}
        places.update((Ref(i, part), found) for part, found in parts.items())
        made += steps
    return made, [renamed(argument) for argument in results]


def _takes_or_puts(step: Step | Loop) -> bool:
    return isinstance(step, Step) and (step.op.name == "select" or getattr(step.op, "puts_at", None) is not None)


class _Addition(NamedTuple):
    """A gradient of a slice that is gathered. slice: what is put back in a turn; put, add: the instructions."""

    put: int
    add: int
    slice: Ref


class _Sum(NamedTuple):
    """A carry that gathers gradients of slices, one or several in a turn."""

    carry: int
    additions: tuple[_Addition, ...]


class _Split:
    """One loop of a line, and what can be taken out of it. read: which of its results are, and whether of each turn."""

    def __init__(self, loop: Loop, read: Mapping[Any, bool], first: int) -> None:
        self.loop, self.read, self.first = loop, read, first
        self.first_stack = loop.constants + loop.carries
        self.uses = Counter([argument for step in loop.body for argument in step.arguments] + list(loop.updates))
        self.selects = [i for i, step in enumerate(loop.body) if self._is_slice(step)]
        self.sums = [found for carry in range(loop.carries) if (found := self._sum(carry)) is not None]

    def _is_slice(self, step: Step | Loop) -> bool:
        """Tell whether it is x[n] of the same x in each turn, at another number n."""
        if isinstance(step, Loop) or step.op.name != "select":
            return False
        whole, place = step.arguments
        return type(whole) is int and -1 - whole < self.loop.constants and self._differs(place)

    def _differs(self, place: Argument) -> bool:
        """Tell whether a number is given for each turn: one that is the same in all may be an input too."""
        return type(place) is Carried and -1 - place.leaf >= self.first_stack

    def _sum(self, carry: int) -> _Sum | None:
        """Return how this carry gathers slices, if it does nothing else and only its end is read."""
        total, given = self.loop.updates[carry], -1 - self.loop.constants - carry
        if type(total) is not Ref or self.uses[given] != 1 or self.read.get(total):
            return None
        additions: list[_Addition] = []
        while total != given:
            found = self._addition(total, given)
            if found is None or (additions and total in self.read):
                return None
            addition, total = found
            additions.insert(0, addition)
        return _Sum(carry, tuple(additions)) if additions else None

    def _addition(self, total: Argument, given: Argument) -> tuple[_Addition, Argument] | None:
        """Return how a sum that nothing else reads gathers a slice, and the sum before that, which may be `given`."""
        addition = self.loop.body[total.step] if type(total) is Ref else None
        if not _is_plain_sum(addition) or self.uses[total] != 1:
            return None
        for before, added in (addition.arguments, addition.arguments[::-1]):
            part = self._slice_put(added)
            if part is not None and (before == given or type(before) is Ref):
                return _Addition(added.step, total.step, part), before
        return None

    def _slice_put(self, added: Argument) -> Ref | None:
        """Return the slice, one of this turn's own results, of which this is nothing but the slice in its place."""
        if type(added) is not Ref or self.uses[added] != 1 or added in self.read:
            return None
        put = self.loop.body[added.step]
        if isinstance(put, Loop) or getattr(put.op, "puts_at", None) is None or not self._differs(put.arguments[0]):
            return None
        part = put.arguments[-1]
        return part if type(part) is Ref and part.turn is None and part.step not in self.selects else None

    def steps(self) -> tuple[list[Step | Loop], dict[Any, Ref]]:
        """Return the loops in place of this one, and for each result of a turn where it is found now."""
        loop, count = self.loop, len(self.selects)
        place = self.first + count
        gone = {*self.selects, *[i for each in self.sums for one in each.additions for i in (one.put, one.add)]}
        kept = [i for i in range(len(loop.body)) if i not in gone]
        carries = [c for c in range(loop.carries) if c not in {each.carry for each in self.sums}]
        leaves = self._leaves(kept, carries)
        numbers = {leaf: -1 - i for i, leaf in enumerate(leaves)}
        numbers |= {Ref(step, 0): -1 - len(leaves) - i for i, step in enumerate(self.selects)}
        own = {step: i for i, step in enumerate(kept)}

        def renamed(argument: Argument) -> Argument:
            if type(argument) is Carried:
                return argument._replace(leaf=numbers[argument.leaf])
            if type(argument) is Ref and argument not in numbers:
                return argument._replace(step=own[argument.step])
            return numbers.get(argument, argument) if type(argument) in (int, Ref) else argument

        body = [loop.body[i].reading([renamed(a) for a in loop.body[i].arguments]) for i in kept]
        slices = [Ref(self.first + i, _RESULT, turn) for i in range(count) for turn in range(loop.turns)]
        given = [argument for leaf in leaves for argument in self._given(-1 - leaf)]
        constants = sum(-1 - leaf < loop.constants for leaf in leaves)
        main = Loop(body, loop.turns, constants, [renamed(loop.updates[c]) for c in carries], [*given, *slices])
        parts = {Ref(i, part): Ref(place, renamed(Ref(i, part))) for i in kept for part in _parts(loop.body[i])}
        parts |= {key: Ref(place, renamed(key)) for key in self.read if key not in parts and key.step in own}
        parts |= {Ref(step, 0): Ref(self.first + i, _RESULT) for i, step in enumerate(self.selects)}
        made: list[Step | Loop] = [*map(self._slicing, self.selects), *([main] if body else [])]
        for each in self.sums:
            sums = self._given(loop.constants + each.carry)
            for one in each.additions:
                end = Ref(self.first + len(made), Ref(1, 0))
                made.append(self._gathering(one, sums, Ref(place, renamed(one.slice))))
                parts[Ref(one.add, 0)], sums = end, [end._replace(turn=loop.turns - 1)]
        return made, parts

    def _leaves(self, kept: Sequence[int], carries: Sequence[int]) -> list[int]:
        """Return the body's leaves that are still read, and the carries, in order."""
        loop = self.loop
        read = {a.leaf if type(a) is Carried else a for i in kept for a in loop.body[i].arguments}
        read |= {-1 - loop.constants - c for c in carries} | set(loop.updates)
        held = {-1 - loop.constants - c for c in range(loop.carries)} - {-1 - loop.constants - c for c in carries}
        count = self.first_stack + len(loop.stacks)
        return [leaf for leaf in range(-1, -1 - count, -1) if leaf in read and leaf not in held]

    def _given(self, leaf: int) -> Sequence[Argument]:
        """Return what the line gives a leaf of the body: one argument, or one for each turn."""
        if leaf < self.first_stack:
            return (self.loop.arguments[leaf],)
        return self.loop.stacks[leaf - self.first_stack]

    def _slicing(self, place: int) -> Loop:
        """Return the loop that takes the slices of all turns."""
        select = self.loop.body[place]
        whole, number = select.arguments
        read = select.reading([-1, number._replace(leaf=-2)])
        arguments = [*self._given(-1 - whole), *self._given(-1 - number.leaf)]
        return Loop([read], self.loop.turns, 1, (), arguments)

    def _gathering(self, one: _Addition, initial: Sequence[Argument], slices: Ref) -> Loop:
        """Return the loop that puts what the turns left in its places."""
        loop = self.loop
        put, add = loop.body[one.put], loop.body[one.add]
        number = put.arguments[0]
        body = [put.reading([number._replace(leaf=-2), -3]), add.reading([-1, _RESULT])]
        left = [slices._replace(turn=turn) for turn in range(loop.turns)]
        return Loop(body, loop.turns, 0, [Ref(1, 0)], [*initial, *self._given(-1 - number.leaf), *left])


def _parts(step: Step | Loop) -> Iterator[Any]:
    return iter(()) if isinstance(step, Loop) else iter(range(len(step.avals)))


def only_selects(loop: Loop) -> bool:
    """Tell whether all that a loop does is to take one slice after another of something outside.

    Not one that takes the same slice of another thing in each turn (`[x[:, -1] for x in several]`).
    """
    (first, *others) = loop.body
    return (
        not others and isinstance(first, Step) and first.op.name == "select" and first.arguments[0] == -1
        and loop.constants == len(loop.stacks) == 1
    )  # fmt: skip


def only_puts(loop: Loop) -> bool:
    """Tell whether all that a loop does is to add one slice after another to something, each in its place."""
    if len(loop.body) != 2 or loop.constants or loop.updates != (Ref(1, 0),):
        return False
    put, add = loop.body
    return (
        isinstance(put, Step) and _is_plain_sum(add) and getattr(put.op, "puts_at", None) is not None
        and add.arguments == (-1, _RESULT) and put.arguments[-1] == -3
    )  # fmt: skip


def _is_plain_sum(step: Step | Loop | None) -> TypeGuard[Step]:
    """Tell whether it adds two arrays as they are: a third argument, `alpha`, would scale the second."""
    return isinstance(step, Step) and step.op.name == "add" and len(step.arguments) == 2
