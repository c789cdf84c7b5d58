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
from funcgrad._program.line import Loop, Step, line_of
from funcgrad._program.parts import InParts, turns_vary
from funcgrad._program.pieces import InPieces
from funcgrad._program.rolling import rolled
from funcgrad._program.tracing import Tracing, parts_read
from funcgrad._program.transposes import with_waiting_transposes
from funcgrad._program.trie import Call
from funcgrad._program.value import Aval

LONG = 512  # instructions: a repeat of so many is rolled even if it has few turns
SHORT = 24  # instructions: a line of so many is compiled whole, whatever varies in it
Execute: TypeAlias = Callable[[list[Any], list[Any], Any], list[jax.Array]]


class Plan:
    """A compiled program: execute(donated leaves, other leaves, numbers) -> results, in the order that `order` says.

    given, kept: which leaves go into which list. order: for each result that comes back, its place among those wanted.
    used: when it was last run, as a count of runs.
    """

    __slots__ = ("_array", "_numbers", "execute", "given", "kept", "order", "used")

    def __init__(self, execute: Execute, given: Sequence[int], kept: Sequence[int], order: Sequence[int]) -> None:
        self.execute, self.given, self.kept, self.order = execute, tuple(given), tuple(kept), tuple(order)
        self.used = 0
        self._numbers: list[float] | None = None
        self._array: Any = None

    def numbers(self, given: list[float]) -> Any:
        """Return the program's numbers as an array: on the device if they are those of the last run (4 us less)."""
        if given != self._numbers:
            self._numbers, self._array = given, None
            return np.array(given, np.float64)
        if self._array is None:
            self._array = np.array(given, np.float64)
            if not isinstance(self.execute, InParts):  # which reads them one by one
                self._array = jax.device_put(self._array)
        return self._array


def plan(last: Call, wanted: Sequence[int], free: Sequence[int], leaf_avals: Sequence[Aval]) -> Plan:
    """Return how to run the program that ends with `last`.

    wanted: the numbers of the results to return. free: the numbers of the leaves that nobody needs afterwards, whose
    memory may be reused. leaf_avals: what is known of each leaf.
    """
    calls = needed_calls(last.path(), wanted)
    line, found = line_of(calls, wanted)
    if settings.turns and len(line) > SHORT and all(aval.placement is None for aval in leaf_avals):
        parted, results = rolled(line, found, 3, LONG, fold=False)
        if turns_vary(parted):
            return Plan(InParts(parted, results), (), range(len(leaf_avals)), range(len(wanted)))
    if settings.turns:
        line, found = rolled(line, found, settings.turns, LONG)
    places = {slot: place for place, slot in enumerate(wanted)}
    if len(line) > settings.piece:
        return Plan(InPieces(line, found, settings.piece), (), range(len(leaf_avals)), range(len(wanted)))
    partners = donations(calls, wanted, free, leaf_avals)
    given = sorted(partners)
    kept = [i for i in range(len(leaf_avals)) if i not in partners]
    # JAX pairs donated inputs with results of their shape in the order of both, so partners must come in that order
    paired = [partners[leaf] for leaf in given]
    returned = [*paired, *[slot for slot in wanted if slot not in set(paired)]]
    results = [found[places[slot]] for slot in returned]
    read = parts_read(line, results)

    def step(given_leaves: list[jax.Array], kept_leaves: list[jax.Array], numbers: jax.Array) -> list[jax.Array]:
        leaves = dict(zip(given, given_leaves, strict=True)) | dict(zip(kept, kept_leaves, strict=True))
        tracing = Tracing(leaves, numbers, read)
        tracing.run(line)
        return [tracing.get(result) for result in results]

    traced = with_waiting_transposes(step) if _convolves_on_cpu(line, leaf_avals) else step
    return Plan(jax.jit(traced, donate_argnums=(0,)), given, kept, [places[slot] for slot in returned])


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
    calls: Sequence[Call], wanted: Sequence[int], free: Sequence[int], leaf_avals: Sequence[Aval]
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


def _first_place(calls: Sequence[Call], last_reader: dict[int, int], leaf: int) -> tuple[int, int]:
    """Return where a leaf stands among the arguments of the call that reads it last."""
    reader = last_reader.get(leaf)
    return (-1, leaf) if reader is None else (reader, calls[reader].arguments.index(-1 - leaf))
