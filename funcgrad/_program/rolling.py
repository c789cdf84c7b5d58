"""Finds what repeats in a line and rolls it up into Loops, nested ones too, in time about linear in the line's length.

Instructions with equal tokens at a constant distance are a candidate: so many turns of a body. It is a loop if what
each argument reads is, over all turns, one of these: a result of the same turn; of a turn before (a carry); the same
thing outside; or one thing outside for each turn (a stack). Where a candidate begins inside a turn of the real loop, or
its first turns are special (a backward pass adds to gradients from its second turn on), a later beginning is tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from math import inf
from typing import Any

from funcgrad._program.line import Argument, Carried, Hole, Loop, Ref, Step, instructions_of
from funcgrad._program.trie import is_open

LONG = 512  # instructions: a repeat of so many is rolled even if it has few turns
FARTHEST = 4  # turns back that a carry may come from
BEGINNINGS = 256  # that are tried for one candidate
HEAVY = 2**14  # bytes of arrays from outside that each turn has for itself
SOME, MANY = 16, 64  # turns: steps of time if they share much; steps of time rather than layers, however heavy they are


def rolled(
    steps: Sequence[Step | Loop], wanted: Sequence[Argument], turns: int, instructions: int, *, fold: bool = True
) -> tuple[list[Step | Loop], list[Argument]]:
    """Return the line with its repeats as Loops, and where its results are found then.

    turns, instructions: a repeat is rolled if it has that many of one of them, or half as many of each, or the like
    (three turns at least). fold: numbers that are the same in each turn are part of the body; else all are read from
    outside.
    """
    line, results = list(steps), list(wanted)
    while True:
        loops = list(_loops(line, turns, instructions, fold))
        if not loops:
            return line, results
        line, results = _with_loops(line, results, loops)


class _Candidate:
    """`turns` turns of `period` instructions from `start` on."""

    def __init__(self, line: Sequence[Step | Loop], start: int, period: int, turns: int, fold: bool) -> None:
        self.line, self.start, self.period, self.turns, self.fold = line, start, period, turns, fold
        self.end = start + period * turns
        self.constants: dict[Argument, int] = {}
        self.carries: dict[tuple[Ref, int, tuple[Argument, ...]], int] = {}
        self.stacks: dict[tuple[Argument, ...], int] = {}
        self.weights: dict[int, int] = {}  # of stacks of leaves: bytes per turn
        self.shared: dict[int, int] = {}  # of leaves that all turns read: bytes

    @property
    def is_worth_it(self) -> bool:
        """Whether a loop is better than its turns one by one.

        Where each turn has parameters of its own these must be stacked: that costs each step more than it saves, and
        the compile is no quicker until there are very many of them. But turns that share more than each has for
        itself are a cell's, whose forward pass was run before: they read what it left for each of them.
        """
        own, shared = sum(self.weights.values()), sum(self.shared.values())
        return own < HEAVY or self.turns >= MANY or (self.turns >= SOME and own < shared)

    @property
    def handed_on(self) -> int:
        """How many arrays each turn hands on to the next, of those that were looked at."""
        return sum([back for _, back, _ in self.carries])

    @property
    def is_loop(self) -> bool:
        """Whether all arguments are of a kind that a loop can read."""
        return self._classed() is not None

    def hands_on_less(self, than: int) -> bool:
        """Tell whether this is a loop whose turns hand on fewer arrays than that; soon, where they do not."""
        return self._classed(than) is not None

    def loop(self) -> Loop | None:
        """Return this as a Loop; None where some argument is of no kind that a loop can read."""
        if self.turns > 8 and not _Candidate(self.line, self.start, self.period, 4, self.fold).is_loop:
            return None  # soon seen
        kinds = self._classed()
        return None if kinds is None else self._built(kinds)

    def _classed(self, most: float = inf) -> list[list[Any]] | None:
        """Return the kind of each argument; None where one has none, or where `most` arrays are handed on."""
        kinds = []
        for k in range(self.period):
            turns = [self.line[i].arguments for i in range(self.start + k, self.end, self.period)]
            row = [self._class(column) for column in zip(*turns, strict=True)]
            if None in row or self.handed_on >= most:
                return None
            kinds.append(row)
            self._weigh(self.line[self.start + k], row)
        return kinds

    def _weigh(self, step: Step | Loop, row: list[Any]) -> None:
        if isinstance(step, Step):
            for (kind, what), argument, known in zip(row, step.arguments, step.token[2], strict=True):
                if kind in ("stack", "constant") and type(argument) is int:
                    (self.weights if kind == "stack" else self.shared)[what] = known.nbytes

    def _class(self, column: tuple[Argument, ...]) -> Any:
        """Return how one argument is read over all turns: (kind, what); None where that is no kind of a loop's."""
        first = column[0]
        same = all(argument == first for argument in column)
        if type(first) is not Ref and type(first) is not int:
            return self._class_of_number(column, same)
        inside = [self._place(argument) for argument in column]
        if not any(inside):
            return ("constant", self._constant(first)) if same else ("stack", self._stack(column))
        last = inside[-1]
        if last is None:
            return None
        back = self.turns - 1 - last[0]
        if back > min(FARTHEST, self.turns - 2):
            return None
        for turn, place in enumerate(inside):
            if place != (None if turn < back else (turn - back, last[1])):
                return None
        if back == 0:
            return "local", last[1]
        return "carry", self.carries.setdefault((last[1], back, column[:back]), len(self.carries))

    def _class_of_number(self, column: tuple[Argument, ...], same: bool) -> Any:
        first = column[0]
        if type(first) is Carried:
            leaves = tuple([argument.leaf for argument in column])
            if len(set(leaves)) == 1:
                return "carried constant", (self._constant(first.leaf), first.kind)
            return "carried", (self._stack(leaves), first.kind)
        if same and type(first) is not Hole and (self.fold or not is_open(first)):
            return "as it is", first
        if not all(type(argument) is Hole or is_open(argument) for argument in column):
            return None
        kinds = {argument.kind if type(argument) is Hole else type(argument.number) for argument in column}
        if len(kinds) > 1:
            return None
        if same:
            return "carried constant", (self._constant(first), kinds.pop())
        return "carried", (self._stack(column), kinds.pop())

    def _constant(self, argument: Argument) -> int:
        return self.constants.setdefault(argument, len(self.constants))

    def _stack(self, column: tuple[Argument, ...]) -> int:
        return self.stacks.setdefault(column, len(self.stacks))

    def _place(self, argument: Argument) -> tuple[int, Ref] | None:
        """Return in which turn a result arises, and where in the body; None outside."""
        if type(argument) is int or not self.start <= argument.step < self.end:
            return None
        turn, k = divmod(argument.step - self.start, self.period)
        return turn, Ref(k, argument.part, argument.turn)

    def _built(self, kinds: list[list[Any]]) -> Loop:
        first_carry = len(self.constants)
        chains = [back for _, back, _ in self.carries]
        starts = [first_carry + sum(chains[:i]) for i in range(len(chains))]
        first_stack = first_carry + sum(chains)

        def argument(kind: str, what: Any) -> Argument:
            if kind in ("local", "as it is"):
                return what
            if kind == "constant":
                return -1 - what
            if kind == "carry":
                return -1 - (starts[what] + chains[what] - 1)
            if kind == "stack":
                return -1 - (first_stack + what)
            place, number = what
            return Carried(-1 - (place if kind == "carried constant" else first_stack + place), number)

        updates: list[Argument] = []
        initial: list[Argument] = []
        for (source, _, firsts), start in zip(self.carries, starts, strict=True):
            # a value from two turns ago is passed on once: what comes in first is read last
            updates += [source, *[-1 - (start + i) for i in range(len(firsts) - 1)]]
            initial += reversed(firsts)
        body = [self.line[self.start + k].reading([argument(*kind) for kind in row]) for k, row in enumerate(kinds)]
        arguments = [*self.constants, *initial, *[argument for stack in self.stacks for argument in stack]]
        return Loop(body, self.turns, len(self.constants), updates, arguments)


