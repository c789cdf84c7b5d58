"""Graph: a traced program, a list of nodes that can be read, changed, checked and written as Python."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from funcgrad.fx.code import PythonCode, write_code
from funcgrad.fx.naming import Namespace, name_of_target
from funcgrad.fx.node import Node, map_arg
from funcgrad.fx.trees import Trees


class NodeList:
    """The nodes of a graph in order; `reversed` goes from the output back."""

    def __init__(self, root: Node) -> None:
        self._root = root

    def __iter__(self) -> Iterator[Node]:
        node = self._root.next
        while node is not self._root:
            following = node.next
            yield node
            node = following if node._erased else node.next

    def __reversed__(self) -> Iterator[Node]:
        node = self._root.prev
        while node is not self._root:
            before = node.prev
            yield node
            node = before if node._erased else node.prev

    def __len__(self) -> int:
        return sum(1 for _ in self)


class Graph:
    """A list of nodes: placeholders, calls and one output. New nodes go last, or where `inserting_before` says."""

    def __init__(self, owning_module: Any = None, tracer_cls: Any = None) -> None:
        self._root = Node(self, "", "root", "", (), {})
        self._insert_before = self._root
        self._namespace = Namespace()
        self.owning_module = owning_module
        self._tracer_cls = tracer_cls
        self._trees: Trees | None = None

    @property
    def nodes(self) -> NodeList:
        """The nodes in the order in which they run."""
        return NodeList(self._root)

    def output_node(self) -> Node:
        """Return the node of the `return` statement."""
        return next(iter(reversed(self.nodes)))

    def find_nodes(self, *, op: str, target: Any = None, sort: bool = True) -> list[Node]:
        """Return the nodes of one kind, and of one target if it is given."""
        return [node for node in self.nodes if node.op == op and (target is None or node.target == target)]

    # Making nodes

    def create_node(
        self, op: str, target: Any, args: Any = None, kwargs: Any = None, name: str | None = None, type_expr: Any = None
    ) -> Node:
        """Add a node at the present place and return it."""
        made = self._namespace.create_name(name or name_of_target(target))
        node = Node(self, made, op, target, args or (), kwargs or {}, type_expr)
        self._insert_before.prepend(node)
        return node

    def placeholder(self, name: str, type_expr: Any = None, default_value: Any = ...) -> Node:
        """Add a parameter of the program."""
        args = () if default_value is ... else (default_value,)
        return self.create_node("placeholder", name, args, type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: Any = None) -> Node:
        """Add a look-up of a parameter or buffer of the module, by its dotted name."""
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_function(
        self, the_function: Callable[..., Any], args: Any = None, kwargs: Any = None, type_expr: Any = None
    ) -> Node:
        """Add a call of a function."""
        return self.create_node("call_function", the_function, args, kwargs, type_expr=type_expr)

    def call_method(self, method_name: str, args: Any = None, kwargs: Any = None, type_expr: Any = None) -> Node:
        """Add a call of a method of args[0]."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_module(self, module_name: str, args: Any = None, kwargs: Any = None, type_expr: Any = None) -> Node:
        """Add a call of a module of the owning module, by its dotted name."""
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def output(self, result: Any, type_expr: Any = None) -> Node:
        """Add the `return` statement."""
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    @contextmanager
    def _inserting(self, before: Node) -> Iterator[None]:
        outer, self._insert_before = self._insert_before, before
        try:
            yield
        finally:
            self._insert_before = outer

    def inserting_before(self, n: Node | None = None) -> Any:
        """Put the nodes made within this block before `n` (None: at the start)."""
        return self._inserting(self._root.next if n is None else n)

    def inserting_after(self, n: Node | None = None) -> Any:
        """Put the nodes made within this block after `n` (None: at the end)."""
        return self._inserting(self._root if n is None else n.next)

    # Changing

    def erase_node(self, to_erase: Node) -> None:
        """Remove a node. RuntimeError where another one takes its result."""
        if to_erase.users:
            raise RuntimeError(
                f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in the graph: "
                f"{to_erase.users}!"
            )
        to_erase._unlink()
        to_erase._erased = True
        to_erase._take((), {})

    def node_copy(self, node: Node, arg_transform: Callable[[Node], Any] = lambda node: node) -> Node:
        """Add a copy of a node of another graph; arg_transform(node) gives this graph's node for an argument of it."""
        args, kwargs = map_arg((node.args, node.kwargs), arg_transform)
        made = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        made.meta = copy.copy(node.meta)
        return made

    def graph_copy(self, g: Graph, val_map: dict[Node, Node], return_output_node: bool = False) -> Any:
        """Add copies of another graph's nodes, but for those in `val_map`, and return what stands for its output."""
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                result = map_arg(node.args[0], lambda given: val_map[given])
                return (result, node) if return_output_node else result
            val_map[node] = self.node_copy(node, lambda given: val_map[given])
        return None

    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """Remove what nobody uses and does nothing else; tell whether there was any."""
        self.lint()
        keeps = is_impure_node or Node.is_impure
        changed = False
        for node in reversed(self.nodes):
            if not node.users and not keeps(node):
                self.erase_node(node)
                changed = True
        return changed

    def lint(self) -> None:
        """Check the graph. RuntimeError: arguments made later or elsewhere, names given twice, targets not there."""
        seen: set[Node] = set()
        names: set[str] = set()
        for node in self.nodes:
            for given in node.all_input_nodes:
                if given.graph is not self:
                    raise RuntimeError(f"Argument '{given}' of Node '{node}' does not belong to this Graph")
                if given not in seen:
                    raise RuntimeError(f"Argument '{given}' of Node '{node}' was used before it has been defined!")
            if node.name in names:
                raise RuntimeError(f"Node redefined name {node.name}!")
            if self.owning_module is not None and node.op in ("get_attr", "call_module"):
                self._lint_target(node)
            seen.add(node)
            names.add(node.name)

    def _lint_target(self, node: Node) -> None:
        owner = self.owning_module
        for word in str(node.target).split("."):
            if not hasattr(owner, word):
                raise RuntimeError(
                    f"Node {node} target {node.target} references nonexistent attribute {word} of {node.target}"
                )
            owner = getattr(owner, word)

    # Text

    def python_code(self, root_module: str = "self") -> PythonCode:
        """Return the source of the program, and what its global names mean."""
        return write_code(self, root_module)

    def print_tabular(self) -> None:
        """Print the nodes as a table."""
        heads = ("opcode", "name", "target", "args", "kwargs")
        rows = [tuple(map(str, (n.op, n.name, n.target, n.args, n.kwargs))) for n in self.nodes]
        widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
        for row in (heads, tuple("-" * width for width in widths), *rows):
            print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())

    def __str__(self) -> str:
        return "\n    ".join(["graph():", *(node.format_node() or "" for node in self.nodes)])

    def __deepcopy__(self, memo: dict[int, Any]) -> Graph:
        made = Graph(tracer_cls=self._tracer_cls)
        made._trees = self._trees
        of_old: dict[Node, Node] = {}
        memo[id(self)] = made
        for node in self.nodes:
            of_old[node] = made.node_copy(node, lambda given: of_old[given])
        return made
