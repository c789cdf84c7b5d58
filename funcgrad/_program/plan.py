"""plan(program, wanted) -> Plan: how a recorded straight line is run: what repeats as loops, all as one XLA program.

A line that is long even so is run in pieces, since XLA's compile time grows faster than a line's length. What is
planned is the path of Calls in the trie; nothing of tensors, the tape or the moment of recording reaches here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import jax
import numpy as np

from funcgrad._base.config import settings
from funcgrad._program.lengths.family import Form, Sample, family_of
from funcgrad._program.lengths.masking import Unmaskable
from funcgrad._program.lengths.running import AtLength, Roomy
from funcgrad._program.lengths.symbol import Refusal, attempted, is_symbolic, room_for, symbol_of
from funcgrad._program.line import Argument, Instruction, Loop, Step, line_of
from funcgrad._program.parts import InParts, turns_vary
from funcgrad._program.pieces import InPieces
from funcgrad._program.rolling import rolled
from funcgrad._program.tracing import Tracing, parts_read
from funcgrad._program.transposes import with_waiting_transposes
from funcgrad._program.trie import Call
from funcgrad._program.value import Aval

LONG = 512  # instructions: a repeat of so many is rolled even if it has few turns
SHORT = 24  # instructions: a line of so many is compiled whole, whatever varies in it
_OFTEN = {InParts: 64, AtLength: 1024}  # runs of one number of turns, of one length: then it is compiled as it is
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
        self._on_host = isinstance(execute, (InParts, AtLength))  # these read the numbers one by one
        self._numbers: list[float] | None = None
        self._array: Any = None

    def numbers(self, given: list[float]) -> Any:
        """Return the program's numbers as an array: on the device if they are those of the last run (4 us less)."""
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
    made, note = (None, "") if is_common else _for_many_lengths(Sample(calls, leaf_avals), wanted, free)
    if made is None:
        made = _for_this_length(calls, wanted, free, leaf_avals, is_common)
        made.note = note
    return made


def _for_this_length(
    calls: Sequence[Call], wanted: Sequence[int], free: Sequence[int], leaf_avals: Sequence[Aval], is_common: bool
) -> Plan:
    line, found = line_of(calls, wanted)
    on_host = settings.turns and not is_common and all(aval.placement is None for aval in leaf_avals)
    if on_host and len(line) > SHORT:
        parted, results = rolled(line, found, 3, LONG, fold=False)
        if turns_vary(parted):
            return Plan(InParts(parted, results), (), range(len(leaf_avals)), range(len(wanted)))
    if settings.turns:
        line, found = rolled(line, found, settings.turns, LONG)
    if len(line) > settings.piece:
        return Plan(InPieces(line, found, settings.piece), (), range(len(leaf_avals)), range(len(wanted)))
    whole = Whole(line, found, wanted, donations(calls, wanted, free, leaf_avals), len(leaf_avals))
    traced = with_waiting_transposes(whole.step) if _convolves_on_cpu(line, leaf_avals) else whole.step
    return Plan(jax.jit(traced, donate_argnums=(0,)), whole.given, whole.kept, whole.order)


def _for_many_lengths(sample: Sample, wanted: Sequence[int], free: Sequence[int]) -> tuple[Plan | None, str]:
    """Return a plan that serves many lengths, if this program differs from earlier ones by a length; or why not."""
    family = family_of(sample, wanted, free)
    found = attempted(family.form_for, sample) if family else None
    if found is None or isinstance(found, Refusal):
        return None, found.reason if found else ""
    form, length = found
    room = room_for(length)
    is_new = room not in form.executables
    if is_new:
        form.executables[room] = attempted(_with_room, form, room, wanted, free)
    known = form.executables[room]
    if isinstance(known, Refusal):
        return None, f"each length is compiled: {known.reason}"
    whole, roomy = known
    note = f"compiled for lengths up to {room}" if is_new else ""
    at_length = AtLength(roomy, form, sample, length)
    return Plan(at_length, whole.given, whole.kept, whole.order, is_new=is_new, note=note), note


