"""Searching for NaN in what pull-backs return, without running them one by one.

Beside each pull-back an instruction is recorded that says which of its gradients hold a NaN. Nobody looks at what they
say until somebody could see a consequence: a hook, a Function's own backward, a leaf's gradient. Then the marks of all
pull-backs since the last look are read at once, and the first NaN in the order of the pass is the one that is told of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

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
    """The gradients of a pass that are not judged yet, and beside each pull-back's the mark that says which are NaN."""

    def __init__(self) -> None:
        self.gradients: dict[Any, list[tuple[Any, int]]] = {}  # (node, position), by the device that they are on
        self.marks: dict[Any, list[Variable]] = {}

    def mark(self, node: Any, gradients: Sequence[Variable | None]) -> None:
        """Record which gradients that `node` returned hold a NaN. Those inside a transformation are passed by."""
        found: dict[Any, list[tuple[int, Variable]]] = {}
        for position, gradient in enumerate(gradients):
            if gradient is not None and type(gradient.value) is Value and gradient.aval.differentiable:
                alike = found.setdefault(gradient.value.aval.placement, [])
                alike.append((position, Variable(gradient.value)))
        for device, alike in found.items():
            self.gradients.setdefault(device, []).extend((node, position) for position, _ in alike)
            marks = only_record(TABLE["holds_nan"], [variable for _, variable in alike])
            self.marks.setdefault(device, []).extend(marks)

    def judge(self) -> None:
        """Raise RuntimeError where a gradient held a NaN; first warn with the lines of the forward call."""
        gradients = [gradient for alike in self.gradients.values() for gradient in alike]
        joined = [only_record(TABLE["cat"], marks, (0,))[0].value for marks in self.marks.values()]
        self.gradients, self.marks = {}, {}  # so that the program gives what is joined alone
        nan = [one for one, is_nan in zip(gradients, chain(*map(numbers_of, joined)), strict=True) if is_nan]
        if nan:
            newest = max((node for node, _ in nan), key=lambda node: node.order)  # is passed first
            name, output = min(_returned(node, position) for node, position in nan if node is newest)[1:]
            _tell(newest, name)
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
