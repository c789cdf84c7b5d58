"""Spans of a graph that come again: what each turn of a loop left behind is passed as one instruction.

An agent reads an action in each step of an episode. So each step is a program that has run before the backward pass
begins, and what it leaves is the same for all: nodes of the same kinds, joined in the same way, that saved as many
arrays. From the second of such programs on that a pass meets, all its nodes are passed together: their pull-backs are
recorded once, aside, and what these compute becomes an op (see `composite`) of the gradients that arrived, of what was
saved, numbers too, and of the sums so far of the gradients to which it adds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import compress
from typing import Any, NamedTuple

from funcgrad._base.bounded import Bounded
from funcgrad._base.dtypes import get_default_dtype
from funcgrad._program.composite import Composite
from funcgrad._program.trie import Call, can_be_input
from funcgrad._program.value import CONSTANT, Value
from funcgrad._tape.nodes import GradNode, GradSlot
from funcgrad._tape.variable import Variable

Edge = tuple[Any, int]

# To compile an instruction of so many nodes is worth it for a second program; one of twice as many for a third; ...
SMALL = 64


class Passed(NamedTuple):
    """How gradients go through a span of some shape.

    op, reads: the instruction, and the places of its inputs among the span's; -1 - place: among its numbers. gives: for
    each end that a gradient goes to, its place, and that among the op's results; -1 - place: it is this input. passed:
    which nodes are passed.
    """

    op: Composite
    reads: list[int]
    gives: list[tuple[int, int]]
    passed: list[bool]


class Span:
    """Nodes of one program that a pass goes through before all others: those at which gradients arrived, and behind.

    inputs: what it reads, each array once. arrived: the places there of gradients. numbers: all that were saved and may
    differ from span to span. first_numbers: for a node that saved some, the place of its first. entries: for each node
    at which gradients arrived, the place of each result's (None: of this none did). ends: for each edge to what is
    older, the place of what arrived there before, or None. key: equal for spans that are passed in the same way.
    """

    __slots__ = ("arrived", "ends", "entries", "first_numbers", "inputs", "key", "nodes", "numbers")

    def __init__(self, nodes: list[GradNode]) -> None:
        self.nodes = nodes
        self.inputs: list[Variable] = []
        self.arrived: set[int] = set()
        self.numbers: list[float] = []
        self.first_numbers: dict[GradNode, int] = {}
        self.entries: dict[GradNode, list[int | None]] = {}
        self.ends: dict[Edge, int | None] = {}
        self.key: tuple[Any, ...] = ()

    def read(self, places: Sequence[int]) -> list[Any]:
        """Return inputs by their places, and numbers by -1 - theirs."""
        return [self.inputs[place] if place >= 0 else self.numbers[-1 - place] for place in places]

    def release(self, passed: Sequence[bool]) -> None:
        """Let the nodes that were passed let go of what they saved."""
        for node in compress(self.nodes, passed):
            node.release()


class Kinds:
    """The kinds of the programs that one pass meets, and how many of each."""

    def __init__(self) -> None:
        self._counts: dict[Call, int] = {}
        self._ops: dict[Call, tuple[Any, ...]] = {}
        self._avals: dict[tuple[Any, ...], Any] = {}

    def earlier(self, last: Call) -> int:
        """Count a program that ends with this instruction; return how many turns of the same loop were met before.

        Programs of the same instructions that one pass met at several lengths are no turns. Of experts that get as many
        rows as there are tokens for them, some two get equally many in most steps: each choice of two would be another
        program.
        """
        before = self._counts.get(last, 0)
        self._counts[last] = before + 1
        if not before:
            path = last.path()
            self._ops[last] = ops = tuple([call.op for call in path])
            avals = tuple([call.avals for call in path])
            if self._avals.setdefault(ops, avals) != avals:
                _VARYING.found(ops, lambda: None)
        return 0 if self._ops[last] in _VARYING else before


def span_of(entries: Sequence[GradNode], pending: Mapping[Any, Sequence[Any]], next_order: int) -> Span | None:
    """Return the span that begins with these nodes; None where it has to be passed node by node.

    entries: all nodes of a program at which gradients arrived. pending: these gradients. next_order: that of the newest
    node at which some arrived and that is of another program.
    """
    span = Span([*entries])
    key, known = [get_default_dtype(), len(entries)], dict[Value, int]()
    edges = _entered(span, key, known)
    if edges is None:
        return None
    oldest = min([node.order for node in span.nodes])
    if next_order > oldest or any(type(node) is not GradSlot and node.order > oldest for node, _ in edges):
        return None
    inputs = span.inputs
    if any(variable.value.array is None and variable.value.program is not CONSTANT for variable in inputs):
        return None

    def place_of(gradient: Variable | None) -> int | None:
        if gradient is None:
            return None
        place = known.setdefault(gradient.value, len(inputs))
        if place == len(inputs):
            inputs.append(gradient)
        span.arrived.add(place)
        key.append(gradient.value.aval)
        return place

    for node in entries:
        span.entries[node] = row = [place_of(gradient) for gradient in pending[node]]
        key += row
    for edge in edges:
        node, index = edge
        span.ends[edge] = place = place_of(pending[node][index]) if node in pending else None
        key.append(place)
    span.key = tuple(key)
    are_plain = all(type(x) is Variable and type(x.value) is Value and x.value.aval.placement is None for x in inputs)
    return span if are_plain else None


def _entered(span: Span, key: list[Any], known: dict[Value, int]) -> dict[Edge, int] | None:
    """Enter all nodes behind the first ones and what they saved; return the edges to what is older.

    None: some node has hooks, or what it saved is not here. key: what the way through them depends on is added. known:
    the place of each input.
    """
    nodes, inputs = span.nodes, span.inputs
    program = nodes[0].program
    places: dict[GradNode, int] = dict(zip(nodes, range(len(nodes)), strict=True))
    edges: dict[Edge, int] = {}
    for node in nodes:
        saved = node.saved
        if type(saved) is not tuple or node.hooks or node.pre_hooks or node.retained:
            return None
        key.append(node.pullback)
        for what in saved:
            for x in what if type(what) is tuple else (what,):
                if type(x) is Variable:
                    place = known.setdefault(x.value, len(inputs))
                    if place == len(inputs):
                        inputs.append(x)
                    key.append(place)
                elif can_be_input(x):
                    span.first_numbers.setdefault(node, len(span.numbers))
                    span.numbers.append(x)
                    key.append(type(x))
                else:
                    key.append((type(x), x))
        for edge in node.edges:
            following = edge[0]
            if following.program is program:
                place = places.get(following)
                if place is None:
                    place = places[following] = len(nodes)
                    nodes.append(following)
                key.append((place, edge[1]))
            else:
                key.append(edges.setdefault(edge, len(edges)))
    return edges


SEEN: Bounded[Passed | None] = Bounded(1024)  # by the spans' keys
_VARYING: Bounded[None] = Bounded(1024)  # ops of programs that one pass met at several lengths


def forget_kinds() -> None:
    """Begin anew: no pass has met anything."""
    SEEN.clear()
    _VARYING.clear()
