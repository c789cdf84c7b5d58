"""GraphModule: a module whose forward is written from a Graph, and written anew by `recompile`."""

from __future__ import annotations

import copy
import linecache
import warnings
from typing import Any

from funcgrad._tensor.tensor import Tensor
from funcgrad.fx.graph import Graph
from funcgrad.fx.naming import TORCH, torch_name
from funcgrad.fx.node import Node, map_arg
from funcgrad.fx.trees import Trees
from funcgrad.nn.module import Module

_HINT = "# To see more debug info, please use `graph_module.print_readable()`"
_written = iter(range(10**9))


class GraphModule(Module):
    """A module made of a graph. After changes to the graph, `recompile` writes `forward` anew.

    root: the module that the graph's get_attr and call_module nodes speak of, or a dictionary by dotted names.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> GraphModule:
        """Return an object of a class of its own: `forward` belongs to the class."""
        base = cls.__bases__[0] if "_is_of_one_object" in vars(cls) else cls
        own = {"__module__": base.__module__, "_is_of_one_object": True}
        return super().__new__(type("GraphModuleImpl", (base,), own))

    def __init__(self, root: Any, graph: Graph, class_name: str = "GraphModule") -> None:
        super().__init__()
        type(self).__name__ = class_name
        if isinstance(root, Module):
            self.training = root.training
        for node in graph.nodes:
            if node.op in ("get_attr", "call_module"):
                _take_over(self, root, str(node.target))
        self.graph = graph

    @property
    def graph(self) -> Graph:
        """The graph that `forward` is written from; to assign another writes it anew."""
        return self._graph

    @graph.setter
    def graph(self, new: Graph) -> None:
        if not isinstance(new, Graph):
            raise AssertionError(f"Expected a Graph instance, but got {type(new)}")
        self.__dict__["_graph"] = new
        new.owning_module = self
        self.recompile()

    @property
    def code(self) -> str:
        """The source of `forward`."""
        return self._code

    @property
    def _in_spec(self) -> Any:
        return self._graph._trees.in_spec

    @property
    def _out_spec(self) -> Any:
        return self._graph._trees.out_spec

    def recompile(self) -> Any:
        """Write `forward` from the graph; return its source and its globals."""
        written = self._graph.python_code("self")
        self.__dict__["_code"] = written.src
        name = f"<eval_with_key>.{next(_written)}"
        linecache.cache[name] = (len(written.src), None, written.src.splitlines(True), name)  # tracebacks show the line
        scope = {**written.globals, "torch": TORCH}
        source = "\n".join(line for line in written.src.split("\n") if not line.startswith("torch.fx."))
        exec(compile("from __future__ import annotations\n" + source, name, "exec"), scope)
        forward = scope["forward"]
        forward.__annotations__ = _types(self._graph)  # the types themselves; the source may name what has no global
        type(self).forward = forward
        return written

    # Submodules

    def add_submodule(self, target: str, m: Module) -> bool:
        """Enter a module under a dotted name, with empty modules on the way; False where the way is blocked."""
        *path, last = target.split(".")
        owner: Any = self
        for word in path:
            if not hasattr(owner, word):
                setattr(owner, word, Module())
            owner = getattr(owner, word)
            if not isinstance(owner, Module):
                return False
        owner.add_module(last, m)
        return True

    def delete_submodule(self, target: str) -> bool:
        """Remove the module with a dotted name; False where there is none."""
        path, _, last = target.rpartition(".")
        try:
            owner = self.get_submodule(path)
        except AttributeError:
            return False
        if not isinstance(getattr(owner, last, None), Module):
            return False
        delattr(owner, last)
        return True

    def delete_all_unused_submodules(self) -> None:
        """Remove the modules that no node of the graph speaks of."""
        used: set[str] = set()
        for node in self.graph.nodes:
            if node.op in ("call_module", "get_attr"):
                words = str(node.target).split(".")
                used.update(".".join(words[:count]) for count in range(1, len(words) + 1))
                if node.op == "call_module":
                    inner = self.get_submodule(str(node.target)).named_modules()
                    used.update(f"{node.target}.{name}" for name, _ in inner if name)
        for name in [name for name, _ in self.named_modules() if name and name not in used]:
            self.delete_submodule(name)

    # Text and copies

    def print_readable(self, print_output: bool = True) -> str:
        """Print, and return, the class that the graph is, with its source."""
        lines = self._code.strip().split("\n")
        text = f"class {type(self).__name__}(torch.nn.Module):\n" + "\n".join(f"    {line}" for line in lines)
        if print_output:
            print(text)
        return text

    def __str__(self) -> str:
        return "\n".join([super().__repr__(), self._code, _HINT])

    def __copy__(self) -> GraphModule:
        return _made_again(type(self).__name__, dict(self.__dict__), self.graph)

    def __deepcopy__(self, memo: dict[int, Any]) -> GraphModule:
        kept = {key: value for key, value in self.__dict__.items() if key not in ("_graph", "_code")}
        graph = copy.deepcopy(self.graph, memo)
        return _made_again(type(self).__name__, copy.deepcopy(kept, memo), graph)

    def __reduce__(self) -> Any:
        kept = {key: value for key, value in self.__dict__.items() if key not in ("_graph", "_code")}
        return _restored, (type(self).__name__, kept, _records(self.graph), self.graph._trees)


def _made_again(name: str, kept: dict[str, Any], graph: Graph) -> GraphModule:
    module = GraphModule(Module(), Graph(), name)
    module.__dict__.update({key: value for key, value in kept.items() if key not in ("_graph", "_code")})
    module.graph = graph
    return module


def _types(graph: Graph) -> dict[str, Any]:
    """Return the annotations of the function that is written: its parameters' types, and that of what it returns."""
    typed = [node for node in graph.nodes if node.op in ("placeholder", "output") and node.type is not None]
    return {"return" if node.op == "output" else str(node.target).lstrip("*"): node.type for node in typed}


