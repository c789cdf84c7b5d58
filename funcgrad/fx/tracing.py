"""Tracing: a module or function is called with proxies, and what it does to them is written down as a Graph."""

from __future__ import annotations

import builtins
import functools
import inspect
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FunctionType
from typing import Any

from funcgrad._tensor import functions as fg
from funcgrad._tensor import overriding
from funcgrad._tensor.tensor import Tensor
from funcgrad.fx.code import WRAPPED
from funcgrad.fx.graph import Graph
from funcgrad.fx.graph_module import GraphModule
from funcgrad.fx.node import map_aggregate
from funcgrad.fx.proxy import Proxy, TracerBase
from funcgrad.nn.containers import Sequential
from funcgrad.nn.module import Module
from funcgrad.nn.parameter import Parameter

_wrapped: list[tuple[dict[str, Any], str]] = []  # globals of a file, and the name in it that tracing shall not enter


class Tracer(TracerBase):
    """Traces a module. Subclasses say what is a leaf (`is_leaf_module`) and how nodes are made (`create_node`, ...)."""

    def __init__(
        self, autowrap_modules: tuple[Any, ...] = (math,), autowrap_functions: tuple[Any, ...] = (),
        param_shapes_constant: bool = False,
    ) -> None:  # fmt: skip
        self.autowrap_modules, self.autowrap_functions = autowrap_modules, autowrap_functions
        self.param_shapes_constant = param_shapes_constant
        self.proxy_buffer_attributes = False
        self.root: Any = None
        self.graph = Graph()
        self.tensor_attrs: dict[int, str] = {}

    # What a subclass may say

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        """Tell whether calls of this module are one node: torch's own layers are, but for Sequential."""
        return m.__module__.startswith(("torch.nn", "funcgrad.nn")) and not isinstance(m, Sequential)

    def call_module(self, m: Module, forward: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Return what a call of a module gives: a node for a leaf, else what its forward does to the proxies."""
        path = self.path_of_module(m)
        if self.is_leaf_module(m, path):
            return self.create_proxy("call_module", path, args, kwargs)
        return forward(*args, **kwargs)

    def create_arg(self, a: Any) -> Any:
        """Return an argument as nodes take it. NotImplementedError: of a type that a graph does not hold."""
        if isinstance(a, Tensor):
            return self.create_node("get_attr", self._name_of_tensor(a), (), {})
        if isinstance(a, Module):
            return self.create_node("get_attr", self.path_of_module(a), (), {})
        return super().create_arg(a)

    # Gift

    def path_of_module(self, mod: Module) -> str:
        """Return the dotted name of a module below the root. NameError: it is none of it."""
        for name, module in self.root.named_modules():
            if module is mod:
                return name
        raise NameError("module is not installed as a submodule")

    def _name_of_tensor(self, tensor: Tensor) -> str:
        """Return the attribute of the root that a tensor is; one that is none becomes a constant of it."""
        found = self.tensor_attrs.get(id(tensor))
        if found is None:
            number = next(i for i in range(10**6) if not hasattr(self.root, f"_tensor_constant{i}"))
            found = self.tensor_attrs[id(tensor)] = f"_tensor_constant{number}"
            setattr(self.root, found, tensor)
        return found

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        """Return what reading an attribute of a module gives: a parameter (and a buffer, if wanted) as a proxy."""
        if not isinstance(attr_val, Parameter) and not (self.proxy_buffer_attributes and isinstance(attr_val, Tensor)):
            return attr_val
        name = self.tensor_attrs.get(id(attr_val))
        if name is None:
            return attr_val
        if name not in parameter_proxy_cache:
            parameter_proxy_cache[name] = self.create_proxy("get_attr", name, (), {})
        return parameter_proxy_cache[name]

    def trace(self, root: Any, concrete_args: dict[str, Any] | None = None) -> Graph:
        """Return the graph of a module or function. concrete_args: arguments to be taken as they are, by name."""
        overriding.arm()
        self.root = root if isinstance(root, Module) else Module()
        forward = type(root).forward if isinstance(root, Module) else root
        self.graph = Graph(tracer_cls=type(self))
        self.tensor_attrs = {id(t): name for name, t in _tensors_of(self.root)}
        function = inspect.unwrap(forward)
        args, kwargs = self._arguments(function, isinstance(root, Module), concrete_args or {})
        with self._patched(function):
            result = _without_stars(forward)(*args, **kwargs)
            returns = _annotation(function, "return")
            self.create_node("output", "output", (self.create_arg(result),), {}, type_expr=returns)
        return self.graph

    def _arguments(self, function: Any, has_self: bool, concrete: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        args: list[Any] = [self.root] if has_self else []
        kwargs: dict[str, Any] = {}
        by_position = _without_stars(function) is not function  # then parameters by keyword only come before the stars
        parameters = list(inspect.signature(function).parameters.values())[int(has_self) :]
        stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
        if by_position:
            parameters.sort(key=lambda p: p.kind in stars)
        for parameter in parameters:
            name, star = parameter.name, stars.get(parameter.kind, "")
            default = () if parameter.default is inspect.Parameter.empty or star else (parameter.default,)
            kind = None if name in concrete else _annotation(function, name)
            shown = f"{name}_1" if name in concrete else star + name
            proxy = self.create_proxy("placeholder", shown, default, {}, name=shown, type_expr=kind)
            given = self._specialized(proxy, name, concrete[name]) if name in concrete else proxy
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY and not by_position:
                kwargs[name] = given
            else:
                args.append(given)
        return args, kwargs

    def _specialized(self, proxy: Proxy, name: str, value: Any) -> Any:
        """Let the program check that an argument is what it was traced for."""
        if isinstance(value, (bool, int, float, str)):
            message = f"{name} has been specialized to have value {value} but got another value"
            self.create_proxy("call_function", fg._assert, (proxy == value, message), {})
        return value

    @contextmanager
    def _patched(self, function: Any) -> Iterator[None]:
        """Let modules, their parameters and functions that are not to be entered ask the tracer, within the block."""
        cache: dict[str, Any] = {}
        read, call, tracer = Module.__getattr__, Module.__call__, self

        def read_traced(module: Module, name: str) -> Any:
            return tracer.getattr(name, read(module, name), cache)

        def call_traced(module: Module, *args: Any, **kwargs: Any) -> Any:
            return tracer.call_module(module, functools.partial(call, module), args, kwargs)

        with ExitStack() as stack:
            stack.enter_context(_replaced(Module.__dict__, Module, "__getattr__", read_traced))
            stack.enter_context(_replaced(Module.__dict__, Module, "__call__", call_traced))
            for module in self.autowrap_modules:
                for name, found in list(vars(module).items()):
                    if callable(found) and not name.startswith("_"):
                        stack.enter_context(_replaced(vars(module), module, name, self._noting(found)))
            for scope, name in [*_wrapped, *_autowrapped(self.autowrap_functions, function)]:
                found = scope.get(name, getattr(builtins, name, None))
                WRAPPED.add(found)
                stack.enter_context(_replaced_in(scope, name, self._noting(found)))
            yield

    def _noting(self, function: Any) -> Callable[..., Any]:
        """Return a function that adds a node where it is given proxies, and else does what it does."""

        @functools.wraps(function, updated=())
        def noting(*args: Any, **kwargs: Any) -> Any:
            found: list[Any] = []
            map_aggregate((args, kwargs), lambda x: found.append(x) if isinstance(x, Proxy) else None)
            return self.create_proxy("call_function", function, args, kwargs) if found else function(*args, **kwargs)

        return noting


def _without_stars(function: Any) -> Any:
    """Return a function whose `*args` and `**kwargs` are two plain parameters, so that each can be a proxy."""
    code = getattr(function, "__code__", None)
    stars = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
    if code is None or not code.co_flags & stars:
        return function
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    plain = code.replace(co_argcount=count, co_posonlyargcount=0, co_kwonlyargcount=0, co_flags=code.co_flags & ~stars)
    return FunctionType(plain, function.__globals__, function.__name__, None, function.__closure__)


def _annotation(function: Any, name: str) -> Any:
    found = getattr(function, "__annotations__", {}).get(name)
    if type(found) is str and str(function.__module__).startswith("funcgrad."):  # text only because our files say so
        found = function.__globals__.get(found, found)
    return None if found in ("Any", Any) else found


def _tensors_of(root: Module) -> Iterator[tuple[str, Tensor]]:
    """Yield the dotted name of every tensor of a module: parameters, buffers and plain attributes."""
    yield from root.named_parameters(remove_duplicate=False)
    yield from root.named_buffers(remove_duplicate=False)
    for path, module in root.named_modules():
        for name, found in vars(module).items():
            if isinstance(found, Tensor):
                yield (f"{path}.{name}" if path else name), found


def _autowrapped(functions: tuple[Any, ...], traced: Any) -> list[tuple[dict[str, Any], str]]:
    scope = getattr(traced, "__globals__", {})
    return [(scope, name) for name, found in list(scope.items()) if any(found is f for f in functions)]


@contextmanager
def _replaced(names: Any, owner: Any, name: str, new: Any) -> Iterator[None]:
    """Put an attribute in the place of another within the block."""
    is_own, before = name in names, getattr(owner, name)
    setattr(owner, name, new)
    try:
        yield
    finally:
        if is_own:
            setattr(owner, name, before)
        else:
            delattr(owner, name)


@contextmanager
def _replaced_in(scope: dict[str, Any], name: str, new: Any) -> Iterator[None]:
    """Put a global name's meaning in the place of another within the block."""
    is_own, before = name in scope, scope.get(name)
    scope[name] = new
    try:
        yield
    finally:
        if is_own:
            scope[name] = before
        else:
            del scope[name]


def wrap(fn_or_name: Any) -> Any:
    """Let tracing note calls of a function of this file, or of Python's own, and not enter it. Use at module scope."""
    if not isinstance(fn_or_name, str) and not callable(fn_or_name):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    name = fn_or_name if isinstance(fn_or_name, str) else fn_or_name.__name__
    frame = sys._getframe(1)
    if frame.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    _wrapped.append((frame.f_globals, name))
    return fn_or_name


def symbolic_trace(root: Any, concrete_args: dict[str, Any] | None = None) -> GraphModule:
    """Return a module that does what `root` (a module or a function) does, with a graph that can be read and changed.

    Raises TraceError where control flow depends on numbers: `if x.sum() > 0`, `for row in x`.
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, Module) else root.__name__
    return GraphModule(tracer.root, graph, name)
