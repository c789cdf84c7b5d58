"""torch.fx.experimental.proxy_tensor: `make_fx` writes down which functions of aten a function calls, as a graph."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from funcgrad._tensor.packets import Overload, packet
from funcgrad._tensor.tensor import Tensor
from funcgrad.dispatching.modes import TorchDispatchMode
from funcgrad.fx.graph import Graph
from funcgrad.fx.graph_module import GraphModule
from funcgrad.fx.naming import torch_name
from funcgrad.fx.node import Node
from funcgrad.fx.shapes import metadata
from funcgrad.fx.trees import Trees
from funcgrad.nn.module import Module
from funcgrad.nn.parameter import Parameter
from funcgrad.utils._pytree import TreeSpec, tree_flatten, tree_map

__all__ = ["make_fx"]
_MODES = ("real", "fake")


def make_fx(
    f: Callable[..., Any], decomposition_table: dict[Any, Callable[..., Any]] | None = None, tracing_mode: str = "real",
    **options: Any,
) -> Callable[..., GraphModule]:  # fmt: skip
    """Return a function that calls f(*args) and gives the graph of aten's functions that were called.

    args: tensors and numbers, in tuples, lists and dicts; numbers are constants of the graph, sizes too.
    decomposition_table: what is called in the place of an overload. Raises NotImplementedError for
    tracing_mode="symbolic", RuntimeError where the function asks for a number that depends on the arguments, or has
    more parameters than are given.
    """
    if tracing_mode not in _MODES:
        raise NotImplementedError(
            f"make_fx(tracing_mode={tracing_mode!r}): sizes are constants of a graph here; use 'real' or 'fake'"
        )

    def traced(*args: Any) -> GraphModule:
        tracing = _Tracing(decomposition_table or {})
        words = _parameters(f, len(args))
        leaves, spec = tree_flatten(list(args))
        is_nested = not all(child.is_leaf() for child in spec.children_specs)
        for name, x in zip(_names_of_leaves(words, spec), leaves, strict=True):
            default = () if x is not None or is_nested else (None,)
            node = tracing.graph.create_node("placeholder", name, default)
            node.target = node.name
            if isinstance(x, Tensor):
                tracing.note(x, node)
        with tracing:
            result = f(*args)
        name, returned = ("<lambda>", None) if words is None else (f.__name__, f.__annotations__.get("return"))
        if not is_nested:
            tracing.graph.output(tree_map(tracing.argument, result), returned)
            return GraphModule(tracing.root, tracing.graph, name)
        results, results_spec = tree_flatten(result)
        tracing.graph.output([*map(tracing.argument, results)])
        given = tuple(words or (f"arg{i}" for i in range(len(args))))
        tracing.graph._trees = Trees(given, f"[{', '.join(given)}]", spec, results_spec)
        return GraphModule(tracing.root, tracing.graph, name)

    return traced


def _parameters(f: Callable[..., Any], count: int) -> list[str] | None:
    """Return a function's parameters; None for what is not written with names. RuntimeError: there are others."""
    has_names = inspect.isfunction(f) and torch_name(f) is None  # torch's own functions are C's
    parameters = list(inspect.signature(f).parameters.values()) if has_names else []
    plain = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    if len(plain) < len(parameters) or not plain:
        return None
    if len(plain) != count:
        raise RuntimeError(f"Tracing expected {len(plain)} arguments but got {count} concrete arguments")
    return plain


def _names_of_leaves(words: list[str] | None, spec: TreeSpec) -> list[str]:
    """Return what the graph calls each leaf: `x_1`, and with the next numbers those of one parameter."""
    found = []
    for place, child in enumerate(spec.children_specs):
        word = f"arg{place}" if words is None else words[place]
        found += [f"{word}_{number}" for number in range(1, 1 + child.num_leaves)]
    return found


class _Tracing(TorchDispatchMode):
    """Computes each call, and makes a node of it."""

    def __init__(self, decompositions: dict[Any, Callable[..., Any]]) -> None:
        super().__init__()
        self.decompositions = decompositions
        self.graph, self.root = Graph(), Module()
        self.nodes: dict[int, tuple[Tensor, Node]] = {}  # by the tensor's id; it lives as long as the entry
        self.constants: dict[int, tuple[Tensor, str]] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func in self.decompositions:
            with self:
                return self.decompositions[func](*args, **kwargs)
        if func is packet("_local_scalar_dense").default and id(args[0]) in self.nodes:
            raise RuntimeError(
                f"It appears that you're trying to get value out of a tracing tensor with {func} - erroring out! "
                "It's likely that this is caused by data-dependent control flow or similar.  It may be possible to "
                "trace this with dynamic shapes; try setting tracing_mode='symbolic' in your make_fx call."
            )
        result = func(*args, **kwargs)
        shown = packet("lift_fresh_copy").default if func is packet("lift_fresh").default else func
        self._note_results(result, self._call(shown, args, kwargs))
        return result

    def _call(self, func: Overload, args: Any, kwargs: dict[str, Any]) -> Node:
        name = func.overloadpacket.__name__
        args, kwargs = (tree_map(self.argument, given) for given in (tuple(args), dict(kwargs)))
        return self.graph.create_node("call_function", func, args, kwargs, name)

    def argument(self, x: Any) -> Any:
        """Return the node of a tensor; one that nobody computed is a constant of the module."""
        if not isinstance(x, Tensor):
            return x
        if id(x) in self.nodes:
            return self.nodes[id(x)][1]
        return self.graph.get_attr(self._constant(x))

    def _constant(self, x: Tensor) -> str:
        if id(x) not in self.constants:
            kind = "_param_constant" if isinstance(x, Parameter) else "_tensor_constant"
            count = sum(name.startswith(kind) for _, name in self.constants.values())
            self.constants[id(x)] = x, f"{kind}{count}"
            if isinstance(x, Parameter):
                setattr(self.root, f"{kind}{count}", x)
            else:
                self.root.register_buffer(f"{kind}{count}", x)
        return self.constants[id(x)][1]

    def _note_results(self, result: Any, node: Node) -> None:
        for tensor, own in with_nodes(result, node):
            self.note(tensor, own)

    def note(self, tensor: Tensor, node: Node) -> None:
        """Remember whose node a tensor is."""
        node.meta["val"], node.meta["tensor_meta"] = tensor.detach(), metadata(tensor)
        self.nodes[id(tensor)] = tensor, node


def with_nodes(result: Any, node: Node) -> Iterator[tuple[Tensor, Node]]:
    """Yield each tensor that a call gave with its node: the call's own, or one that takes it out of a sequence."""
    if isinstance(result, Tensor):
        yield result, node
    elif isinstance(result, Sequence) and not isinstance(result, str):
        for place, each in enumerate(result):
            if isinstance(each, Tensor):
                yield each, node.graph.call_function(operator.getitem, (node, place))
