"""Spans of a graph that come again: what each turn of a loop left behind is passed as one instruction.

An agent reads an action in each step of an episode. So each step is a program that has run before the backward pass
begins, and what it leaves is the same for all: nodes of the same kinds, joined in the same way, that saved as many
arrays. From the second of such programs on that a pass meets, all its nodes are passed together: their pull-backs are
recorded once, aside, and what these compute becomes an op (see `composite`) of the gradients that arrived, of what was
saved, and of the sums so far of the gradients to which it adds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import compress
from typing import Any, NamedTuple

from funcgrad._base.bounded import Bounded
from funcgrad._base.dtypes import get_default_dtype
from funcgrad._program.composite import Composite
from funcgrad._program.value import CONSTANT, Value
from funcgrad._tape.nodes import GradNode, GradSlot
from funcgrad._tape.variable import Variable

Edge = tuple[Any, int]


class Passed(NamedTuple):
    """How gradients go through a span of some shape.

    op, reads: the instruction, and the places of its inputs among the span's. gives: for each end that a gradient goes
    to, its place, and that among the op's results; -1 - place: it is this input. passed: which nodes are passed.
    """

    op: Composite
    reads: list[int]
    gives: list[tuple[int, int]]
    passed: list[bool]


class Span:
    """Nodes of one program that a pass goes through before all others: those at which gradients arrived, and behind.

    inputs: what it reads, each array once. arrived: the places there of gradients. entries: for each node at which some
    arrived, the place of each result's (None: of this none did). ends: for each edge to what is older, the place of
    what arrived there before, or None. key: equal for spans that are passed in the same way.
    """

    __slots__ = ("_places", "arrived", "ends", "entries", "inputs", "key", "nodes")

    def __init__(self) -> None:
        self.nodes: list[GradNode] = []
        self.inputs: list[Variable] = []
        self.arrived: set[int] = set()
        self.entries: dict[GradNode, list[int | None]] = {}
        self.ends: dict[Edge, int | None] = {}
        self.key: tuple[Any, ...] = ()
        self._places: dict[Value, int] = {}

    def release(self, passed: Sequence[bool]) -> None:
        """Let the nodes that were passed let go of what they saved."""
        for node in compress(self.nodes, passed):
            node.release()

    def place(self, variable: Variable) -> int:
        """Return the place among the inputs."""
        place = self._places.setdefault(variable.value, len(self.inputs))
        if place == len(self.inputs):
            self.inputs.append(variable)
        return place

    def place_of_gradient(self, gradient: Variable | None) -> int | None:
        """Return the place among the inputs of a gradient that arrived; None for none."""
        if gradient is None:
            return None
        place = self.place(gradient)
        self.arrived.add(place)
        return place


def span_of(entries: Sequence[GradNode], pending: Mapping[Any, Sequence[Any]], next_order: int) -> Span | None:
    """Return the span that begins with these nodes; None where it has to be passed node by node.

    entries: all nodes of a program at which gradients arrived. pending: these gradients. next_order: that of the newest
    node at which some arrived and that is of another program.
    """
    program, span = entries[0].program, Span()
    nodes, places = span.nodes, dict[GradNode, int]()
    nodes += entries
    places.update(zip(nodes, range(len(nodes)), strict=True))
    key: list[Any] = [get_default_dtype(), len(entries)]
    edges = dict[Edge, int]()
    for node in nodes:
        saved = node.saved
        if type(saved) is not tuple or node.hooks or node.pre_hooks or node.retained:
            return None
        key.append(node.pullback)
        for what in saved:
            if type(what) is Variable:
                key.append(span.place(what))
            elif type(what) is tuple:
                key += [span.place(x) if type(x) is Variable else (type(x), x) for x in what]
            else:
                key.append((type(what), what))
        for edge in node.edges:
            following = edge[0]
            if type(following) is not GradSlot and following.program is program:
                place = places.get(following)
                if place is None:
                    place = places[following] = len(nodes)
                    nodes.append(following)
                key.append((place, edge[1]))
            else:
                key.append(edges.setdefault(edge, len(edges)))
    oldest = min([node.order for node in nodes])
    if next_order > oldest or any(type(node) is not GradSlot and node.order > oldest for node, _ in edges):
        return None
    if any(not _is_here(variable) for variable in span.inputs):
        return None
    for node in entries:
        span.entries[node] = row = list(map(span.place_of_gradient, pending[node]))
        key += row
    for node, index in edges:
        span.ends[node, index] = place = span.place_of_gradient(pending[node][index] if node in pending else None)
        key.append(place)
    if any(type(x) is not Variable or type(x.value) is not Value or x.aval.placement is not None for x in span.inputs):
        return None
    key += [span.inputs[place].aval for place in sorted(span.arrived)]
    span.key = tuple(key)
    return span


def _is_here(saved: Variable) -> bool:
    return saved.value.array is not None or saved.value.program is CONSTANT


SEEN: Bounded[Passed | None] = Bounded(1024)  # by the spans' keys
