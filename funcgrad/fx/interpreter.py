"""Interpreter runs a graph node by node; Transformer builds another graph while it does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from funcgrad.fx.graph import Graph
from funcgrad.fx.graph_module import GraphModule
from funcgrad.fx.node import Node, map_aggregate, map_arg
from funcgrad.fx.proxy import Proxy
from funcgrad.fx.tracing import Tracer
from funcgrad.nn.module import Module


class Interpreter:
    """Runs a GraphModule node by node. Contract: override what a kind of node does. Gift: `env`, `fetch_attr`."""

    def __init__(self, module: Module, garbage_collect_values: bool = True, graph: Graph | None = None) -> None:
        self.module = module
        self.submodules = dict(module.named_modules())
        self.graph: Graph = module.graph if graph is None else graph  # type: ignore[assignment]  # a GraphModule's
        self.env: dict[Node, Any] = {}
        self.args_iter: Iterator[Any] = iter(())
        self.garbage_collect_values = garbage_collect_values
        self.extra_traceback = True
        self.name = "Interpreter"

    def run(self, *args: Any, initial_env: dict[Node, Any] | None = None, enable_io_processing: bool = True) -> Any:
        """Run the graph on these arguments and return what it returns. initial_env: results that are known already."""
        self.env = dict(initial_env or {})
        self.args_iter = iter(args)
        last = self._last_uses() if self.garbage_collect_values else {}
        for node in self.graph.nodes:
            if node not in self.env:
                self.env[node] = self._run_told(node)
            for done in last.get(node, ()):
                del self.env[done]
            if node.op == "output":
                return self.env[node]
        return None

    def _run_told(self, node: Node) -> Any:
        try:
            return self.run_node(node)
        except Exception as error:
            if self.extra_traceback:
                error.add_note(f"While executing {node.format_node()}")
            raise

    def _last_uses(self) -> dict[Node, list[Node]]:
        seen: set[Node] = set()
        found: dict[Node, list[Node]] = {}
        for node in reversed(self.graph.nodes):
            for given in node.all_input_nodes:
                if given not in seen:
                    seen.add(given)
                    found.setdefault(node, []).append(given)
        return found

    def run_node(self, n: Node) -> Any:
        """Return what one node gives: calls the method named as its op."""
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        return getattr(self, n.op)(n.target, args, kwargs)

    # What each kind of node does

    def placeholder(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the next argument of the run, or the default."""
        if target.startswith("*"):
            return list(self.args_iter)
        try:
            return next(self.args_iter)
        except StopIteration:
            if args:
                return args[0]
            raise RuntimeError(
                f"Expected positional argument for parameter {target}, but one was not passed in!"
            ) from None

    def get_attr(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return an attribute of the module."""
        return self.fetch_attr(target)

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a function."""
        return target(*args, **kwargs)

    def call_method(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a method of args[0]."""
        own, *others = args
        return getattr(own, target)(*others, **kwargs)

    def call_module(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a module."""
        return self.fetch_attr(target)(*args, **kwargs)

    def output(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the result of the run."""
        return args[0]

    # Gift

    def fetch_attr(self, target: str) -> Any:
        """Return what the module has under a dotted name. RuntimeError: nothing."""
        found: Any = self.module
        for i, word in enumerate(target.split(".")):
            if not hasattr(found, word):
                path = ".".join(target.split(".")[: i + 1])
                raise RuntimeError(f"Node referenced nonexistent target {path}")
            found = getattr(found, word)
        return found

    def fetch_args_kwargs_from_env(self, n: Node) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return a node's arguments as values."""
        return self.map_nodes_to_values((n.args, n.kwargs), n)

    def map_nodes_to_values(self, args: Any, n: Node) -> Any:
        """Return the tree with the values of the nodes in it. RuntimeError: one has none."""

        def value(given: Node) -> Any:
            if given not in self.env:
                raise RuntimeError(
                    f"Node {n} referenced nonexistent value {given}! Run Graph.lint() to diagnose such issues"
                )
            return self.env[given]

        return map_arg(args, value)


class Transformer(Interpreter):
    """Builds a new GraphModule while it goes through one: a method that is overridden says what a node becomes."""

    def __init__(self, module: GraphModule) -> None:
        super().__init__(module)
        self.new_graph = Graph(tracer_cls=module.graph._tracer_cls)
        self.tracer = _TransformerTracer(self.new_graph)
        self.tracer.root = module

    def placeholder(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return a placeholder of the new graph."""
        return Proxy(self.new_graph.placeholder(target, default_value=args[0] if args else ...), self.tracer)

    def get_attr(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return a look-up in the new graph."""
        return self.tracer.create_proxy("get_attr", target, args, kwargs)

    def call_module(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return a call of the module in the new graph."""
        return self.tracer.create_proxy("call_module", target, args, kwargs)

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return a call of the function in the new graph."""
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def transform(self) -> GraphModule:
        """Return the new module."""
        result = super().run(enable_io_processing=False)
        if result is not None:
            self.new_graph.output(map_aggregate(result, lambda x: x.node if isinstance(x, Proxy) else x))
        return GraphModule(self.module, self.new_graph)


class _TransformerTracer(Tracer):
    """Adds nodes to the graph that is built; what looks like a layer is one."""

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.graph = graph

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        """Enter no module."""
        return True
