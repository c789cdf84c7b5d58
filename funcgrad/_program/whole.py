"""A line as one function of its leaves, and which of these hand their memory over to which results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import jax

from funcgrad._program.line import Argument, Loop, Recorded, Step, arguments_of
from funcgrad._program.tracing import Tracing, parts_read
from funcgrad._program.value import Aval, in_any_order


class Whole:
    """A line as one function of its leaves: `step`, with its leaves and results in the order that JAX donates in.

    JAX pairs donated inputs with results of their shape in the order of both, so partners must come in that order.
    Leaves that it does not read are left out: what prepares a step's data is the same however many the step itself has.
    once: whether instructions of one kind are traced once, which needs shapes that are known.
    """

    def __init__(
        self,
        line: Sequence[Step | Loop],
        found: Sequence[Argument],
        wanted: Sequence[int],
        partners: dict[int, int],
        leaves: int,
        *,
        once: bool = True,
    ) -> None:
        self.once = once
        places = {slot: place for place, slot in enumerate(wanted)}
        self.line, self.given = line, sorted(partners)
        read = {*arguments_of(line), *found}
        self.kept = [i for i in range(leaves) if i not in partners and -1 - i in read]
        paired = [partners[leaf] for leaf in self.given]
        returned = [*paired, *[slot for slot in wanted if slot not in set(paired)]]
        self.order = [places[slot] for slot in returned]
        self.results = [found[place] for place in self.order]
        self.read = parts_read(line, self.results)

    @property
    def key(self) -> Any:
        """What it computes, and of which leaves: equal for lines that one executable serves."""
        line = tuple([(step.token, step.arguments) for step in self.line])
        return line, tuple(self.results), tuple(self.given), tuple(self.kept)

    def step(self, given: list[jax.Array], kept: list[jax.Array], numbers: jax.Array) -> list[jax.Array]:
        """Compute the results."""
        leaves = dict(zip(self.given, given, strict=True)) | dict(zip(self.kept, kept, strict=True))
        tracing = Tracing(leaves, numbers, self.read, once=self.once)
        tracing.run(self.line)
        return [tracing.get(result) for result in self.results]


def donations(
    calls: Sequence[Recorded],
    wanted: Sequence[int],
    free: Sequence[int],
    leaf_avals: Sequence[Aval],
    *,
    copies: bool = False,
) -> dict[int, int]:
    """Return, for free leaves, the wanted result of the same shape that takes over its memory.

    What an optimizer replaces has the new one as its partner, with `copies` even if somebody holds it: then a copy is
    donated. Who holds it (a copy of the model) seldom does so at the next step, which is the same program then.

    Else the partner of a leaf comes from the call that reads it last, the first such leaf with the first such result;
    else from a later call. A result computed before the last reading would make
    XLA copy the leaf: an MLP step whose weights were paired with their gradients copied every one of them.
    """
    is_wanted, shapes = set(wanted), list(map(in_any_order, leaf_avals))
    last_reader = {-1 - a: i for i, call in enumerate(calls) for a in call.arguments if type(a) is int and a < 0}
    unclaimed: dict[Aval, list[tuple[int, int]]] = defaultdict(list)  # by shape: (producing call, slot)
    for i, call in enumerate(calls):
        for slot, aval in enumerate(call.avals, call.first):
            if slot in is_wanted:
                unclaimed[in_any_order(aval)].append((i, slot))
    replaced = _replaced(calls, last_reader, is_wanted)
    partners = {leaf: slot for leaf, slot in replaced.items() if copies or leaf in free}
    for leaf, slot in partners.items():
        unclaimed[shapes[leaf]].remove((last_reader[leaf], slot))
    for at_once in (True, False):
        for leaf in sorted(set(free), key=lambda leaf: _first_place(calls, last_reader, leaf)):
            reader = last_reader.get(leaf)
            if leaf in partners or reader is None:
                continue
            rows = unclaimed[shapes[leaf]]
            fits = (row for row in rows if row[0] == reader) if at_once else (row for row in rows if row[0] > reader)
            chosen = next(fits, None)
            if chosen is not None:
                rows.remove(chosen)
                partners[leaf] = chosen[1]
    return partners


def _replaced(calls: Sequence[Recorded], last_reader: dict[int, int], wanted: set[int]) -> dict[int, int]:
    """Return, for leaves that an optimizer replaces, the results that take their places."""
    found: dict[int, int] = {}
    for i, call in enumerate(calls):
        for place, result in getattr(call.op, "replaced", _nothing)(call.statics):
            argument, slot = call.arguments[place], call.first + result
            if type(argument) is int and argument < 0 and last_reader[-1 - argument] == i and slot in wanted:
                assert call.signature is not None
                if call.signature.arguments[place] is call.avals[result]:
                    found[-1 - argument] = slot
    return found


def _nothing(_: Any) -> tuple[tuple[int, int], ...]:
    return ()


def _first_place(calls: Sequence[Recorded], last_reader: dict[int, int], leaf: int) -> tuple[int, int]:
    """Return where a leaf stands among the arguments of the call that reads it last."""
    reader = last_reader.get(leaf)
    return (-1, leaf) if reader is None else (reader, calls[reader].arguments.index(-1 - leaf))