def _with_room(form: Form, room: int, wanted: Sequence[int], free: Sequence[int]) -> tuple[Whole, Roomy]:
    leaves, calls = form.opened(symbol_of(room))
    line, found = line_of(calls, wanted)
    if settings.turns:
        line, found = rolled(line, found, settings.turns, LONG)
    if len(line) > settings.piece:
        raise Unmaskable("the program is too long to be compiled in one piece")
    fixed = [i for i in free if not any(map(is_symbolic, leaves[i].shape))]
    whole = Whole(line, found, wanted, donations(calls, wanted, fixed, leaves), len(leaves))
    given, kept = [leaves[i] for i in whole.given], [leaves[i] for i in whole.kept]
    return whole, Roomy(whole.step, given, kept, len(form.numbers), room)


class Whole:
    """A line as one function of its leaves: `step`, with its leaves and results in the order that JAX donates in.

    JAX pairs donated inputs with results of their shape in the order of both, so partners must come in that order.
    """

    def __init__(
        self,
        line: Sequence[Step | Loop],
        found: Sequence[Argument],
        wanted: Sequence[int],
        partners: dict[int, int],
        leaves: int,
    ) -> None:
        places = {slot: place for place, slot in enumerate(wanted)}
        self.line, self.given = line, sorted(partners)
        self.kept = [i for i in range(leaves) if i not in partners]
        paired = [partners[leaf] for leaf in self.given]
        returned = [*paired, *[slot for slot in wanted if slot not in set(paired)]]
        self.order = [places[slot] for slot in returned]
        self.results = [found[place] for place in self.order]
        self.read = parts_read(line, self.results)

    def step(self, given: list[jax.Array], kept: list[jax.Array], numbers: jax.Array) -> list[jax.Array]:
        """Compute the results."""
        leaves = dict(zip(self.given, given, strict=True)) | dict(zip(self.kept, kept, strict=True))
        tracing = Tracing(leaves, numbers, self.read)
        tracing.run(self.line)
        return [tracing.get(result) for result in self.results]


def _convolves_on_cpu(line: Sequence[Step | Loop], leaf_avals: Sequence[Aval]) -> bool:
    """Tell whether transposes should wait: a step of two convolutions with pooling took 12.3 ms instead of 14.1."""
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


def donations(
    calls: Sequence[Call | Instruction], wanted: Sequence[int], free: Sequence[int], leaf_avals: Sequence[Aval]
) -> dict[int, int]:
    """Return, for free leaves, the wanted result of the same shape that takes over its memory.

    The partner of a leaf comes from the call that reads it last, the first such leaf with the first such result (an
    optimizer's old and new parameter); else from a later call. A result computed before the last reading would make
    XLA copy the leaf: an MLP step whose weights were paired with their gradients took 0.95 ms instead of 0.6.
    """
    last_reader = {-1 - a: i for i, call in enumerate(calls) for a in call.arguments if type(a) is int and a < 0}
    unclaimed: dict[Aval, list[tuple[int, int]]] = defaultdict(list)  # by shape: (producing call, slot)
    for i, call in enumerate(calls):
        for slot, aval in enumerate(call.avals, call.first):
            if slot in wanted:
                unclaimed[aval].append((i, slot))
    partners: dict[int, int] = {}
    for at_once in (True, False):
        for leaf in sorted(set(free), key=lambda leaf: _first_place(calls, last_reader, leaf)):
            reader = last_reader.get(leaf)
            if leaf in partners or reader is None:
                continue
            rows = unclaimed[leaf_avals[leaf]]
            fits = (row for row in rows if row[0] == reader) if at_once else (row for row in rows if row[0] > reader)
            chosen = next(fits, None)
            if chosen is not None:
                rows.remove(chosen)
                partners[leaf] = chosen[1]
    return partners


def _first_place(calls: Sequence[Call | Instruction], last_reader: dict[int, int], leaf: int) -> tuple[int, int]:
    """Return where a leaf stands among the arguments of the call that reads it last."""
    reader = last_reader.get(leaf)
    return (-1, leaf) if reader is None else (reader, calls[reader].arguments.index(-1 - leaf))
