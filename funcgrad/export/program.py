"""ExportedProgram: a graph of aten's functions with its state, which can be called, printed and saved."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from funcgrad._tensor.tensor import Tensor
from funcgrad.export.signature import CallSpec, ExportGraphSignature, InputKind
from funcgrad.export.tracing import Traced
from funcgrad.fx.graph import Graph
from funcgrad.fx.graph_module import GraphModule
from funcgrad.fx.naming import Namespace
from funcgrad.fx.node import Node
from funcgrad.fx.trees import Trees
from funcgrad.nn.module import Module
from funcgrad.nn.parameter import Parameter
from funcgrad.utils._dtype_abbrs import dtype_abbrs
from funcgrad.utils._pytree import tree_structure


class ExportedProgram:
    """What `export` gives. graph: its inputs are parameters, buffers, constants, then what the user gives.

    state_dict: the module's parameters and persistent buffers, the very tensors. `module()` makes it callable again.
    """

    def __init__(
        self, graph: Graph, signature: ExportGraphSignature, state_dict: dict[str, Any], constants: dict[str, Any],
        call_spec: CallSpec, example_inputs: Any,
    ) -> None:  # fmt: skip
        self._graph_module = GraphModule(Module(), graph, "GraphModule")
        self._graph_signature, self._state_dict, self._constants = signature, state_dict, constants
        self._call_spec, self._example_inputs = call_spec, example_inputs

    @property
    def graph_module(self) -> GraphModule:
        """The graph as a module whose inputs are those of the graph."""
        return self._graph_module

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self._graph_module.graph

    @property
    def graph_signature(self) -> ExportGraphSignature:
        """What the inputs and outputs of the graph are."""
        return self._graph_signature

    @property
    def state_dict(self) -> dict[str, Any]:
        """The module's parameters and persistent buffers."""
        return self._state_dict

    @property
    def constants(self) -> dict[str, Any]:
        """The module's other tensors, and buffers that are not in the state_dict."""
        return self._constants

    @property
    def tensor_constants(self) -> dict[str, Any]:
        """The same as `constants`."""
        return self._constants

    @property
    def range_constraints(self) -> dict[Any, Any]:
        """The ranges of sizes that are not constants: there are none."""
        return {}

    @property
    def call_spec(self) -> CallSpec:
        """The structures of (args, kwargs) and of the results."""
        return self._call_spec

    @property
    def example_inputs(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The (args, kwargs) with which it was exported."""
        return self._example_inputs

    def parameters(self) -> Iterator[Parameter]:
        """Yield the parameters."""
        for _, parameter in self.named_parameters():
            yield parameter

    def named_parameters(self) -> Iterator[tuple[str, Parameter]]:
        """Yield the parameters with their names."""
        for name in self.graph_signature.parameters:
            yield name, self.state_dict[name]

    def buffers(self) -> Iterator[Tensor]:
        """Yield the buffers."""
        for _, buffer in self.named_buffers():
            yield buffer

    def named_buffers(self) -> Iterator[tuple[str, Tensor]]:
        """Yield the buffers with their names."""
        apart = set(self.graph_signature.non_persistent_buffers)
        for name in self.graph_signature.buffers:
            yield name, (self.constants if name in apart else self.state_dict)[name]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse, as torch does; RuntimeError."""
        raise RuntimeError(
            "Unable to call ExportedProgram directly. You should use `exported_program.module()` instead."
        )

    def module(self, check_guards: bool = True) -> GraphModule:
        """Return a module that holds the state and takes what the exported one took.

        check_guards: AssertionError for sizes and numbers other than those of the export. ValueError for arguments of
        another structure.
        """
        return _unlifted(self, checks=check_guards)

    def __reduce__(self) -> Any:
        known = [(node.name, _without_numbers(node.meta.get("val")), _line_of(node)) for node in self.graph.nodes]
        return _restored, (self._graph_module, known, self._parts())

    def __deepcopy__(self, memo: dict[int, Any]) -> ExportedProgram:
        known = [(node.name, node.meta.get("val"), _line_of(node)) for node in self.graph.nodes]
        return _restored(copy.deepcopy(self._graph_module, memo), known, copy.deepcopy(self._parts(), memo))

    def _parts(self) -> tuple[Any, ...]:
        return self._graph_signature, self._state_dict, self._constants, self._call_spec, self._example_inputs

    def __str__(self) -> str:
        code = readable(self.graph).replace("\n", "\n    ")
        signature = str(self.graph_signature).replace("\n", "\n    ")
        return (
            f"ExportedProgram:\n    {code}\nGraph signature: {signature}\nRange constraints: {self.range_constraints}\n"
        )

    def run_decompositions(self, decomp_table: Any = None, decompose_custom_triton_ops: bool = False) -> Any:
        """Refuse: graphs are those of the functions that a script calls. NotImplementedError."""
        raise NotImplementedError(
            "run_decompositions: make_fx of `program.module()` gives the graph of the functions that these end in"
        )


def exported(module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> ExportedProgram:
    """Run a module once and return what it called."""
    traced = Traced(module, args, kwargs)
    buffers = dict(module.named_buffers())
    kept = {name: buffers[name] for name in module.state_dict() if name in buffers}
    state = {**dict(module.named_parameters(remove_duplicate=False)), **kept}
    constants = {**traced.constants, **{name: buffers[name] for name in traced.signature.non_persistent_buffers}}
    spec = CallSpec(traced.in_spec, traced.out_spec, traced.parameters)
    return ExportedProgram(traced.graph, traced.signature, state, constants, spec, (args, kwargs))


def _without_numbers(value: Any) -> Any:
    return value.to("meta") if isinstance(value, Tensor) else value


def _line_of(node: Node) -> str | None:
    return node.meta.get("stack_trace")


def _restored(graph_module: GraphModule, known: list[tuple[Any, ...]], parts: tuple[Any, ...]) -> ExportedProgram:
    for node, (name, value, line) in zip(graph_module.graph.nodes, known, strict=True):
        node.name = name
        node.meta |= {"val": value, "stack_trace": line}
    return ExportedProgram(graph_module.graph, *parts)


class GuardsFn(Module):
    """Raises AssertionError for sizes and numbers other than those with which a module was exported."""

    def __init__(self, examples: list[tuple[str, Any]]) -> None:
        super().__init__()
        self.examples = examples

    def forward(self, *args: Any) -> None:
        """Look at the leaves of the arguments."""
        for given, (name, example) in zip(args, self.examples, strict=True):
            if not isinstance(example, Tensor):
                _require(given == example, f"{name} == {example!r}")
                continue
            for place, size in enumerate(example.shape):
                _require(given.size()[place] == size, f"{name}.size()[{place}] == {size}")


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise AssertionError(f"Guard failed: {what}")


def _unlifted(program: ExportedProgram, *, checks: bool) -> GraphModule:
    """Return the module, whose forward takes (args, kwargs) as the exported one's did."""
    root, graph, found = Module(), Graph(), dict[Node, Node]()
    tensors: Mapping[str, Any] = {**program.state_dict, **program.constants}
    specs = dict(zip(_placeholders(program.graph), program.graph_signature.input_specs, strict=True))
    for node, spec in specs.items():
        if spec.kind is not InputKind.USER_INPUT:
            _put(root, str(spec.target), tensors[str(spec.target)], is_buffer=spec.kind is InputKind.BUFFER)
            found[node] = graph.get_attr(str(spec.target))
    user = [node for node, spec in specs.items() if spec.kind is InputKind.USER_INPUT]
    for node in user:
        found[node] = graph.placeholder(node.name)
    if checks:
        root.add_module("_guards_fn", GuardsFn([(node.name, node.meta["val"]) for node in user]))
        graph.call_module("_guards_fn", tuple(found[node] for node in user))
    graph.output(graph.graph_copy(program.graph, found))
    args, kwargs = program.call_spec.names
    named = ", ".join(f"'{name}':{name}" for name in kwargs)
    given = f"([{', '.join(args)}], {{{named}}})"
    graph._trees = Trees((*args, *kwargs), given, program.call_spec.in_spec, program.call_spec.out_spec)
    made = GraphModule(root, graph)
    owner: Any = type(made)
    owner.forward = _forward(owner.forward, program.call_spec)
    owner.train, owner.eval = _refusing("train"), _refusing("eval")
    return made


def _refusing(name: str) -> Any:
    def refuse(self: Any, *mode: Any) -> Any:
        """Refuse: the way through the module is fixed."""
        raise NotImplementedError(f"Calling {name}() is not supported yet.")

    return refuse


def _placeholders(graph: Graph) -> list[Node]:
    return [node for node in graph.nodes if node.op == "placeholder"]


def _put(root: Module, target: str, tensor: Tensor, *, is_buffer: bool) -> None:
    """Give a module a tensor under a dotted name, with empty modules on the way."""
    *path, last = target.split(".")
    for word in path:
        if word not in root._modules:
            root.add_module(word, Module())
        root = root._modules[word]  # type: ignore[assignment]  # just made
    if is_buffer or not isinstance(tensor, Parameter):
        root.register_buffer(last, tensor, persistent=is_buffer)
    else:
        root.register_parameter(last, tensor)


def _forward(taking_parameters: Any, spec: CallSpec) -> Any:
    def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
        given = tree_structure((args, kwargs))
        if given != spec.in_spec:
            raise ValueError(
                f"Trying to flatten user inputs with exported input tree spec: \n{spec.in_spec}\n"
                f"but actually got inputs with tree spec of: \n{given}.\n"
                "Please check that the inputs have the same number and type of args and kwargs as the ones you used "
                "when tracing."
            )
        return taking_parameters(self, *args, **kwargs)

    return forward


def readable(graph: Graph) -> str:
    """Return the graph as a class, with what each result is, and the lines of the module that called."""
    lines, before = [], None
    with _names_of_code(graph) as others:
        code = graph.python_code("self").src
        statements = [line.strip() for line in code.strip().split("\n")[1:]]
        nodes = [node for node in graph.nodes if node.op != "placeholder"]
        lines += statements[: len(statements) - len(nodes)]
        for node, statement in zip(nodes, statements[len(lines) :], strict=True):
            stack = node.meta.get("stack_trace")
            if stack is not None and stack != before:
                lines += [*([""] if lines else []), _where(stack)]
                before = stack
            own, _, rest = statement.partition(" = ")
            kind = _kind(node)
            lines.append(f"{own}: {kind} = {rest}" if node.op != "output" and kind else statement)
        parameters = [f"{others.get(node, node.name)}{f': {kind}' if (kind := _kind(node)) else ''}"
                      for node in _placeholders(graph)]  # fmt: skip
    body = "".join(f"        {line}\n" if line else "\n" for line in lines)
    return f"class GraphModule(torch.nn.Module):\n    def forward({', '.join(['self', *parameters])}):\n{body}"


@contextmanager
def _names_of_code(graph: Graph) -> Iterator[dict[Node, str]]:
    """Let nodes have names that code can use; yield those that have another one else."""
    names, others = Namespace(), dict[Node, str]()
    for node in graph.nodes:
        name = names.create_name(node.name)
        if name != node.name:
            others[node], node.name = node.name, name
    try:
        yield others
    finally:
        for node, name in others.items():
            node.name = name


def _kind(node: Node) -> str:
    """Return what a result is, "f32[2, 3]" in quotes; nothing for what is no tensor."""
    value = node.meta.get("val")
    if not isinstance(value, Tensor):
        return ""
    return f'"{dtype_abbrs[value.dtype]}[{", ".join(map(str, value.shape))}]"'


def _where(stack: str) -> str:
    place, _, code = stack.strip().partition("\n")
    file, line, name = (part.strip() for part in place.split(", "))
    return f"# File: {file[6:-1]}:{line[5:]} in {name[3:]}, code: {code.strip()}"
