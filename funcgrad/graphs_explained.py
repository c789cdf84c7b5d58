"""torch._dynamo.explain: the graphs that a backend would be given of one call, and why each of them ends."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from funcgrad._tape.modes import is_grad_enabled
from funcgrad.capturing import Capture, names_of
from funcgrad.fx.graph import Graph
from funcgrad.fx.graph_module import GraphModule
from funcgrad.fx.node import Node
from funcgrad.nn.module import Module
from funcgrad.utils._pytree import tree_flatten

_PACKAGE = str(Path(__file__).parent)
_JUMP = "generic_jump TensorVariable()"


@dataclass
class GraphCompileReason:
    """Why a graph ends where it does. user_stack: the calls of the script that led there, the last one innermost."""

    reason: str
    user_stack: list[traceback.FrameSummary]
    graph_break: bool = True


@dataclass
class ExplainOutput:
    """What `explain` tells of a call: graphs, why they end, and what they call besides methods."""

    graphs: list[GraphModule]
    graph_count: int
    graph_break_count: int
    break_reasons: list[GraphCompileReason]
    op_count: int
    ops_per_graph: list[list[Any]] | None = None
    out_guards: list[Any] | None = field(default_factory=list)  # none is needed: Python takes its own way each time
    compile_times: str | None = None

    def __str__(self) -> str:
        """Write it as torch does."""
        lines = [
            f"Graph Count: {self.graph_count}",
            f"Graph Break Count: {self.graph_break_count}",
            f"Op Count: {self.op_count}",
            "Break Reasons:",
        ]
        for i, found in enumerate(self.break_reasons, 1):
            stack = [f"      {frame}" for frame in found.user_stack]
            lines += [f"  Break Reason {i}:", f"    Reason: {found.reason}", "    User Stack:", *stack]
        if self.ops_per_graph is not None:
            lines.append("Ops per Graph:")
            for i, ops in enumerate(self.ops_per_graph, 1):
                lines += [f"  Ops {i}:", *(f"    {op}" for op in ops)]
        if self.out_guards is not None:
            lines.append("Out Guards:")
        if self.compile_times is not None:
            lines.append(f"Compile Times: {self.compile_times}")
        return "\n".join((*lines, ""))


class _Explaining(Capture):
    """A capture that notes where graphs end, and why."""

    def __init__(self, names: dict[int, str]) -> None:
        super().__init__(names, False)
        self.depth = len(traceback.extract_stack()) - 1  # without this call
        self.breaks: list[tuple[Node, GraphCompileReason]] = []

    def end_graph(self, why: str) -> None:
        """Note the last node of the graph that ends here."""
        stack = [frame for frame in traceback.extract_stack()[self.depth :] if not frame.filename.startswith(_PACKAGE)]
        reason = _JUMP if "__bool__" in why else why
        self.breaks.append((self.graph._root.prev, GraphCompileReason(reason, stack)))


def explained(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> ExplainOutput:
    """Call a function, and return what is told of the call."""
    capture = _Explaining(names_of(function, args, kwargs))
    result = capture.of(function, args, kwargs)
    capture.end(tree_flatten(result)[0], is_grad_enabled())
    reasons, graphs, part = [], [], list[Node]()
    ends = {id(node): reason for node, reason in reversed(capture.breaks)}
    for node in capture.graph.nodes:
        if node.op.startswith("call"):
            part.append(node)
        reason = ends.get(id(node))
        if part and (reason is not None or node.op == "output"):
            graphs.append(GraphModule(Module(), _alone(part)))
            reasons += [reason] if reason is not None else []
            part = []
    ops = [[node.target for node in graph.graph.nodes if node.op == "call_function"] for graph in graphs]
    return ExplainOutput(graphs, len(graphs), max(len(graphs) - 1, 0), reasons, sum(map(len, ops)), ops)


def _alone(part: Sequence[Node]) -> Graph:
    """Return a graph of these nodes alone: what they take from others comes in, what others take goes out."""
    graph, copies, inside = Graph(), dict[Node, Node](), set(part)
    for node in part:
        for taken in node.all_input_nodes:
            if taken not in inside and taken not in copies:
                target = taken.target if taken.op == "placeholder" else taken.name
                copies[taken] = graph.create_node("placeholder", target, name=taken.name)
    for node in part:
        copies[node] = graph.node_copy(node, copies.__getitem__)
    graph.output(tuple(copies[node] for node in part if not inside.issuperset(node.users)))
    return graph
