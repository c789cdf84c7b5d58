"""Runs a module once, and writes down each call before torch composes it of others, with all state as inputs."""

from __future__ import annotations

import inspect
import re
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from funcgrad._program.run import flush
from funcgrad._tensor.packets import Overload, packet
from funcgrad._tensor.tensor import Tensor
from funcgrad.dispatching.tracing import with_nodes
from funcgrad.dispatching.whole import WholeCallsMode
from funcgrad.export.signature import (
    ConstantArgument,
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    TensorArgument,
)
from funcgrad.fx.graph import Graph
from funcgrad.fx.node import Node
from funcgrad.fx.shapes import metadata
from funcgrad.nn.module import Module
from funcgrad.nn.parameter import Parameter
from funcgrad.utils._pytree import tree_flatten, tree_flatten_with_path, tree_map

_DEPENDS_ON_NUMBERS = (
    "Could not guard on data-dependent expression: the module asks for a number of a tensor, and a graph has one way "
    "only. Use torch.where, or ask for it outside of what is exported.\n{}"
)


class Traced:
    """What running a module gave: the graph, what its inputs and outputs are, constants, the results' structure."""

    def __init__(self, module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        names = _names_of_inputs(module, args, kwargs)
        self.parameters = _parameters(module, args), list(kwargs)
        flush()
        leaves, self.in_spec = tree_flatten((args, kwargs))
        with _state_apart(module) as state:
            writing = _Writing(module, state)
            stand_ins = [writing.input(name, leaf) for name, leaf in zip(names, leaves, strict=True)]
            given, named = self.in_spec.unflatten(stand_ins)
            with writing:
                result = module(*given, **named)
        results, self.out_spec = tree_flatten(result)
        self.graph, self.constants = writing.graph, writing.constants
        outputs = [writing.argument(x) for x in results]
        writing.graph.output(tuple(outputs))
        writing.leave_out_unused_constants()
        self.signature = ExportGraphSignature(writing.input_specs(), [*map(_output_spec, outputs)])


def _output_spec(given: Any) -> OutputSpec:
    argument = TensorArgument(given.name) if isinstance(given, Node) else ConstantArgument("", given)
    return OutputSpec(OutputKind.USER_OUTPUT, argument, None)


def _names_of_inputs(module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[str]:
    """Return a name for each leaf of the arguments: the parameter's, with the way that leads to the leaf."""
    bound = inspect.signature(module.forward).bind(*args, **kwargs)
    found = []
    parameters = inspect.signature(module.forward).parameters
    for name, value in bound.arguments.items():
        kind = parameters[name].kind
        values = value.items() if kind is inspect.Parameter.VAR_KEYWORD else [(name, value)]
        for word, each in values:
            for path, _ in tree_flatten_with_path(each)[0]:
                parts = [str(getattr(key, "key", getattr(key, "idx", getattr(key, "name", "")))) for key in path]
                found.append(re.sub(r"\W", "_", "_".join([word, *parts])).lower())
    return found


def _parameters(module: Module, args: tuple[Any, ...]) -> list[str]:
    names = list(inspect.signature(module.forward).bind_partial(*args).arguments)
    return names


class _State:
    """The tensors of a module under their dotted names, with what stands for each while it runs."""

    def __init__(self) -> None:
        self.entries: list[tuple[str, InputKind, bool | None, Tensor]] = []


@contextmanager
def _state_apart(module: Module) -> Iterator[_State]:
    """Let copies stand for parameters and buffers, so that running the module changes nothing."""
    state, undone, copies = _State(), [], dict[int, Tensor]()

    def stand_in(place: dict[str, Any], name: str, tensor: Tensor) -> tuple[Tensor, bool]:
        is_new = id(tensor) not in copies
        if is_new:
            copied = tensor.detach().clone()
            copies[id(tensor)] = Parameter(copied, tensor.requires_grad) if isinstance(tensor, Parameter) else copied
        undone.append((place, name, tensor))
        place[name] = copies[id(tensor)]
        return copies[id(tensor)], is_new

    modules = list(module.named_modules())
    for kind, attribute in ((InputKind.PARAMETER, "_parameters"), (InputKind.BUFFER, "_buffers")):
        for path, owner in modules:
            place = getattr(owner, attribute)
            for name, tensor in list(place.items()):
                if tensor is None:
                    continue
                copied, is_new = stand_in(place, name, tensor)
                persistent = name not in owner._non_persistent_buffers_set if kind is InputKind.BUFFER else None
                if is_new:
                    state.entries.append((f"{path}.{name}" if path else name, kind, persistent, copied))
    for path, owner in modules:
        for name, value in vars(owner).items():
            if isinstance(value, Tensor):
                state.entries.append((f"{path}.{name}" if path else name, InputKind.CONSTANT_TENSOR, None, value))
    try:
        yield state
    finally:
        for place, name, tensor in undone:
            place[name] = tensor


_PREFIXES = {InputKind.PARAMETER: "p", InputKind.BUFFER: "b", InputKind.CONSTANT_TENSOR: "c"}


class _Writing(WholeCallsMode):
    """Computes each call, and makes a node of it."""

    def __init__(self, module: Module, state: _State) -> None:
        super().__init__()
        self.graph = Graph()
        self.nodes: dict[int, tuple[Tensor, Node]] = {}  # by the tensor's id; it lives as long as the entry
        self.specs: dict[Node, InputSpec] = {}
        self.constants: dict[str, Tensor] = {}
        self.first_input: Node | None = None
        for name, kind, persistent, tensor in state.entries:
            self._lifted(name, kind, persistent, tensor)

    def _lifted(self, name: str, kind: InputKind, persistent: bool | None, tensor: Tensor) -> Node:
        word = re.sub("[^0-9a-zA-Z]", "_", name.removeprefix("self_")).lower()
        node = self.graph.placeholder(f"{_PREFIXES[kind]}_{word}")
        node.target = node.name
        self.specs[node] = InputSpec(kind, TensorArgument(node.name), name, persistent)
        if kind is InputKind.CONSTANT_TENSOR:
            self.constants[name] = tensor
        self.note(tensor, node)
        return node

    def input(self, name: str, given: Any) -> Any:
        """Make a node of a leaf of the arguments, and return what stands for it."""
        node = self.graph.placeholder(name)
        node.name = node.target = name
        self.first_input = self.first_input or node
        if not isinstance(given, Tensor):
            node.meta["val"] = given
            self.specs[node] = InputSpec(InputKind.USER_INPUT, ConstantArgument(node.name, given), None)
            return given
        self.specs[node] = InputSpec(InputKind.USER_INPUT, TensorArgument(node.name), None)
        stand_in = given.detach().requires_grad_(given.requires_grad)
        self.note(stand_in, node)
        return stand_in

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is packet("_local_scalar_dense").default:
            raise RuntimeError(_DEPENDS_ON_NUMBERS.format(_line() or ""))
        if func is packet("lift_fresh").default:
            return self._constant_made_inside(args[0])
        line = _line()
        if func.overloadpacket is packet("to"):
            self._note_kind(args[0], line)
        given, named = tree_map(self.argument, tuple(args)), tree_map(self.argument, dict(kwargs))
        node = self.graph.create_node("call_function", func, given, named, _name(func))
        node.meta["stack_trace"] = line
        result = func(*args, **kwargs)
        self._note_results(result, node)
        return result

    def _constant_made_inside(self, made: Tensor) -> Tensor:
        count = sum(name.startswith("lifted_tensor_") for name in self.constants)
        self._constant(f"lifted_tensor_{count}", made)
        func = packet("lift_fresh_copy").default
        node = self.graph.create_node("call_function", func, (self.argument(made),), {}, "lift_fresh_copy")
        node.meta["stack_trace"] = _line()
        result = made.detach().clone()
        self.note(result, node)
        return result

    def _note_kind(self, x: Tensor, line: str | None) -> None:
        """Note what a tensor is that is converted: the graph holds for no other."""
        func = packet("_assert_tensor_metadata").default
        kind = {"dtype": x.dtype, "device": x.device, "layout": x.layout}
        name = "_assert_tensor_metadata_default"
        node = self.graph.create_node("call_function", func, (self.argument(x),), kind, name)
        node.meta["stack_trace"] = line

    def _constant(self, name: str, tensor: Tensor) -> Node:
        with self.graph.inserting_before(self.first_input) if self.first_input else self.graph.inserting_after():
            return self._lifted(name, InputKind.CONSTANT_TENSOR, None, tensor)

    def argument(self, x: Any) -> Any:
        """Return the node of a tensor; one that no call gave is a constant."""
        if not isinstance(x, Tensor):
            return x
        if id(x) in self.nodes:
            return self.nodes[id(x)][1]
        if x.grad_fn is not None or x._current().value.program is not None:
            raise NotImplementedError(
                f"torch.export: a tensor of shape {list(x.shape)} was computed by a call that is not seen here"
            )
        count = sum(name.startswith("lifted_tensor_") for name in self.constants)
        return self._constant(f"lifted_tensor_{count}", x)

    def _note_results(self, result: Any, node: Node) -> None:
        for tensor, own in with_nodes(result, node):
            own.meta["stack_trace"] = node.meta["stack_trace"]
            self.note(tensor, own)

    def note(self, tensor: Tensor, node: Node) -> None:
        """Remember whose node a tensor is."""
        node.meta["val"], node.meta["tensor_meta"] = tensor.detach(), metadata(tensor)
        self.nodes[id(tensor)] = tensor, node

    def leave_out_unused_constants(self) -> None:
        """Erase the constants that no call takes."""
        for node, spec in list(self.specs.items()):
            if spec.kind is InputKind.CONSTANT_TENSOR and not node.users:
                self.graph.erase_node(node)
                del self.specs[node], self.constants[str(spec.target)]

    def input_specs(self) -> list[InputSpec]:
        """Return what the graph's inputs are, in their order."""
        return [self.specs[node] for node in self.graph.nodes if node.op == "placeholder"]


def _name(func: Overload) -> str:
    """Return what a node is called: `m_t` for mT, and `and` for __and__, which becomes `and_1`."""
    name = func.overloadpacket.__name__
    name = name[2:-2] if name.startswith("__") and name.endswith("__") else name
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def _line() -> str | None:
    """Return the line of a forward that calls, as a traceback shows it."""
    for frame in reversed(traceback.extract_stack()):
        if frame.name == "forward":
            return f'  File "{frame.filename}", line {frame.lineno}, in forward\n    {frame.line}'
    return None