def _take_over(module: Module, root: Any, target: str) -> None:
    """Give a module what another one has under a dotted name, itself; a dictionary may stand for the other."""
    *path, last = target.split(".")
    found, owner = root, module
    for word in path:
        if isinstance(root, Module):
            found = getattr(found, word, None)
        if found is None:
            warnings.warn(f"Did not find {target} in the module that the graph speaks of", stacklevel=3)
            return
        if getattr(owner, word, None) is found:
            return  # a module above it was taken over whole
        if not hasattr(owner, word):
            setattr(owner, word, Module())
        owner = getattr(owner, word)
    value = getattr(found, last, None) if isinstance(root, Module) else root.get(target)
    if value is None or getattr(owner, last, None) is value:
        return
    if isinstance(value, Tensor) and isinstance(found, Module) and last not in found._parameters:
        owner.register_buffer(last, value)
    else:
        setattr(owner, last, value)


class _NodeName(str):
    """Stands for a node in a pickle."""

    __slots__ = ()


class _FunctionName(str):
    """Stands for one of torch's functions in a pickle: found again by its dotted name."""

    __slots__ = ()


def _records(graph: Graph) -> list[tuple[Any, ...]]:
    """Return a graph as plain tuples, which can be pickled."""
    found = []
    for node in graph.nodes:
        known = torch_name(node.target) if node.op == "call_function" else None
        target = node.target if known is None else _FunctionName(known)
        args, kwargs = map_arg((node.args, node.kwargs), lambda given: _NodeName(given.name))
        found.append((node.op, target, args, kwargs, node.name, node.type))
    return found


def _restored(
    name: str, kept: dict[str, Any], records: list[tuple[Any, ...]], trees: Trees | None = None
) -> GraphModule:
    graph, nodes = Graph(), {}
    graph._trees = trees
    for op, target, args, kwargs, own, kind in records:
        if isinstance(target, _FunctionName):
            found: Any = TORCH
            for word in target.split(".")[1:]:
                found = getattr(found, word)
            target = found
        args, kwargs = _with_nodes((args, kwargs), nodes)
        nodes[own] = graph.create_node(op, target, args, kwargs, own, kind)
    return _made_again(name, kept, graph)


def _with_nodes(tree: Any, nodes: dict[str, Node]) -> Any:
    if isinstance(tree, (tuple, list)):
        return type(tree)(_with_nodes(part, nodes) for part in tree)
    if isinstance(tree, dict):
        return {key: _with_nodes(part, nodes) for key, part in tree.items()}
    return nodes[tree] if isinstance(tree, _NodeName) else tree
