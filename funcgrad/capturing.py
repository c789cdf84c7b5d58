"""Backends of a script's own: `torch.compile(f, backend=mine)` gives them the graph of what `f` calls.

A function is called as it is written, each time; what it calls is written down. The first time that a graph comes up
the backend is given it, and what the backend returns is called from then on wherever this graph comes up again. So
Python always takes its own way, and a graph is that of one way.
"""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Iterator
from typing import Any

from funcgrad._base.rooms import imported
from funcgrad._tape.modes import is_grad_enabled, no_grad, set_grad_enabled
from funcgrad._tensor.autocasting import get_autocast_dtype, is_autocast_enabled
from funcgrad._tensor.tensor import Tensor
from funcgrad.compiling import OptimizedModule, under_way
from funcgrad.fx.graph import Graph
from funcgrad.fx.graph_module import GraphModule
from funcgrad.fx.node import Node
from funcgrad.nn.module import Module
from funcgrad.overrides import TorchFunctionMode
from funcgrad.random.generator import get_rng_state, set_rng_state
from funcgrad.utils._pytree import tree_flatten, tree_map_only, tree_unflatten

__all__ = ["Capture", "CapturedModule", "captured", "names_of"]

_OPERATORS: dict[str, Callable[..., Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv,
    "remainder": operator.mod, "matmul": operator.matmul, "neg": operator.neg, "add_": operator.iadd,
    "sub_": operator.isub, "mul_": operator.imul, "div_": operator.itruediv, "ne": operator.ne, "lt": operator.lt,
    "le": operator.le, "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip
_OF_NUMBERS = {"item", "tolist", "__bool__", "__float__", "__int__", "__complex__", "__index__", "numpy"}


class Capture(TorchFunctionMode):
    """Writes down what is called within it, with real tensors.

    inputs: the tensors that came from outside, in the order in which they were met; the graph's placeholders.
    """

    def __init__(self, names: dict[int, str], fullgraph: bool) -> None:
        self.graph, self.inputs = Graph(), []
        self.can_be_replayed = True
        self._names, self._fullgraph = names, fullgraph
        self._nodes: dict[int, Node] = {}
        self._kept: list[Any] = []  # what is alive has an id of its own
        self._before: list[tuple[Tensor, int, Tensor | None]] = []
        self._grad, self._precision = is_grad_enabled(), _precision()
        self._placeholders: Node | None = None

    def of(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a function within the capture, and tell `compiling` of it; return what it returns."""
        under_way.modes.append(self)
        try:
            with self:
                return function(*args, **kwargs)
        finally:
            under_way.modes.pop()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call a function, and add its node."""
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if name in _OF_NUMBERS or name == "backward":
            self.end_graph(f"Unsupported Tensor.{name}() call")
        given = tree_map_only(Tensor, self._node_of, (args, kwargs))
        taken = [leaf for leaf in tree_flatten((args, kwargs))[0] if isinstance(leaf, Tensor)]
        versions = [tensor._version for tensor in taken]
        result = func(*args, **kwargs)
        is_written = versions != [tensor._version for tensor in taken]  # `_foreach_add_` and `x[0] = y` return nothing
        found = [leaf for leaf in tree_flatten(result)[0] if isinstance(leaf, Tensor)]
        if name in ("backward", "__set__") or _precision() != self._precision:
            self.can_be_replayed = False
        elif found or is_written:
            self._follow_grad(is_grad_enabled())
            self._take(result, self._added(func, name, *given))
        return result

    def end_graph(self, why: str) -> None:
        """Unsupported where the whole function is to be one graph; else the graph goes on."""
        if self._fullgraph:
            raise errors().Unsupported(f"{why}\n  Explanation: fullgraph=True wants one graph, which would end here.\n")

    def _added(self, func: Any, name: str, args: Any, kwargs: Any) -> Node:
        """Add the node of a call."""
        if name == "__get__":
            attribute = next(key for key, found in _properties() if found is func.__self__)
            return self.graph.create_node("call_function", getattr, (args[0], attribute))
        plain = name.strip("_")
        if name.startswith("__"):
            swapped = plain if hasattr(operator, plain) else plain.removeprefix("r")
            word = {"and": "and_", "or": "or_"}.get(swapped, swapped)
            args = args if swapped == plain else args[::-1]
            return self.graph.create_node("call_function", getattr(operator, word), tuple(args), kwargs)
        if getattr(Tensor, name, None) is not func:
            return self.graph.create_node("call_function", func, tuple(args), kwargs)
        if name in _OPERATORS and not kwargs and len(args) == 1 + (name != "neg"):
            return self.graph.create_node("call_function", _OPERATORS[name], tuple(args))
        return self.graph.create_node("call_method", name, tuple(args), kwargs)

    def _take(self, result: Any, node: Node) -> None:
        """Note which node a result, or each of several, comes from."""
        self._kept.append(result)
        if isinstance(result, Tensor):
            self._nodes[id(result)] = node
        elif isinstance(result, (tuple, list)):
            for i, part in enumerate(result):
                self._take(part, self.graph.create_node("call_function", operator.getitem, (node, i)))

    def _node_of(self, tensor: Tensor) -> Node:
        """Return the node of a tensor; one from outside becomes a placeholder."""
        if id(tensor) not in self._nodes:
            target = self._names.get(id(tensor), f"L_tensor_{len(self.inputs)}_")
            after = self._placeholders.next if self._placeholders is not None else self.graph._root.next
            with self.graph.inserting_before(after):
                made = self.graph.create_node("placeholder", target, name=target.lower(), type_expr=type(tensor))
            self._nodes[id(tensor)] = self._placeholders = made
            self.inputs.append(tensor)
            self._before.append((tensor, tensor._version, None if tensor.requires_grad else tensor.clone()))
        return self._nodes[id(tensor)]

    def _follow_grad(self, mode: bool) -> None:
        if mode != self._grad:
            self.graph.create_node("call_function", set_grad_enabled, (mode,))
            self._grad = mode

    def end(self, leaves: list[Any], outer: bool) -> None:
        """Add the output: the tensors among these leaves."""
        self._follow_grad(outer)
        self.graph.output(tuple(self._node_of(leaf) for leaf in leaves if isinstance(leaf, Tensor)))

    def undo(self) -> bool:
        """Give tensors from outside their numbers back; False where that cannot be."""
        changed = [(x, copy) for x, version, copy in self._before if x._version != version]
        if any(copy is None or tensor.requires_grad for tensor, copy in changed):
            return False
        with no_grad():
            for tensor, copy in changed:
                tensor.copy_(copy)
        return True

    def signature(self) -> str:
        """Return what two graphs that can stand for each other have in common."""
        of_inputs = [(tuple(x.shape), x.dtype, x.device, x.requires_grad) for x in self.inputs]
        nodes = [(node.op, _name(node.target), node.args, node.kwargs) for node in self.graph.nodes]
        return f"{of_inputs} {nodes} {is_grad_enabled()}"


def _name(target: Any) -> Any:
    return target if isinstance(target, str) else (getattr(target, "__name__", ""), id(target))


def _precision() -> tuple[bool, Any]:
    return is_autocast_enabled("cpu"), get_autocast_dtype("cpu") if is_autocast_enabled("cpu") else None


@functools.cache
def _properties() -> list[tuple[str, Any]]:
    return [
        (name, found) for kind in Tensor.__mro__ for name, found in vars(kind).items() if isinstance(found, property)
    ]


def captured(function: Callable[..., Any], backend: Callable[..., Any], fullgraph: bool = False) -> Callable[..., Any]:
    """Return a function that calls what the backend makes of each graph of this one.

    backend(graph_module, inputs): takes a GraphModule and the list of tensors that it is first called with, and returns
    a function of such tensors that returns a tuple or list of tensors. Raises BackendCompilerFailed for what it raises;
    Unsupported where fullgraph is wanted and Python asks for numbers, or breaks the graph. A run with a backward pass
    in it, or in which autocast changes, is left as it was.
    """
    compiled: dict[str, Callable[..., Any]] = {}

    @functools.wraps(function, updated=())
    def run(*args: Any, **kwargs: Any) -> Any:
        if under_way.modes:
            return function(*args, **kwargs)
        capture, state = Capture(names_of(function, args, kwargs), fullgraph), get_rng_state()
        result = capture.of(function, args, kwargs)
        leaves, spec = tree_flatten(result)
        if not capture.can_be_replayed or not any(node.op.startswith("call") for node in capture.graph.nodes):
            return result
        capture.end(leaves, is_grad_enabled())
        if not capture.undo():
            return result
        set_rng_state(state)
        signature = capture.signature()
        if signature not in compiled:
            compiled[signature] = _built(backend, capture)
        found = compiled[signature](*capture.inputs)
        tensors = iter((found,) if isinstance(found, Tensor) else found)
        return tree_unflatten([next(tensors) if isinstance(leaf, Tensor) else leaf for leaf in leaves], spec)

    run._torchdynamo_orig_callable = function  # type: ignore[attr-defined]  # functions take any attribute
    return run


def _built(backend: Callable[..., Any], capture: Capture) -> Callable[..., Any]:
    module = GraphModule(Module(), capture.graph)
    try:
        found = backend(module, list(capture.inputs))
        if not callable(found):
            raise TypeError("compiler_fn did not return callable")
        return found
    except Exception as error:
        name = getattr(backend, "__name__", str(backend))
        raise errors().BackendCompilerFailed(f"backend={name!r} raised:\n{type(error).__name__}: {error}") from error


def names_of(function: Callable[..., Any], args: Any, kwargs: Any) -> dict[int, str]:
    """Return what placeholders are called: after the argument, or after the module and its parameter or buffer."""
    found: dict[int, str] = {}
    owner = getattr(function, "__self__", function)
    if isinstance(owner, Module):
        for kind, tensors in (("parameters", owner.named_parameters()), ("buffers", owner.named_buffers())):
            for path, tensor in tensors:
                *modules, name = path.split(".")
                inner = "".join(f"modules_{word}_" for word in modules)
                found.setdefault(id(tensor), f"L_self_{inner}{kind}_{name}_")
    for name, tensor in _arguments(function, args, kwargs):
        found.setdefault(id(tensor), f"L_{name}_")
    return found


def _arguments(function: Callable[..., Any], args: Any, kwargs: Any) -> Iterator[tuple[str, Tensor]]:
    told = function.forward if isinstance(function, Module) else function
    try:
        bound = inspect.signature(told).bind(*args, **kwargs).arguments
    except (TypeError, ValueError):  # a wrong call is the function's own to refuse
        bound = {"args": args, **kwargs}
    for name, value in bound.items():
        leaves = [leaf for leaf in tree_flatten(value)[0] if isinstance(leaf, Tensor)]
        for i, leaf in enumerate(leaves):
            yield name if leaf is value else f"{name}_{i}", leaf


def errors() -> Any:
    """Return the room of the compiler's errors, which is above."""
    return imported("funcgrad.standing_in.compiler_errors")


class CapturedModule(OptimizedModule):
    """A module of which a backend compiles the graphs."""

    def __init__(self, module: Module, backend: Callable[..., Any], fullgraph: bool) -> None:
        super().__init__(module)
        self.dynamo_ctx = captured(module, backend, fullgraph)

    def forward(self, *inputs: Any, **options: Any) -> Any:
        """Call what the backend has made of the module's graph."""
        return self.dynamo_ctx(*inputs, **options)


CapturedModule.__name__ = CapturedModule.__qualname__ = "OptimizedModule"
