"""graph(loss): the recorded history of a tensor, as text, as DOT and as a picture."""

from __future__ import annotations

import html
from collections import deque
from typing import Any, NamedTuple

from funcgrad._tape.nodes import GradNode, GradSlot, Node
from funcgrad._tape.variable import Variable
from funcgrad._tensor.tensor import Tensor
from funcgrad.explain.watching import line_of, nodes_behind
from funcgrad.nn.module import Module
from funcgrad.optim.optimizer import register_optimizer_step_post_hook

_STEPS: deque[int] = deque(maxlen=100_000)  # the number of the next node after each optimizer step


def _note_step(*_: Any) -> None:
    _STEPS.append(Node().order)


register_optimizer_step_post_hook(_note_step)


class Entry(NamedTuple):
    """One node: its number in the text, torch's name, the shapes of its results, the user's line, what it keeps."""

    number: int
    name: str
    shapes: str
    line: str
    saved_bytes: int
    inputs: tuple[int, ...]
    is_leaf: bool


class Graph:
    """The history behind a tensor. Prints as text, the newest node first; in notebooks it is drawn.

    entries: all nodes. parameters: names of the leaves that it reaches. saved_bytes: held for backward, each array
    once. iterations: how many optimizer steps ago its oldest node was made: 0 for a loss that hangs on no past one.
    """

    def __init__(self, tensor: Tensor, names: dict[int, str]) -> None:
        nodes = nodes_behind(tensor)
        numbers = {node: i for i, node in enumerate(nodes)}
        self.entries = [_entry(node, numbers, names) for node in nodes]
        self.parameters = [entry.name for entry in self.entries if entry.is_leaf]
        held = {id(value): value.aval.nbytes for node in nodes for value in _saved(node)}
        self.saved_bytes = sum(held.values())
        made = [node.order for node in nodes if isinstance(node, GradNode)]
        self.iterations = sum(1 for step in _STEPS if min(made) < step <= max(made)) if made else 0

    def __repr__(self) -> str:
        rows = [
            f"[{e.number}] {e.name} {e.shapes}{f' <- {list(e.inputs)}' if e.inputs else ''}"
            f"{f'  saves {e.saved_bytes:,} bytes' if e.saved_bytes else ''}{f'  at {e.line}' if e.line else ''}"
            for e in self.entries
        ]
        tail = f"{len(rows)} nodes, {self.saved_bytes:,} bytes saved for backward, {len(self.parameters)} leaves"
        if self.iterations:
            several = "s" * (self.iterations > 1)
            tail += f"; hangs on {self.iterations} past iteration{several}: detach what is carried on"
        return "\n".join([*rows, tail])

    def dot(self) -> str:
        """Return the graph in Graphviz' language."""
        lines = ["digraph history {", "  rankdir=BT; node [shape=box, fontname=monospace, fontsize=10];"]
        for e in self.entries:
            label = "\\n".join(part.replace('"', "'") for part in (e.name, e.shapes, _short(e.line)) if part)
            filled = ", style=filled, fillcolor=lightblue" if e.is_leaf else ""
            lines.append(f'  n{e.number} [label="{label}"{filled}];')
            lines += [f"  n{i} -> n{e.number};" for i in e.inputs]
        return "\n".join([*lines, "}"])

    def svg(self) -> str:
        """Return a picture: a row for each distance from the tensor, leaves in blue."""
        depth = self._depths()
        rows: dict[int, list[Entry]] = {}
        for e in self.entries:
            rows.setdefault(depth[e.number], []).append(e)
        width, height = 190, 66
        place = {
            e.number: (10 + x * width, 10 + y * height) for y, row in sorted(rows.items()) for x, e in enumerate(row)
        }
        whole = (20 + max(len(row) for row in rows.values()) * width, 20 + len(rows) * height) if rows else (20, 20)
        parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{whole[0]}" height="{whole[1]}" font-size="11">']
        for e in self.entries:
            x, y = place[e.number]
            parts += [
                f'<line x1="{place[i][0] + 85}" y1="{place[i][1]}" x2="{x + 85}" y2="{y + 44}" stroke="#999"/>'
                for i in e.inputs
            ]
        for e in self.entries:
            x, y = place[e.number]
            parts.append(
                f'<rect x="{x}" y="{y}" width="170" height="44" rx="4" fill="{"#cfe3ff" if e.is_leaf else "#f4f4f4"}" '
                f'stroke="#666"/><text x="{x + 6}" y="{y + 14}">{html.escape(e.name)}</text>'
                f'<text x="{x + 6}" y="{y + 27}" fill="#555">{html.escape(e.shapes)}</text>'
                f'<text x="{x + 6}" y="{y + 40}" fill="#555">{html.escape(_short(e.line))}</text>'
            )
        return "".join([*parts, "</svg>"])

    _repr_svg_ = svg

    def _depths(self) -> dict[int, int]:
        depth = dict.fromkeys(range(len(self.entries)), 0)
        for e in self.entries:  # newest first, so every reader of a node comes before it
            for i in e.inputs:
                depth[i] = max(depth[i], depth[e.number] + 1)
        return depth


def graph(loss: Tensor, model: Module | None = None) -> Graph:
    """Return the history behind a tensor. model: whose names the parameters get. Lines are known under `lines()`."""
    names = {id(p): name for name, p in model.named_parameters()} if model is not None else {}
    return Graph(loss, names)


def _entry(node: Any, numbers: dict[Any, int], names: dict[int, str]) -> Entry:
    is_leaf = type(node) is GradSlot
    shapes = " ".join(f"{a.dtype.name}{list(a.shape)}" for a in node.avals)
    name = names.get(id(node.variable), "leaf") if is_leaf else node.name()
    inputs = tuple(numbers[following] for following, _ in node.edges if following is not None)
    saved = sum(value.aval.nbytes for value in {id(v): v for v in _saved(node)}.values())
    return Entry(numbers[node], name, shapes, line_of(node), saved, inputs, is_leaf)


def _saved(node: Any) -> list[Any]:
    """Return the values that a node keeps for backward."""
    found: list[Any] = []
    for x in (getattr(node, "saved", None) or ()) if isinstance(node, GradNode) else ():
        for one in x if isinstance(x, tuple) else (x,):
            if isinstance(one, Variable):
                found.append(one.value)
    return found


def _short(line: str) -> str:
    return line.rpartition("/")[2]
