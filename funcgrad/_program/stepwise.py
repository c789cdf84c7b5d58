"""Runs a line one instruction at a time, each with an executable that is compiled once and serves every program.

For programs that hardly ever come back: a tree for each sentence, a coin thrown at each step, a loop that turns as
often as a sentence has words. Compiled whole a program of some hundred instructions costs a second or more that is
never earned back; one at a time nothing is compiled that has been seen before.
"""

from __future__ import annotations

import functools
import math
from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from funcgrad._base.bounded import Bounded
from funcgrad._base.config import settings
from funcgrad._program.compiling import QUICKLY, options_for
from funcgrad._program.counters import counters
from funcgrad._program.host.planning import is_small, on_host, struct_of
from funcgrad._program.host.running import INSTRUCTION, PRODUCT, own
from funcgrad._program.joining import BY_NUMPY, Numbers
from funcgrad._program.line import Argument, Loop, Recorded, Ref, Step, instructions_of
from funcgrad._program.primitives import elements_in, products_in
from funcgrad._program.single import function_of
from funcgrad._program.trie import Constant, Hole, is_open
from funcgrad._program.value import Aval

RECENT = 5  # plans that are looked back at: programs seldom come back if all of these were hardly run
_ENOUGH = 4, 1024  # likewise so many plans, if they have so many instructions together

_TURNS = 4  # readings of the same leaf by instructions of a kind: then these are turns of a loop
# A run that is not compiled whole costs _CALL seconds more for each instruction and ELEMENT for each element that is
# written; to compile it costs COMPILE for each instruction (`python -m tests.benchmarks.first_sight`). A product of two
# numbers, in matrices and convolutions, is taken to cost what it costs numpy.
_CALL, ELEMENT, COMPILE = 15e-6, 1e-9, 8e-3
# What writes so few elements, for so few products, and elements inside (a depthwise convolution has an image there for
# each place of its kernel), computes so little that how well it is compiled does not show.
_SMALL, _FEW = 1 << 16, 1 << 20
_SEPARATELY = 4  # instructions of a whole program that an executable for one is taken to cost as much as
_SEPARATELY_ON_GPU = 8  # where none of them is numpy's, nor compiled without optimisations
PAID = 4  # the part of a compile's cost that is paid for runs one at a time, before it is compiled
_PAINTED, _UNREAD = 12, 4  # instructions for each kind of op, and for each leaf, of a line that makes data of little
COSTLY = 24  # instructions that a recurrent layer takes as long to compile as
_HARDLY = 16  # parts of a whole program's compile, one of which is little beside it
_RUNS = 4  # what may run so often before a compile is worth it costs little beside that
AT_ONCE = 1  # runs: what is to be planned anew once it comes back


class Single:
    """One kind of instruction, by itself: run(arrays) -> results, views perhaps. On a CPU numpy's, where that is quick.

    seconds: that a run takes, by estimate. is_compiled: whether it can be run without a compile.
    """

    __slots__ = ("is_compiled", "run", "seconds")

    def __init__(self, step: Step, fixed: Any, kinds: Any) -> None:
        function = function_of(step.op, step.statics, fixed, kinds)
        known = [aval for aval, a in zip(step.token[2], step.arguments, strict=True) if _is_given(a)]
        given = [aval if isinstance(aval, Aval) else None for aval in known]
        structs = list(map(struct_of, given))
        hosted = on_host(function, [step], filter(None, given), structs, limits=INSTRUCTION)
        self.is_compiled = hosted is not None
        self.run: Callable[[list[Any]], Sequence[Any]]
        if hosted is None:
            elements, jaxpr = _elements(step), _traced(function, structs)
            products = products_in(jaxpr)
            few = elements <= _SMALL and max(products, elements_in(jaxpr)) <= _FEW
            options = options_for([step]) | (QUICKLY if few and jax.default_backend() == "cpu" else {})
            self.run = jax.jit(function, compiler_options=options)
            self.seconds = _CALL + ELEMENT * elements + PRODUCT * products
        else:
            self.run, self.seconds = hosted.computed, hosted.seconds

    def used(self) -> Single:
        """Return it to be run: if XLA has to compile it, that is counted."""
        counters.parts += not self.is_compiled
        self.is_compiled = True
        return self


