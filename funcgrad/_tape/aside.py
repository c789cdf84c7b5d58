"""How gradients go through a span, found once for all of its shape, in a program that is not run."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from weakref import ref

from funcgrad._program import record
from funcgrad._program.composite import composed
from funcgrad._program.record import Program, aside
from funcgrad._program.trie import can_be_input
from funcgrad._program.value import NOT_HERE, NotHere, Value
from funcgrad._tape.apply import only_record
from funcgrad._tape.nodes import Node
from funcgrad._tape.spans import Passed, Span
from funcgrad._tape.variable import Variable

if TYPE_CHECKING:
    from funcgrad._tape.engine import Pass


def recorded_aside(span: Span, walk: Pass) -> Passed | None:
    """Return how gradients go through a span; None where its nodes have to be passed one by one each time.

    walk: a pass that has not begun.
    """
    given = [
        Variable(Value(NOT_HERE, None, None, variable.aval)) if place in span.arrived else variable
        for place, variable in enumerate(span.inputs)
    ]
    numbers = _note_numbers(span, walk)
    try:
        with aside() as program:
            passed = _walked(span, walk, given)
    except NotHere:
        return None
    places = {ref(variable.value): place for place, variable in enumerate(span.inputs)}
    places |= {ref(variable.value): place for place, variable in enumerate(given)}
    reads_more = any(value not in places for _, value, _ in program.leaves)
    if program.closed or program.placement is not None or reads_more:
        return None
    ends = list(_ends(span, walk, given))
    if any(type(gradient) is not Variable for _, gradient in ends):  # a sparse one
        return None
    return _passed(span, passed, ends, program, places, numbers)


def _note_numbers(span: Span, walk: Pass) -> dict[int, range]:
    """Let a pass note which of the span's numbers each call reads, by the call's first result.

    A pull-back reads its node's in the order in which they were saved, or none of them.
    """
    numbers: dict[int, range] = {}

    def noted(op: Any, inputs: Sequence[Any], statics: tuple[Any, ...] = ()) -> list[Variable]:
        results = only_record(op, inputs, statics)
        count = sum(map(can_be_input, inputs))
        if count:
            first = span.first_numbers[walk.node]  # type: ignore[index]  # only nodes of a span have numbers
            numbers[record.thread.program.cursor.first] = range(first, first + count)
        return results

    noted.keeps_history = False  # type: ignore[attr-defined]  # as `only_record` has it
    walk.apply = noted
    return numbers


def _walked(span: Span, walk: Pass, given: Sequence[Variable]) -> set[Node]:
    """Pass the nodes one by one; return those that a gradient reached."""
    nodes, passed = set[Node](span.nodes), set[Node]()
    for node, row in span.entries.items():
        walk.pending[node] = [None if place is None else given[place] for place in row]
        heapq.heappush(walk.waiting, (-node.order, node))
    for (end, index), place in span.ends.items():
        if place is not None:
            walk.pending.setdefault(end, [None] * len(end.avals))[index] = given[place]
    while walk.waiting:
        node = heapq.heappop(walk.waiting)[1]
        if node in nodes:
            walk.pass_through(node, None)
            passed.add(node)
    return passed


def _ends(span: Span, walk: Pass, given: Sequence[Variable]) -> Iterator[tuple[int, Variable]]:
    """Yield the ends that a gradient has come to, by number, with what has gathered there."""
    for end, ((node, index), before) in enumerate(span.ends.items()):
        gradient = walk.pending[node][index] if node in walk.pending else None
        if gradient is not None and (before is None or gradient is not given[before]):
            yield end, gradient


def _passed(
    span: Span, passed: set[Node], ends: Sequence[tuple[int, Variable]], program: Program,
    places: Mapping[ref[Value], int], numbers: Mapping[int, range],
) -> Passed | None:  # fmt: skip
    """Put together what was found. places: of the inputs, and of what stood for them."""
    gives, wanted = list[tuple[int, int]](), list[int]()
    for end, gradient in ends:
        value = gradient.value
        if value.program is program:
            gives.append((end, len(wanted)))
            wanted.append(value.slot)
        elif ref(value) in places:
            gives.append((end, -1 - places[ref(value)]))
        else:
            return None
    op, inputs = composed(program, wanted, places, numbers)
    reads = [-1 - known if isinstance(known, int) else places[known] for known in inputs]
    return Passed(op, reads, gives, [node in passed for node in span.nodes])