def _loops(line: Sequence[Step | Loop], turns: int, instructions: int, fold: bool) -> Iterator[tuple[_Candidate, Loop]]:
    """Yield the loops of a line from left to right, none inside another."""
    numbers: dict[Any, int] = {}
    before = [0, *accumulate(map(instructions_of, line))]
    tokens = [numbers.setdefault(step.token, len(numbers)) for step in line]
    distances = _distances(tokens)
    refused: tuple[int, int, int] | None = None
    i = done = 0
    while i < len(tokens):
        period = distances[i]
        if not period or i - period < done:
            i += 1
            continue
        start, end = _run(tokens, i, period, done)
        count = (end - start) // period
        is_new = (start, end, period) != refused
        if not is_new or count < 3 or not _are_enough(count, before[end] - before[start], turns, instructions):
            i += 1
            continue
        found = _aligned(line, start, end, period, turns, instructions, fold)
        if found is None:
            refused = start, end, period
            i = max(i + 1, end - period)  # no use to try the same run from its next instruction; another may begin here
            continue
        yield found
        i = done = found[0].end


def _are_enough(count: int, length: int, turns: int, instructions: int) -> bool:
    """Tell whether a repeat is worth a loop: many turns, or many instructions, or somewhat many of both.

    A step of a CRF, of 13 turns of 9 and of 25 instructions, compiles more quickly as loops than unrolled.
    """
    return count * instructions + length * turns >= turns * instructions