class Kind:
    """What an instruction computes, whatever it reads, and how it is run by itself.

    joins: whether it only puts arrays together, which numpy does on a CPU without a compile. is_seen: whether a program
    has had it.
    """

    __slots__ = ("_known", "_single", "is_seen", "joins")

    def __init__(self, step: Step, fixed: Any, numbers: Any) -> None:
        self.joins = getattr(step.op, "joins", None) is not None and jax.default_backend() == "cpu"
        self.is_seen = False
        self._known, self._single = (fixed, numbers), None

    @property
    def is_compiled(self) -> bool:
        """Whether it was run by itself before, so that nothing has to be compiled to do so."""
        return self._single is not None and self._single.is_compiled

    def single(self, step: Step) -> Single:
        """Return how an instruction of this kind is run by itself."""
        if self._single is None:
            self._single = Single(step, *self._known)
        return self._single


_KINDS: Bounded[Kind] = Bounded(8192)  # by what they compute


def _kind(step: Step) -> Kind:
    """Return the kind of an instruction: what is equal for those of one token, whose fixed arguments are the same."""
    kind: Kind | None = step.kind
    if kind is None:
        fixed = tuple([None if _is_given(a) else (a.number if type(a) is Constant else a,) for a in step.arguments])
        kinds = tuple([a.kind if type(a) is Hole else type(a.number) if is_open(a) else None for a in step.arguments])
        kind = step.kind = _KINDS.found((step.token, fixed, kinds), lambda: Kind(step, fixed, kinds))
    return kind


class InSteps:
    """Called as a plan is: (given leaves, kept leaves, numbers) -> results. It takes all leaves as kept ones.

    Everything that is read lies in one list: the leaves, the numbers that stay the same, the numbers that change, the
    results. `turns` says for each instruction what it reads there, where its results begin, and what nobody reads
    afterwards. size: how many instructions there are to compile, as a whole. spare: how often it may run until that is
    worth it.
    """

    def __init__(self, line: Sequence[Step | Loop], wanted: Sequence[Argument], leaves: int, *, size: int) -> None:
        steps = [step for step in line if isinstance(step, Step)]
        assert len(steps) == len(line), "a line with loops is run as a whole"
        read = {a: None for step in steps for a in step.arguments if _is_given(a)}
        fixed = [a for a in read if isinstance(a, Constant)]
        self.fixed = [np.float64(a.number.real) for a in fixed]
        self.holes = [a.position for a in read if type(a) is Hole]
        places: dict[Argument, int] = {-1 - leaf: leaf for leaf in range(leaves)}
        for number in (*fixed, *[a for a in read if type(a) is Hole]):
            places[number] = len(places)
        begins = []
        for i, step in enumerate(steps):
            begins.append(len(places))
            places.update((Ref(i, part), len(places)) for part in range(len(step.avals)))
        last_reader = {Ref(i, part): i for i, step in enumerate(steps) for part in range(len(step.avals))}
        last_reader.update((a, i) for i, step in enumerate(steps) for a in step.arguments if type(a) is Ref)
        for argument in wanted:
            last_reader.pop(argument, None)
        unread: list[list[int]] = [[] for _ in steps]
        for argument, reader in last_reader.items():
            unread[reader].append(places[argument])
        self.turns = [
            (_executable(step), [places[a] for a in step.arguments if _is_given(a)], begin, done)
            for step, begin, done in zip(steps, begins, unread, strict=True)
        ]
        self.wanted = [places[argument] for argument in wanted]
        self.size = len(places)
        self.spare = _worth(steps, size)

    def __call__(self, given: list[Any], leaves: list[Any], numbers: Any) -> list[Any]:
        """Run the instructions in order; what nobody reads any more is let go at once."""
        values: list[Any] = [*leaves, *self.fixed, *[np.float64(numbers[i]) for i in self.holes]]
        values += [None] * (self.size - len(values))
        with np.errstate(all="ignore"):
            for execute, reads, begin, unread in self.turns:
                results = execute([values[i] for i in reads])
                values[begin : begin + len(results)] = results
                for place in unread:
                    values[place] = None
            return list(map(as_of_xla, own([values[i] for i in self.wanted], [*leaves, *self.fixed])))


