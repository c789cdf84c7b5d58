"""plan(program, wanted) -> Plan: how a recorded straight line is run: what repeats as loops, all as one XLA program.

A line that is long even so is run in pieces, since XLA's compile time grows faster than a line's length. What is
planned is the path of Calls in the trie; nothing of tensors, the tape or the moment of recording reaches here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import jax
import numpy as np

from funcgrad._base.config import settings
from funcgrad._program.counters import counters
from funcgrad._program.lengths.family import Sample
from funcgrad._program.lengths.planning import Served, for_many_lengths
from funcgrad._program.lengths.running import AtLength
from funcgrad._program.line import Loop, Step, line_of
from funcgrad._program.parts import InParts, turns_vary
from funcgrad._program.pieces import InPieces
from funcgrad._program.rolling import LONG, rolled
from funcgrad._program.stepwise import InSteps, are_known, note_plan, seldom_come_back
from funcgrad._program.transposes import with_waiting_transposes
from funcgrad._program.trie import Call
from funcgrad._program.value import Aval
from funcgrad._program.whole import Whole, donations

SHORT = 24  # instructions: a line of so many is compiled whole, however often its loops turn
FEW = 4  # instructions: a line of so many is compiled whole, even if it will not come back
_OFTEN = {InParts: 64, AtLength: 1024, InSteps: 32}  # runs of one program: then it is compiled whole, as it is
Execute: TypeAlias = Callable[[list[Any], list[Any], Any], list[jax.Array]]


class Plan:
    """A compiled program: execute(donated leaves, other leaves, numbers) -> results, in the order that `order` says.

    given, kept: which leaves go into which list. order: for each result that comes back, its place among those wanted.
    used: when it was last run, as a count of runs. spare: how often it may run until the program is worth a compile of
    its own (below 0: it has one). is_new: whether there was something to compile. note: what to say of the lengths that
    vary in it.
    """

    __slots__ = (
        "_array", "_numbers", "_on_host", "execute", "given", "is_new", "kept", "note", "order", "spare", "used",
    )  # fmt: skip

    def __init__(
        self,
        execute: Execute,
        given: Sequence[int],
        kept: Sequence[int],
        order: Sequence[int],
        *,
        is_new: bool = True,
        note: str = "",
    ) -> None:
        self.execute, self.given, self.kept, self.order = execute, tuple(given), tuple(kept), tuple(order)
        self.used, self.is_new, self.note = 0, is_new, note
        self.spare = next((often for kind, often in _OFTEN.items() if isinstance(execute, kind)), -1)
        self._on_host = isinstance(execute, tuple(_OFTEN))  # these read the numbers one by one
        self._numbers: list[float] | None = None
        self._array: Any = None

    @property
    def runs(self) -> int:
        """How often a program with an executable of its own was run."""
        return -1 - self.spare

    def numbers(self, given: list[float]) -> Any:
        """Return the program's numbers as an array: on the device if they are those of the last run."""
        if given != self._numbers:
            self._numbers, self._array = given, None
            return np.array(given, np.float64)
        if self._array is None:
            self._array = np.array(given, np.float64)
            if not self._on_host:
                self._array = jax.device_put(self._array)
        return self._array


def plan(
    last: Call, wanted: Sequence[int], free: Sequence[int], leaf_avals: Sequence[Aval], *, is_common: bool = False
) -> Plan:
    """Return how to run the program that ends with `last`. is_common: it was run so often that it is compiled as it is.

    wanted: the numbers of the results to return. free: the numbers of the leaves that nobody needs afterwards, whose
    memory may be reused. leaf_avals: what is known of each leaf.
    """
    calls = needed_calls(last.path(), wanted)
    served = None if is_common else for_many_lengths(Sample(calls, leaf_avals), wanted, free)
    if isinstance(served, Served):
        whole, note = served.whole, f"compiled for lengths up to {' x '.join(map(str, served.execute.roomy.rooms))}"
        return Plan(served.execute, whole.given, whole.kept, whole.order, is_new=served.is_new, note=note)
    made = _for_this_length(calls, wanted, free, leaf_avals, is_common)
    if served:
        made.note = f"each length is compiled: {served.reason}"
    return made


def _for_this_length(
    calls: Sequence[Call], wanted: Sequence[int], free: Sequence[int], leaf_avals: Sequence[Aval], is_common: bool
) -> Plan:
    line, found = line_of(calls, wanted)
    compiled = counters.parts
    is_long = len(line) > SHORT
    may_vary = settings.turns and not is_common and all(aval.placement is None for aval in leaf_avals)
    if is_long and may_vary:
        parted, results = rolled(line, found, 3, LONG, fold=False)
        if turns_vary(parted):
            execute = InParts(parted, results, leaf_avals)
            is_new = counters.parts > compiled
            return Plan(execute, (), range(len(leaf_avals)), range(len(wanted)), is_new=is_new)
    if len(line) > FEW and may_vary:
        seldom = seldom_come_back()
        if seldom or are_known(line):
            why = "programs hardly ever came back of late" if seldom else "each of them is compiled already"
            note = f"run an instruction at a time, since {why}"
            execute = InSteps(line, found, len(leaf_avals))
            is_new = counters.parts > compiled
            return Plan(execute, (), range(len(leaf_avals)), range(len(wanted)), is_new=is_new, note=note)
    if settings.turns:
        line, found = rolled(line, found, settings.turns, LONG)
    if len(line) > settings.piece:
        return Plan(InPieces(line, found, settings.piece), (), range(len(leaf_avals)), range(len(wanted)))
    whole = Whole(line, found, wanted, donations(calls, wanted, free, leaf_avals), len(leaf_avals))
    traced = with_waiting_transposes(whole.step) if _convolves_on_cpu(line, leaf_avals) else whole.step
    made = Plan(jax.jit(traced, donate_argnums=(0,)), whole.given, whole.kept, whole.order)
    if is_long:
        note_plan(made, len(calls))
    return made


def _convolves_on_cpu(line: Sequence[Step | Loop], leaf_avals: Sequence[Aval]) -> bool:
    """Tell whether transposes should wait (`python -m tests.benchmarks.steps --workloads conv`)."""
    if not any(isinstance(step, Step) and "conv" in step.op.name for step in line):
        return False
    placed = (aval.placement for aval in leaf_avals if aval.placement is not None)
    device = next((next(iter(placement.device_set)) for placement in placed), None)
    return (jax.default_backend() if device is None else device.platform) == "cpu"


def needed_calls(calls: list[Call], wanted: Iterable[int]) -> list[Call]:
    """Return the calls that the wanted results depend on, in order."""
    alive = set(wanted)
    needed = []
    for call in reversed(calls):
        if any(slot in alive for slot in range(call.first, call.first + len(call.avals))):
            needed.append(call)
            alive.update(a for a in call.arguments if type(a) is int and a >= 0)
    needed.reverse()
    return needed
