"""In which turn leaves are given their gradients: each as soon as all that leads to it was passed, as in torch.

Who prints in hooks sees that order. There a ready leaf goes before every node, and a node made later before one made
earlier; of several leaves that are ready at once, the one on top of a binary heap, in which equal entries have no order
of their own. So it is followed here: what torch's graph shows for one of our nodes, in the same kind of heap.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable
from math import inf
from typing import Any

from funcgrad._tape.nodes import GradSlot, Node

Entry = tuple[float, Any]  # its priority, a node


def turns_of(roots: Iterable[Any], needed: Container[Node] | None) -> dict[Node | None, list[GradSlot]]:
    """Return the leaves behind some nodes in the order of their turns: for each node, those that follow it.

    roots: where a pass begins; a leaf among them may come first of all, after None. needed: the nodes that lead to what
    is wanted; None: all.
    """
    following, ages = _graph(roots, needed)
    missing = Counter(node for nodes in following.values() for node in nodes)
    queue: list[Entry] = []
    turns: dict[Node | None, list[GradSlot]] = {}
    passed: Node | None = None
    node: Any = None
    while True:
        for after in following.get(node, ()):
            missing[after] -= 1
            if not missing[after]:
                _push(queue, (ages[after], after))
        if not queue:
            return turns
        node = _pop(queue)[1]
        if type(node) is GradSlot:
            turns.setdefault(passed, []).append(node)
        elif isinstance(node, Node):
            passed = node


def _graph(roots: Iterable[Any], needed: Container[Node] | None) -> tuple[dict[Any, list[Any]], dict[Any, float]]:
    """Return what follows each node of torch's graph (None: the roots), and how late each was made.

    Several of torch's nodes may be drawn for one of ours. They were made just before it, the first argument's last, as
    compilers of C++ do it.
    """
    following: dict[Any, list[Any]] = {None: [*roots]}
    ages: dict[Any, float] = {}
    waiting = list(following[None])
    while waiting:
        node = waiting.pop()
        if node in ages:
            continue
        age = inf if type(node) is GradSlot else node.order
        parts, reached = [node], set()
        while parts:
            part = parts.pop()
            ages[part], age = age, age - 2.0**-10
            following[part] = found = [after for after, _ in part.next_functions if _leads_on(after, needed)]
            for after in reversed(found):
                if isinstance(after, Node):
                    reached.add(after)
                else:
                    parts.append(after)
        others = [after for after, _ in node.edges if after not in reached and _leads_on(after, needed)]
        following[node] += dict.fromkeys(others)
        waiting += [*reached, *others]
    return following, ages


def _leads_on(node: Any, needed: Container[Node] | None) -> bool:
    return node is not None and (needed is None or not isinstance(node, Node) or node in needed)


def _push(heap: list[Entry], entry: Entry) -> None:
    """Let an entry rise from the end, above all that are less."""
    heap.append(entry)
    _rise(heap, len(heap) - 1)


def _rise(heap: list[Entry], place: int) -> None:
    entry = heap[place]
    while place and heap[(place - 1) // 2][0] < entry[0]:
        heap[place] = heap[(place - 1) // 2]
        place = (place - 1) // 2
    heap[place] = entry


def _pop(heap: list[Entry]) -> Entry:
    """Take the top: its place sinks to the bottom, past the greater child (the right one of equals), for the last."""
    top, last = heap[0], heap.pop()
    if not heap:
        return top
    place, child = 0, 2
    while child <= len(heap):
        if child == len(heap) or heap[child][0] < heap[child - 1][0]:
            child -= 1
        heap[place] = heap[child]
        place, child = child, 2 * child + 2
    heap[place] = last
    _rise(heap, place)
    return top