def as_of_xla(result: Any) -> Any:
    """Return whole numbers as an array of XLA's, as the whole program will give them once it is compiled.

    What numpy has is moved about and looked at by numpy (see `_tensor/near.py`): the next program would become another.
    """
    return jax.device_put(result) if type(result) is np.ndarray and result.dtype.kind in "iub" else result


def _is_given(argument: Argument) -> bool:
    """Tell whether an argument is an array or a number that changes; all else is part of the executable."""
    return type(argument) in (int, Ref, Hole) or is_open(argument)


def _executable(step: Step) -> Callable[[list[Any]], Sequence[Any]]:
    """Return the instruction's function of its arrays and numbers."""
    kind = _kind(step)
    return functools.partial(_joined, step) if kind.joins else kind.single(step).used().run


def _single(step: Step) -> Single:
    return _kind(step).single(step)


def _worth(steps: Sequence[Step], size: int) -> int:
    """Return after how many runs one at a time a compile of the whole is worth it: when they cost a share of that."""
    seconds = sum(_CALL if _kind(step).joins else _single(step).seconds for step in steps)
    at_least = max(seconds, _CALL)  # of copies alone, which the caller makes, an instruction has nothing to do
    return 1 + int(COMPILE * size / (PAID * at_least))


def _joined(step: Step, arrays: list[Any]) -> list[Numbers]:
    return [BY_NUMPY[step.op.name](list(map(np.asarray, arrays)), step.statics, step.avals[0])]


def _elements(step: Step) -> int:
    """Return how many elements an instruction writes, those that it only hands on inside included."""
    avals = getattr(step.op, "written", step.avals)
    return sum(math.prod(aval.shape) for aval in avals)


def _traced(function: Any, structs: list[Any]) -> Any:
    with jax.enable_x64(True):
        return function.trace(structs).jaxpr.jaxpr


def are_known(line: Sequence[Step | Loop]) -> bool:
    """Tell whether each instruction has an executable already, so that nothing has to be compiled to run them."""
    return all(isinstance(step, Step) and (_kind(step).joins or _kind(step).is_compiled) for step in line)


def costs_little(line: Sequence[Step | Loop]) -> bool:
    """Tell whether to run a line an instruction at a time, now and then, costs little beside a compile of the whole.

    Most of its instructions must be numpy's or compiled already, and none may have much to compute.
    """
    steps = [step for step in line if isinstance(step, Step)]
    if len(steps) < len(line) or not settings.host:
        return False
    new = {_kind(step): step for step in steps if not (_kind(step).joins or _single(step).is_compiled)}
    compiled = _SEPARATELY * len(new) + COSTLY * sum(map(is_costly, new.values()))
    return compiled <= len(steps) and _worth(steps, sum(map(instructions_of, steps))) >= _RUNS


def is_nearly_known(line: Sequence[Step | Loop], size: int) -> bool:
    """Tell whether nearly each instruction of a line has an executable already: what is new is soon compiled.

    size: how many instructions there are to compile, as a whole.
    """
    steps = [step for step in line if isinstance(step, Step) and not _kind(step).joins]
    new = {_kind(step): step for step in steps if not _kind(step).is_compiled}
    compiled = _SEPARATELY * len(new) + COSTLY * sum(map(is_costly, new.values()))
    return _HARDLY * compiled <= size and costs_little(line)


def needs_no_compile(line: Sequence[Step | Loop], free: Sequence[int]) -> bool:
    """Tell whether a line can be run an instruction at a time without a compile, and costs little so a few times.

    free: the leaves that nobody holds. Not so one that reads many that somebody does, as weights that are averaged in
    each step: it comes back.
    """
    held = {a for step in line for a in step.arguments if type(a) is int}.difference(-1 - leaf for leaf in free)
    if len(line) < _UNREAD * len(held) or not runs_on_host(line):
        return False
    steps = [step for step in line if isinstance(step, Step)]
    return _worth(steps, sum(map(instructions_of, steps))) >= _RUNS


