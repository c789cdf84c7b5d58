"""Searching for NaN in what pull-backs return, without running them one by one.

Beside each pull-back an instruction is recorded that looks for NaN in its gradients, and hands on which was the first.
Nobody reads that until somebody could see a consequence: a hook, a Function's own backward, a leaf's gradient.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from funcgrad._base.warning import warn
from funcgrad._ops.table import TABLE
from funcgrad._program.record import numbers_of
from funcgrad._program.value import Value
from funcgrad._tape.anomalies import remembered
from funcgrad._tape.apply import only_record
from funcgrad._tape.nodes import GradNode, Node
from funcgrad._tape.variable import Variable

_UNSEEN = "No forward pass information available. Enable detect anomaly during forward pass for more information."
_MOVES = re.compile("(T|View|UnsafeView|Transpose|Permute|Expand|Unsqueeze|Squeeze|ReshapeAlias|Clone)Backward")
_CAUSED = "Traceback of forward call that caused the error:"
_INDUCED = "Traceback of forward call that induced the previous calculation:"


class Search:
    """What came of the search of a pass, by the device that the gradients are on: they are searched there."""

    def __init__(self) -> None:
        self.searched: dict[Any, list[tuple[Any, list[int]]]] = {}  # nodes, and which of their gradients
        self.found: dict[Any, Variable] = {}

    def look_at(self, node: Any, gradients: Sequence[Variable | None]) -> None:
        """Record the search of the gradients that `node` returned. Those inside a transformation are passed by."""
        here: dict[Any, list[int]] = {}
        for position, gradient in enumerate(gradients):
            if gradient is not None and type(gradient.value) is Value and gradient.aval.differentiable:
                here.setdefault(gradient.value.aval.placement, []).append(position)
        for device, positions in here.items():
            self.searched.setdefault(device, []).append((node, positions))
            given = [self.found.get(device), *(Variable(gradients[i].value) for i in positions)]  # type: ignore[union-attr]
            (self.found[device],) = only_record(TABLE["nan_found"], given)

    def judge(self) -> None:
        """Raise RuntimeError where a gradient held a NaN; first warn with the lines of the forward call."""
        outcomes = [
            (self.searched[device], np.asarray(numbers_of(found.value)).tolist())
            for device, found in self.found.items()
        ]
        self.searched, self.found = {}, {}
        bad = [(*searched[first], where) for searched, (_, first, where) in outcomes if where]
        if bad:
            node, positions, where = max(bad, key=lambda each: each[0].order)  # the newest is passed first
            places = [position for bit, position in enumerate(positions) if where >> bit & 1]
            _, name, output = min(_returned(node, place) for place in places)
            _tell(node, name)
            raise RuntimeError(f"Function '{name}' returned nan values in its {output}th output.")


def _returned(node: Any, position: int) -> tuple[int, str, int]:
    """Return which of torch's nodes returns a gradient of ours: how far below `node` it is, its name, and its output.

    One of our nodes may stand for several of torch's. Of these it is the last that does more than move elements.
    """
    for path in _paths(node, node.edges[position]) if isinstance(node, GradNode) else ():
        computing = [(depth, *part) for depth, part in enumerate(path) if not _MOVES.match(part[0])]
        return computing[-1] if computing else (0, *path[0])
    return 0, node.name(), [place for place, _ in node.shown_inputs()].index(position)


def _paths(part: Any, edge: tuple[Any, int]) -> Iterator[list[tuple[str, int]]]:
    """Walk through the ways from a node to one of its edges by what it stands for: (name, output) of each part."""
    for output, (below, index) in enumerate(part.next_functions):
        here = (part.name(), output)
        if (below, index) == edge:
            yield [here]
        elif below is not None and not isinstance(below, Node):
            yield from ([here, *path] for path in _paths(below, edge))


def _tell(node: Any, name: str) -> None:
    """Warn with the lines that called `node` forward, and with those of the nodes that it differentiates, if any."""
    lines = remembered(node)
    told = _UNSEEN if lines is None else f"{_CAUSED}\n{lines}"
    warn(f"Error detected in {name}. {told}")
    while (node := node.metadata.get("parent")) is not None:
        lines = remembered(node)
        told = _UNSEEN if lines is None else f"{_INDUCED}\n{lines}"
        warn(f"\n\nPrevious calculation was induced by {node.name()}. {told}")
