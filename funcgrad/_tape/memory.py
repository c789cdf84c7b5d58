"""Backward passes recorded before: of the same graph, at the same place of the same program, only the end is looked up.

A pass over a graph that lies wholly inside the present program records a sequence of calls that follows from the shape
of the graph, and of what is wanted of it, alone. The shape is read by one quick walk, where recording its pull-backs
takes many times as long; the passes that were seen hang on the instruction after which they began.
"""

from __future__ import annotations

from collections.abc import Container, Set
from itertools import compress
from typing import Any
from weakref import ref

from funcgrad._program.record import Program, thread
from funcgrad._program.trie import Call
from funcgrad._program.value import Value
from funcgrad._tape.nodes import GradNode, GradSlot
from funcgrad._tape.variable import Variable

Edge = tuple[Any, int]


class Shape:
    """A graph inside one program: its nodes, the edges whose gradients are wanted, a key that equal graphs share."""

    __slots__ = ("ends", "key", "nodes")

    def __init__(self, key: tuple[Any, ...], nodes: list[GradNode], ends: list[Edge]) -> None:
        self.key, self.nodes, self.ends = key, nodes, ends


def shape_of(
    program: Program, node: Any, index: int, gradient: Variable, targets: Set[Edge] | None = None
) -> Shape | None:
    """Return the shape of the graph behind a root; None where it reaches beyond the program or has hooks.

    targets: the edges whose gradients are wanted; None: those of all leaves.
    """
    if gradient.value.program is not program or not isinstance(node, GradNode):
        return None
    key: list[Any] = [gradient.value.slot, index]
    nodes, places = [node], {node: 0}
    slots: dict[GradSlot, int] = {}
    for at in nodes:
        if at.program is not program or at.saved is None or at.hooks or at.pre_hooks or at.retained:
            return None
        if type(at.saved) is not tuple:  # Python makes it again, with whatever it does besides
            return None
        key.append(at.first)
        key.append(at.pullback)
        if at.pullback.reads_numbers:  # x[i]: where the gradient goes depends on i, which the program reads as an input
            key += [(type(x), x) for x in at.saved if type(x) is not Variable]
        for following, result in at.edges:
            if type(following) is GradSlot:
                place = slots.get(following)
                if place is None:
                    place = slots[following] = -1 - len(slots)
            else:
                place = places.get(following)
                if place is None:
                    if not isinstance(following, GradNode):
                        return None
                    place = places[following] = len(nodes)
                    nodes.append(following)
                key.append(result)
            key.append(place)
    if targets is None:
        return Shape(tuple(key), nodes, [(slot, 0) for slot in slots])
    found = [(slots[at] if type(at) is GradSlot else places[at], result) for at, result in targets
             if at in places or at in slots]  # fmt: skip
    found.sort()
    by_place = list(slots)
    ends = [(nodes[place] if place >= 0 else by_place[-1 - place], result) for place, result in found]
    return Shape((*key, None, *found), nodes, ends)  # None: of some edges, be it of no edge at all


class Start:
    """Where a pass began, to tell afterwards whether it can be remembered."""

    __slots__ = ("call", "leaves", "numbers", "program")

    def __init__(self, program: Program) -> None:
        self.program, self.call = program, program.cursor
        self.leaves, self.numbers = len(program.leaves), len(program.numbers)

    def remember(self, shape: Shape, gradients: list[Variable], needed: Container[Any] | None) -> None:
        """Keep where the pass ended and which results are the wanted gradients, unless it read more than the graph.

        needed: the nodes that lead to what was wanted; None: all.
        """
        program = self.program
        if thread.program is not program or (self.leaves, self.numbers) != (len(program.leaves), len(program.numbers)):
            return
        values = [gradient.value for gradient in gradients]
        if all(value.program is program for value in values):
            results = tuple([(value.slot, value.aval) for value in values])
            # in the order in which they were recorded: what a program is wanted to return is known by that order
            order = tuple(sorted(range(len(results)), key=lambda i: results[i][0]))
            passed = [needed is None or any(next_node in needed for next_node, _ in node.edges) for node in shape.nodes]
            self.call.passes[shape.key] = (program.cursor, results, order, None if all(passed) else passed)


def replay(program: Program, shape: Shape, *, retain: bool) -> list[Variable] | None:
    """Go to the end of a pass seen before and promise the wanted gradients; None if none was seen.

    retain: whether the nodes that are passed keep what they saved.
    """
    with program.lock:
        if program.closed:
            return None
        seen: tuple[Call, tuple[Any, ...], tuple[int, ...], list[bool] | None] | None
        seen = program.cursor.passes.get(shape.key)
        if seen is None:
            return None
        program.cursor, results, order, passed = seen
        values = [Value(None, program, slot, aval) for slot, aval in results]
        program.results += map(ref, map(values.__getitem__, order))
    if not retain:
        for node in shape.nodes if passed is None else compress(shape.nodes, passed):
            node.release()
    return list(map(Variable, values))
