"""Proxy: stands for a tensor while a program is traced; whatever is done to it becomes a node of its tracer's graph."""

from __future__ import annotations

import dis
import operator
import sys
from collections.abc import Callable, Iterator
from typing import Any

from funcgrad._tensor import overriding
from funcgrad._tensor.tensor import Tensor
from funcgrad.fx.graph import Graph
from funcgrad.fx.naming import torch_name
from funcgrad.fx.node import Node, map_aggregate
from funcgrad.nn import functional
from funcgrad.nn.kernels import OF_METHODS

_BINARY = (
    *("add", "sub", "mul", "floordiv", "truediv", "mod", "pow", "lshift", "rshift", "and", "or", "xor", "matmul"),
    *("eq", "ne", "lt", "gt", "le", "ge", "getitem"),
)
_REFLECTED = (
    *("add", "sub", "mul", "floordiv", "truediv", "mod", "pow", "lshift", "rshift", "and", "or", "xor", "matmul"),
)
_UNARY = ("neg", "pos", "invert", "abs")
_PLAIN = (str, int, float, bool, complex, type(None), type(...), range)


class TraceError(ValueError):
    """The program cannot be traced: what it does depends on numbers that are not there."""


class Proxy:
    """Stands for the result of `node`. Operators, methods, attributes and torch's functions add nodes to its graph."""

    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        self.node, self.tracer = node, tracer or GraphAppendingTracer(node.graph)

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __getattr__(self, name: str) -> Attribute:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return Attribute(self, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Iterator[Any]:
        frame = sys._getframe(1)
        here = next(one for one in dis.get_instructions(frame.f_code) if one.offset == frame.f_lasti)
        if here.opname == "UNPACK_SEQUENCE":  # a, b = proxy
            return iter([self._part(i) for i in range(here.argval)])
        return self.tracer.iter(self)

    def _part(self, index: int) -> Proxy:
        return self.tracer.create_proxy("call_function", operator.getitem, (self, index), {})

    def __bool__(self) -> bool:
        return self.tracer.to_bool(self)

    def __len__(self) -> int:
        raise RuntimeError(
            "'len' is not supported in symbolic tracing by default. If you want this call to be recorded, please call "
            "torch.fx.wrap('len') at module scope"
        )

    def __contains__(self, item: Any) -> bool:
        raise RuntimeError("'in' is not supported in symbolic tracing: whether it holds depends on numbers")

    def keys(self) -> Any:
        """Refuse, or what the tracer's `keys` gives: `**proxy` asks for it."""
        return self.tracer.keys(self)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Add a node for a call of one of torch's functions."""
        found: list[Proxy] = []
        map_aggregate((args, kwargs or {}), lambda x: found.append(x) if isinstance(x, Proxy) else None)
        tracer = found[0].tracer
        is_method = torch_name(func) is None and getattr(Tensor, getattr(func, "__name__", ""), None) is func
        if is_method or _calls_method(func):
            return tracer.create_proxy("call_method", func.__name__, args, kwargs or {})
        return tracer.create_proxy("call_function", func, args, kwargs or {})


class Attribute(Proxy):
    """An attribute of a proxy. It becomes a node when it is used otherwise than by calling it."""

    def __init__(self, root: Proxy, attr: str) -> None:
        self.root, self.attr, self.tracer = root, attr, root.tracer
        self._node: Node | None = None

    @property
    def node(self) -> Node:  # type: ignore[override]  # made when it is asked for
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        assert self._node is not None
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


def _calls_method(function: Any) -> bool:
    """Tell whether torch's function only calls the tensor's method of its name, which is what is recorded."""
    return any(function is getattr(functional, name) for name in OF_METHODS)


def _operator(name: str) -> Callable[..., Any]:
    function = getattr(operator, f"{name}_" if name in ("and", "or") else name)

    def apply(self: Proxy, *others: Any) -> Proxy:
        return self.tracer.create_proxy("call_function", function, (self, *others), {})

    return apply


def _reflected(name: str) -> Callable[..., Any]:
    function = getattr(operator, f"{name}_" if name in ("and", "or") else name)

    def apply(self: Proxy, other: Any) -> Proxy:
        return self.tracer.create_proxy("call_function", function, (other, self), {})

    return apply


for _name in (*_BINARY, *_UNARY):
    setattr(Proxy, f"__{_name}__", _operator(_name))
for _name in _REFLECTED:
    setattr(Proxy, f"__r{_name}__", _reflected(_name))
Proxy.__hash__ = object.__hash__  # type: ignore[method-assign]  # `__eq__` adds a node, so proxies are told apart by id


class TracerBase:
    """Writes what is done to proxies into a graph. A subclass has a `graph`; it may say how nodes are made."""

    graph: Graph

    def create_node(
        self, kind: str, target: Any, args: Any, kwargs: Any, name: str | None = None, type_expr: Any = None
    ) -> Node:
        """Add a node to the graph."""
        return self.graph.create_node(kind, target, args, kwargs, name, type_expr)

    def proxy(self, node: Node) -> Proxy:
        """Return what stands for a node's result."""
        return Proxy(node, self)

    def iter(self, obj: Proxy) -> Iterator[Any]:
        """Answer for a loop over a proxy: it is refused."""
        raise TraceError(
            "Proxy object cannot be iterated. This can be attempted when the Proxy is used in a loop or as a *args or "
            "**kwargs function argument. See the torch.fx docs on pytorch.org for a more detailed explanation of what "
            "types of control flow can be traced, and check out the Proxy docstring for help troubleshooting Proxy "
            "iteration errors"
        )

    def to_bool(self, obj: Proxy) -> bool:
        """Answer for `if proxy:`: it is refused."""
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def keys(self, obj: Proxy) -> Any:
        """Answer for `**proxy`: a call of `keys`."""
        return self.create_proxy("call_method", "keys", (obj,), {})

    def create_arg(self, a: Any) -> Any:
        """Return an argument as nodes take it. NotImplementedError: of a type that a graph does not hold."""
        if isinstance(a, Proxy):
            return a.node
        if isinstance(a, (tuple, list, dict, slice)):
            return map_aggregate(a, self.create_arg)
        if isinstance(a, (*_PLAIN, Node)) or callable(a) or type(a).__module__.startswith(("funcgrad", "torch")):
            return a
        raise NotImplementedError(f"argument of type: {type(a)}")

    # Gift

    def create_proxy(
        self, kind: str, target: Any, args: Any, kwargs: Any, name: str | None = None, type_expr: Any = None,
        proxy_factory_fn: Callable[[Node], Proxy] | None = None,
    ) -> Proxy:  # fmt: skip
        """Add a node whose arguments may hold proxies, and return what stands for its result."""
        made_args, made_kwargs = self.create_arg(tuple(args)), self.create_arg(dict(kwargs))
        node = self.create_node(kind, target, made_args, made_kwargs, name, type_expr)
        return self.proxy(node) if proxy_factory_fn is None else proxy_factory_fn(node)


class GraphAppendingTracer(TracerBase):
    """Appends to a graph that is there already, for programs that write graphs with proxies."""

    def __init__(self, graph: Graph) -> None:
        overriding.arm()
        self.graph = graph