def _distances(tokens: Sequence[int]) -> list[int]:
    """Return for each instruction how far back the same two instructions stood last; 0: nowhere."""
    last: dict[tuple[int, int], int] = {}
    distances = [0] * len(tokens)
    for i in range(len(tokens) - 1):
        pair = (tokens[i], tokens[i + 1])
        if pair in last:
            distances[i] = i - last[pair]
        last[pair] = i
    return distances


def _run(tokens: Sequence[int], i: int, period: int, done: int) -> tuple[int, int]:
    """Return the longest stretch around `i` in which every token is that one period before."""
    start = i - period
    while start > done and tokens[start - 1] == tokens[start - 1 + period]:
        start -= 1
    end = i
    while end < len(tokens) and tokens[end] == tokens[end - period]:
        end += 1
    return start, end


def _aligned(
    line: Sequence[Step | Loop], start: int, end: int, period: int, turns: int, instructions: int, fold: bool
) -> tuple[_Candidate, Loop] | None:
    body = sum(map(instructions_of, line[start : start + period]))
    for shift in range(min(2 * period, BEGINNINGS)):
        count = (end - start - shift) // period
        if count < 3 or not _are_enough(count, count * body, turns, instructions):
            return None
        candidate = _Candidate(line, start + shift, period, count, fold)
        loop = candidate.loop()
        if loop is not None:
            found = _handing_on_less(candidate, end) or (candidate, loop)
            return found if found[0].is_worth_it else None
    return None


def _handing_on_less(candidate: _Candidate, end: int) -> tuple[_Candidate, Loop] | None:
    """Return the same turns begun at another instruction, where each then hands on less to the next; None if none does.

    A turn that ends by slicing the next one's input hands that on; begun with the slice, it waits for less.
    """
    best, chosen = candidate.handed_on, None
    for shift in range(1, min(candidate.period, BEGINNINGS)):
        start, turns = candidate.start + shift, candidate.turns
        if start + turns * candidate.period > end:
            break
        few = _Candidate(candidate.line, start, candidate.period, min(turns, 4), candidate.fold)
        if few.hands_on_less(best):
            other = _Candidate(candidate.line, start, candidate.period, turns, candidate.fold)
            loop = other.loop()
            if loop is not None:
                best, chosen = other.handed_on, (other, loop)
    return chosen


def _with_loops(
    line: Sequence[Step | Loop], results: Sequence[Argument], loops: Sequence[tuple[_Candidate, Loop]]
) -> tuple[list[Step | Loop], list[Argument]]:
    """Put loops in the place of their turns, and let what reads these turns read the loops."""
    places: list[tuple[int, int | None, int]] = []
    shorter: list[Step | Loop] = []
    waiting = iter(loops)
    candidate, loop = next(waiting)
    while len(places) < len(line):
        if candidate is not None and len(places) == candidate.start:
            places += [(len(shorter), k, turn) for turn in range(candidate.turns) for k in range(candidate.period)]
            shorter.append(loop)
            candidate, loop = next(waiting, (None, loop))
        else:
            places.append((len(shorter), None, 0))
            shorter.append(line[len(places) - 1])

    def moved(argument: Argument) -> Argument:
        if type(argument) is not Ref:
            return argument
        step, k, turn = places[argument.step]
        return Ref(step, argument.part, argument.turn) if k is None else Ref(step, Ref(k, *argument[1:]), turn)

    return [step.reading([*map(moved, step.arguments)]) for step in shorter], [*map(moved, results)]
