"""Node: one line of a traced program: what it calls, with which arguments, and who uses what it gives."""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable
from typing import Any

from funcgrad._base.naming import typename
from funcgrad.fx.naming import qualified_name

Target = Callable[..., Any] | str
Argument = Any
OPS = ("placeholder", "get_attr", "call_function", "call_method", "call_module", "output")


def map_aggregate(tree: Any, function: Callable[[Any], Any]) -> Any:
    """Return the tree with function(leaf) for every leaf of tuples, lists, dicts and slices."""
    if isinstance(tree, tuple):
        parts = [map_aggregate(part, function) for part in tree]
        return type(tree)(*parts) if hasattr(tree, "_fields") else tuple(parts)
    if isinstance(tree, list):
        return [map_aggregate(part, function) for part in tree]
    if isinstance(tree, dict):
        return {key: map_aggregate(part, function) for key, part in tree.items()}
    if isinstance(tree, slice):
        return slice(*(map_aggregate(part, function) for part in (tree.start, tree.stop, tree.step)))
    return function(tree)


def map_arg(tree: Any, function: Callable[[Node], Any]) -> Any:
    """Return the tree with function(node) for every Node in it."""
    return map_aggregate(tree, lambda leaf: function(leaf) if isinstance(leaf, Node) else leaf)


class Node:
    """One line of a Graph. `users` are the nodes that take its result; nodes of a graph are linked by prev and next."""

    prev: Node
    next: Node

    def __init__(self, graph: Any, name: str, op: str, target: Any, args: Any, kwargs: Any, type: Any = None) -> None:
        if op not in (*OPS, "root"):
            raise AssertionError(f"op must be one of {OPS}, got {op!r}")
        if op == "call_function" and not callable(target):
            raise ValueError(f"Node '{name}': the target of a call_function is a callable, not {target!r}")
        self.graph, self.name, self.op, self.target, self.type = graph, name, op, target, type
        self.users: dict[Node, None] = {}
        self.meta: dict[str, Any] = {}
        self._inputs: dict[Node, None] = {}
        self._args: tuple[Any, ...] = ()
        self._kwargs: dict[str, Any] = {}
        self._erased = False
        self.prev = self.next = self
        self._take(args, kwargs)

    # Arguments

    @property
    def args(self) -> tuple[Any, ...]:
        """The positional arguments: nodes, numbers and containers of them. To assign them changes who uses whom."""
        return self._args

    @args.setter
    def args(self, new: tuple[Any, ...]) -> None:
        self._take(new, self._kwargs)

    @property
    def kwargs(self) -> dict[str, Any]:
        """The keyword arguments, as `args`."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, new: dict[str, Any]) -> None:
        self._take(self._args, new)

    @property
    def all_input_nodes(self) -> list[Node]:
        """The nodes among the arguments, each once."""
        return list(self._inputs)

    def _take(self, args: Any, kwargs: Any) -> None:
        for node in self._inputs:
            node.users.pop(self, None)
        self._args, self._kwargs, self._inputs = tuple(args), dict(kwargs), {}
        map_arg((self._args, self._kwargs), lambda node: self._inputs.setdefault(node))
        for node in self._inputs:
            node.users.setdefault(self)

    def update_arg(self, idx: int, arg: Any) -> None:
        """Replace one positional argument."""
        self.args = (*self.args[:idx], arg, *self.args[idx + 1 :])

    def insert_arg(self, idx: int, arg: Any) -> None:
        """Put a positional argument before the one at `idx`."""
        self.args = (*self.args[:idx], arg, *self.args[idx:])

    def update_kwarg(self, key: str, arg: Any) -> None:
        """Replace one keyword argument."""
        self.kwargs = {**self.kwargs, key: arg}

    def replace_input_with(self, old_input: Node, new_input: Node) -> None:
        """Take `new_input` wherever `old_input` was taken."""
        args, kwargs = map_arg((self.args, self.kwargs), lambda node: new_input if node is old_input else node)
        self._take(args, kwargs)

    def replace_all_uses_with(
        self,
        replace_with: Node,
        delete_user_cb: Callable[[Node], bool] = lambda user: True,
        *,
        propagate_meta: bool = False,
    ) -> list[Node]:
        """Let all users of this node for which delete_user_cb(user) holds take `replace_with`; return them."""
        if propagate_meta:
            replace_with.meta.update(self.meta)
        changed = [user for user in list(self.users) if delete_user_cb(user)]
        for user in changed:
            user.replace_input_with(self, replace_with)
        return changed

    # Place

    def prepend(self, x: Node) -> None:
        """Move `x` to just before this node."""
        if x is self:
            return
        x._unlink()
        before = self.prev
        before.next, x.prev, x.next, self.prev = x, before, self, x

    def append(self, x: Node) -> None:
        """Move `x` to just after this node."""
        if x is not self:
            self.next.prepend(x)

    def _unlink(self) -> None:
        self.prev.next, self.next.prev = self.next, self.prev

    # What it is

    @property
    def stack_trace(self) -> str | None:
        """Where the traced code made the node, as Python prints it; None where nobody noted it."""
        return self.meta.get("stack_trace")

    @stack_trace.setter
    def stack_trace(self, trace: str | None) -> None:
        self.meta["stack_trace"] = trace

    def is_impure(self, impure_random: bool = True) -> bool:
        """Tell whether the node does more than give a result: then it stays though nobody uses it."""
        if self.op in ("placeholder", "output"):
            return True
        name = getattr(self.target, "__name__", "")
        if self.op == "call_function":
            return name in ("_assert", "setitem") or (name.endswith("_") and not name.endswith("__"))
        return False

    def __repr__(self) -> str:
        return self.name

    def format_node(self, placeholder_names: list[str] | None = None, maybe_return_typename: Any = None) -> str | None:
        """Return the line of the graph's text for this node."""
        kind = f"{type_text(self.type)} " if self.type is not None else ""
        if self.op == "output":
            return f"return {self.args[0]}"
        head = f"%{self.name} : {kind}[num_users={len(self.users)}] = {self.op}[target={self._target_text()}]"
        if self.op == "placeholder":
            return head + (f"(default={self.args[0]})" if self.args else "")
        if self.op == "get_attr":
            return head
        return f"{head}(args = {_argument_text(self.args)}, kwargs = {_argument_text(self.kwargs)})"

    def _target_text(self) -> str:
        if isinstance(self.target, str):
            return self.target
        if getattr(builtins, getattr(self.target, "__name__", ""), None) is self.target:
            return f"builtins.{self.target.__name__}"
        return qualified_name(self.target)


def _argument_text(argument: Any) -> str:
    if isinstance(argument, list):
        return f"[{', '.join(map(_argument_text, argument))}]"
    if isinstance(argument, tuple):
        return f"({', '.join(map(_argument_text, argument))}{',' * (len(argument) == 1)})"
    if isinstance(argument, dict):
        return "{" + ", ".join(f"{key}: {_argument_text(value)}" for key, value in argument.items()) + "}"
    return f"%{argument}" if isinstance(argument, Node) else str(argument)


def type_text(kind: Any) -> str:
    """Write an annotation; classes of funcgrad under torch's names."""
    if not isinstance(kind, type) or isinstance(kind, types.GenericAlias):
        return repr(kind)
    name = typename(kind)
    return name.replace("funcgrad", "torch", 1) if name.startswith("funcgrad.") else name
