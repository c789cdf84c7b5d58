"""Writes a graph as a Python function, as torch's `GraphModule.code` shows it."""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple

from funcgrad._base.devices import device
from funcgrad.fx.naming import TORCH, Namespace, qualified_name
from funcgrad.fx.node import Node, map_arg, type_text
from funcgrad.fx.trees import FX_PYTREE, PYTREE

_OPERATORS = {
    "eq": "{} == {}", "ne": "{} != {}", "lt": "{} < {}", "gt": "{} > {}", "le": "{} <= {}", "ge": "{} >= {}",
    "pos": "+{}", "neg": "-{}", "invert": "~{}", "add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}",
    "floordiv": "{} // {}", "truediv": "{} / {}", "mod": "{} % {}", "pow": "{} ** {}", "lshift": "{} << {}",
    "rshift": "{} >> {}", "and_": "{} & {}", "or_": "{} | {}", "xor": "{} ^ {}", "getitem": "{}[{}]",
    "matmul": "{} @ {}",
}  # fmt: skip


WRAPPED: set[Any] = set()  # functions that tracing was told not to enter


class PythonCode(NamedTuple):
    """The source of a function `forward`, and the meaning of the global names in it."""

    src: str
    globals: dict[str, Any]


class _Writer:
    """Writes the lines of one graph, and gathers the globals that they need."""

    def __init__(self, graph: Any, root: str) -> None:
        self.graph, self.root = graph, root
        self.globals: dict[str, Any] = {"torch": TORCH, "device": device, "inf": math.inf, "nan": math.nan}
        self.wrapped: list[str] = []
        self.names = Namespace()
        self.names.used |= graph._namespace.used

    def line(self, node: Node) -> str:
        """Return the statement of a node that is no placeholder."""
        if node.op == "output":
            result = _value(node.args[0])
            return f"return {result if self.graph._trees is None else _put_together(result)}"
        return f"{node.name} = {self._expression(node)}"

    def _expression(self, node: Node) -> str:
        if node.op == "get_attr":
            return _path(self.root, str(node.target))
        if node.op == "call_module":
            return f"{_path(self.root, str(node.target))}({_arguments(node.args, node.kwargs)})"
        if node.op == "call_method":
            return f"{_value(node.args[0])}.{node.target}({_arguments(node.args[1:], node.kwargs)})"
        name = qualified_name(node.target)
        word = name.removeprefix("operator.")
        if name.startswith("operator.") and word in _OPERATORS and not node.kwargs:
            return _OPERATORS[word].format(*map(_value, node.args))
        if name == "getattr" and len(node.args) == 2 and str(node.args[1]).isidentifier():
            return f"{_value(node.args[0])}.{node.args[1]}"
        return f"{self._function(node.target, name)}({_arguments(node.args, node.kwargs)})"

    def _function(self, function: Any, name: str) -> str:
        if name.startswith("torch.") or "." not in name:
            self._note_wrapped(function, name)
            return name
        known = next((own for own, meant in self.globals.items() if meant is function), None)
        if known is None:
            known = self.names.create_name(f"{function.__module__}_{function.__name__}".replace(".", "_"))
            self.globals[known] = function
            self._note_wrapped(function, known)
        return known

    def _note_wrapped(self, function: Any, name: str) -> None:
        if name not in self.wrapped and function in WRAPPED:
            self.wrapped.append(name)


def write_code(graph: Any, root: str = "self") -> PythonCode:
    """Return the source of a graph's program; what is used for the last time in a line is let go of at its end."""
    writer = _Writer(graph, root)
    dropped = _last_uses(graph)
    parameters, body = [], []
    for node in graph.nodes:
        if node.op == "placeholder":
            parameters.append(_parameter(node))
            bare = node.target.lstrip("*")
            if bare != node.name:
                body.append(f"{node.name} = {bare}")
            continue
        line = writer.line(node)
        drops = dropped.get(node, []) + ([node] if not node.users else [])
        if node.op != "output" and drops:
            line += f";  {' = '.join(map(str, drops))} = None"
        body.append(line)
    if graph._trees is not None:
        leaves = "".join(f"{parameter}, " for parameter in parameters).rstrip()
        body.insert(0, f"{leaves} = fx_pytree.tree_flatten_spec({graph._trees.given}, {root}._in_spec)")
        parameters = [*graph._trees.parameters]
        writer.globals |= {"fx_pytree": FX_PYTREE, "pytree": PYTREE}
    returns = next((f" -> {type_text(node.type)}" for node in graph.nodes if node.op == "output" and node.type), "")
    wraps = "\n".join(f'torch.fx._symbolic_trace.wrap("{name}")' for name in writer.wrapped)
    lines = "".join(f"    {line}\n" for line in body or ["pass"])
    head = f"def forward({', '.join([root, *parameters])}){returns}:"
    return PythonCode(f"\n{wraps}\n\n{head}\n{lines}    ", writer.globals)


def _put_together(result: str) -> str:
    return f"pytree.tree_unflatten({result}, self._out_spec)"


def _last_uses(graph: Any) -> dict[Node, list[Node]]:
    """Return, by node, the nodes whose results nobody needs after it."""
    last: dict[Node, Node] = {}
    found: dict[Node, list[Node]] = {}

    def note(given: Node, user: Node) -> None:
        if given not in last:
            last[given] = user
            found.setdefault(user, []).append(given)

    for user in reversed(graph.nodes):
        map_arg((user.args, user.kwargs), lambda given, user=user: note(given, user))
    return found


def _parameter(node: Node) -> str:
    kind = f" : {type_text(node.type)}" if node.type is not None else ""
    return f"{node.target}{kind}{f' = {_value(node.args[0])}' if node.args else ''}"


def _path(root: str, target: str) -> str:
    """Write an attribute's dotted path; names that are no identifiers, as a Sequential's, by getattr."""
    text = root
    for word in target.split("."):
        text = f"{text}.{word}" if word.isidentifier() else f'getattr({text}, "{word}")'
    return text


def _arguments(args: Any, kwargs: dict[str, Any]) -> str:
    return ", ".join([*map(_value, args), *(f"{key} = {_value(value)}" for key, value in kwargs.items())])


def _value(value: Any) -> str:
    """Write an argument: a node by its name, all else as Python writes it."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        value = tuple(value)
    return re.sub(r"(?<!torch\.)\bSize\(", "torch.Size(", repr(value)) if not isinstance(value, Node) else value.name
