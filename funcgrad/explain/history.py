"""graph(loss): the recorded history of a tensor, as text, as DOT and as a picture."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

from funcgrad._tape.nodes import GradNode, GradSlot, now
from funcgrad._tape.variable import Variable
from funcgrad._tensor.tensor import Tensor
from funcgrad.explain import drawing
from funcgrad.explain.calls import Call, calls_around
from funcgrad.explain.drawing import Entry
from funcgrad.explain.watching import line_of, nodes_behind
from funcgrad.nn.module import Module
from funcgrad.optim.optimizer import note_every_step

DRAWN = 40  # boxes that a picture may have before it is folded
_STEPS: deque[int] = deque(maxlen=100_000)  # the number of the next node after each optimizer step


def _note_step(*_: Any) -> None:
    _STEPS.append(now())


note_every_step(_note_step)


class Graph:
    """The history behind a tensor. Prints as text, the newest node first; in notebooks it is drawn.

    entries: all nodes. parameters: names of the leaves that it reaches. saved_bytes: held for backward, each array
    once. iterations: how many optimizer steps ago its oldest node was made: 0 for a loss that hangs on no past one.
    """

    def __init__(self, tensor: Tensor, model: Module | None) -> None:
        nodes = nodes_behind(tensor)
        numbers = {node: i for i, node in enumerate(nodes)}
        names = {id(p): name for name, p in model.named_parameters()} if model is not None else {}
        self._paths = {id(module): path for path, module in model.named_modules()} if model is not None else {}
        around = calls_around([node.order for node in nodes if type(node) is not GradSlot])
        self._calls = [around.get(node.order, ()) for node in nodes]
        self.entries = [
            _entry(node, numbers, names, self._path(calls[-1]) if calls else "")
            for node, calls in zip(nodes, self._calls, strict=True)
        ]
        self.parameters = [entry.name for entry in self.entries if entry.is_leaf]
        held = {id(value): value.aval.nbytes for node in nodes for value in saved_values(node)}
        self.saved_bytes = sum(held.values())
        made = [node.order for node in nodes if isinstance(node, GradNode)]
        self.iterations = sum(1 for step in _STEPS if min(made) < step <= max(made)) if made else 0

    def __repr__(self) -> str:
        rows = [
            f"[{e.number}] {e.name} {e.shapes}{f' <- {list(e.inputs)}' if e.inputs else ''}"
            f"{f'  saves {e.saved_bytes:,} bytes' if e.saved_bytes else ''}"
            f"{f'  in {e.module}' if e.module else ''}{f'  at {e.line}' if e.line else ''}"
            for e in self.entries
        ]
        tail = f"{len(rows)} nodes, {self.saved_bytes:,} bytes saved for backward, {len(self.parameters)} leaves"
        if self.iterations:
            several = "s" * (self.iterations > 1)
            tail += f"; hangs on {self.iterations} past iteration{several}: detach what is carried on"
        return "\n".join([*rows, tail])

    def folded(self, depth: int) -> list[Entry]:
        """Return the entries with each call of a module `depth` calls deep as one; 1: a model's call is one.

        The calls are those inside `lines()`. A parameter that only one such call reads is folded into it.
        """
        place: list[Any] = [calls[depth - 1] if len(calls) >= depth else e.number
                            for e, calls in zip(self.entries, self._calls, strict=True)]  # fmt: skip
        readers: dict[int, set[Any]] = {}
        for e in self.entries:
            for i in e.inputs:
                readers.setdefault(i, set()).add(place[e.number])
        for e in self.entries:
            if e.is_leaf and len(readers.get(e.number, ())) == 1:
                (reader,) = readers[e.number]
                place[e.number] = reader if isinstance(reader, Call) else e.number
        groups: dict[Any, list[Entry]] = {}
        for e in self.entries:
            groups.setdefault(place[e.number], []).append(e)
        first = {where: entries[0].number for where, entries in groups.items()}
        return [
            self._fold(where, entries, {first[place[i]] for e in entries for i in e.inputs} - {first[where]})
            for where, entries in groups.items()
        ]

    def dot(self, depth: int | None = None) -> str:
        """Return the graph in Graphviz' language. depth: as for `svg`."""
        return drawing.dot(*self._drawn(depth))

    def svg(self, depth: int | None = None) -> str:
        """Return a picture: a row for each distance from the tensor, leaves in blue, folded calls in yellow.

        depth: how deep calls of modules are shown (see `folded`). Default: all nodes, if they are few; else as deep as
        the picture can be read; the newest alone, with a note that says so, where no calls are known.
        """
        return drawing.svg(*self._drawn(depth))

    def _repr_svg_(self) -> str:
        return self.svg()

    def _drawn(self, depth: int | None) -> tuple[Sequence[Entry], str]:
        """Return the entries to draw, and a note that says what is not there."""
        whole = len(self.entries)
        if depth is None and whole <= DRAWN:
            return self.entries, ""
        deepest = max(map(len, self._calls), default=0)
        shown: list[Entry] = self.entries
        for level in [depth] if depth is not None else range(deepest, 0, -1):
            shown = self.folded(level)
            if len(shown) <= DRAWN or depth is not None:
                return shown, f"{whole} nodes, folded into calls of modules (svg(depth={level}))"
        hint = "" if deepest else "; made inside explain.lines(), it is folded into calls of modules"
        return shown[:DRAWN], f"the newest {DRAWN} of {whole} nodes{hint}; print() shows all"

    def _path(self, call: Call) -> str:
        module = call.module()
        if module is None:
            return ""
        return self._paths.get(id(module), "") or type(module).__name__

    def _fold(self, where: Any, entries: list[Entry], inputs: set[int]) -> Entry:
        if not isinstance(where, Call):
            return entries[0]._replace(inputs=tuple(sorted(inputs)))
        newest, path, module = entries[0], self._path(where), where.module()
        kind = type(module).__name__ if module is not None else ""
        return newest._replace(
            name=f"{path} {kind}" if path != kind else path, saved_bytes=sum(e.saved_bytes for e in entries),
            inputs=tuple(sorted(inputs)), module=path, folded=len(entries), is_leaf=False,
        )  # fmt: skip


def graph(loss: Tensor, model: Module | None = None) -> Graph:
    """Return the history behind a tensor. model: whose names parameters and modules get.

    Lines and the calls of modules are known for what was computed inside `lines()`.
    """
    return Graph(loss, model)


def _entry(node: Any, numbers: dict[Any, int], names: dict[int, str], module: str) -> Entry:
    is_leaf = type(node) is GradSlot
    shapes = " ".join(f"{a.dtype.name}{list(a.shape)}" for a in node.avals)
    name = names.get(id(node.variable), "leaf") if is_leaf else node.name()
    inputs = tuple(numbers[following] for following, _ in node.edges if following is not None)
    saved = sum(value.aval.nbytes for value in {id(v): v for v in saved_values(node)}.values())
    return Entry(numbers[node], name, shapes, line_of(node), saved, inputs, is_leaf, module)


def saved_values(node: Any) -> list[Any]:
    """Return the values that a node keeps for backward."""
    found: list[Any] = []
    for x in (getattr(node, "saved", None) or ()) if isinstance(node, GradNode) else ():
        for one in x if isinstance(x, tuple) else (x,):
            if isinstance(one, Variable):
                found.append(one.value)
    return found