def runs_on_host(line: Sequence[Step | Loop]) -> bool:
    """Tell whether each instruction of a line can be run by itself without a compile."""
    steps = [step for step in line if isinstance(step, Step)]
    if len(steps) < len(line) or not settings.host:
        return False
    kinds = {_kind(step): step for step in steps if not _kind(step).joins}
    return all(_single(step).is_compiled for step in kinds.values())


def is_costly(call: Recorded | Step) -> bool:
    """Tell whether a call takes as long to compile as many others: a recurrent layer does."""
    return getattr(call.op, "keep", None) == "residuals"


def is_novel(line: Sequence[Step | Loop]) -> bool:
    """Tell whether too many instructions are of kinds that no program had before, which may not come back either.

    Each needs an executable of its own; but not those that numpy runs.
    """
    steps = [step for step in line if isinstance(step, Step) and not _kind(step).joins and not is_small([step], ())]
    kinds = set(map(_kind, steps))
    return _SEPARATELY * sum(not (kind.is_compiled or kind.is_seen) for kind in kinds) > len(line)


def cost_more_than_whole(line: Sequence[Step | Loop], size: int) -> bool:
    """Tell whether executables for single instructions take longer to compile than the line. On a CPU they do not.

    size: how many instructions there are to compile, as a whole.
    """
    if jax.default_backend() == "cpu":
        return False
    kinds = set(map(_kind, [step for step in line if isinstance(step, Step)]))
    return _SEPARATELY_ON_GPU * sum(not kind.is_compiled for kind in kinds) > size


def note_kinds(line: Sequence[Step | Loop]) -> None:
    """Remember which kinds of instructions a program has."""
    for step in line:
        if isinstance(step, Step):
            _kind(step).is_seen = True


def has_turns(line: Sequence[Step | Loop]) -> bool:
    """Tell whether a line is turns of a loop written out: few kinds of instructions, which read the same leaves again.

    The layers of a deep net are few kinds too, but each reads parameters of its own.
    """
    if len({step.token for step in line}) * 2 > len(line):
        return False
    reads = [[(step.token, place, a) for place, a in enumerate(step.arguments) if type(a) is int] for step in line]
    times = Counter(read for each in reads for read in each)
    readers = sum(map(bool, reads))
    return 0 < readers <= 3 * sum(any(times[read] >= _TURNS for read in each) for each in reads)


def is_painted(line: Sequence[Step | Loop]) -> bool:
    """Tell whether a line makes much of little: few kinds of ops, many of each, which hardly read a leaf.

    So images are made up, into which boxes are painted one after another. Not so weights that are averaged, nor layers.
    """
    leaves = {a for step in line for a in step.arguments if type(a) is int}
    ops = {step.op for step in line if isinstance(step, Step)}
    return len(line) >= _PAINTED * len(ops) and len(line) >= _UNREAD * len(leaves)


_BACK = 2  # runs: what was run more often came back
_recent: tuple[deque[tuple[Any, int]], ...] = tuple(deque(maxlen=RECENT) for _ in range(2))  # short programs, long ones


def note_plan(plan: Any, instructions: int, *, is_long: bool) -> None:
    """Remember a program that was compiled whole. plan: has a count of runs."""
    _recent[is_long].append((plan, instructions))


def note_return(execute: Any) -> None:
    """Remember that what was compiled of late is run by another plan too."""
    for plan, _ in (*_recent[False], *_recent[True]):
        if plan.execute is execute:
            plan.spare -= _BACK + 1  # as if that had run it


def seldom_come_back(*, is_long: bool) -> bool:
    """Tell whether the long programs, or the short ones, compiled of late were run once or twice and not again."""
    total = 0
    for count, (plan, instructions) in enumerate(reversed(_recent[is_long]), 1):
        total += instructions
        if plan.runs > _BACK:
            return False
        if count == RECENT or (count >= _ENOUGH[0] and total >= _ENOUGH[1]):
            return True
    return False


def forget_plans() -> None:
    """Begin anew: nothing was compiled of late, nor any instruction by itself."""
    for plans in _recent:
        plans.clear()
    _KINDS.clear()
