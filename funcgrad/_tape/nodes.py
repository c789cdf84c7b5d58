"""The graph: a GradNode per differentiable call, a GradSlot per leaf, each shown by the name that torch gives it."""

from __future__ import annotations

import functools
import itertools
from collections import OrderedDict
from collections.abc import Callable, Sequence
from itertools import zip_longest
from operator import getitem
from typing import Any
from weakref import ref

import numpy as np

from funcgrad._base.config import settings
from funcgrad._ops.table import Op
from funcgrad._program.record import note_history
from funcgrad._program.trie import Constant, Signature
from funcgrad._program.value import Aval, Value, of_array
from funcgrad._tape.anomalies import Anomalies, remember_line
from funcgrad._tape.packing import SavedTensor
from funcgrad._tape.variable import Names, Variable

SECOND_TIME = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been "
    "freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors "
    "after calling backward."
)
_sequence = itertools.count().__next__


def now() -> int:
    """Return a number between those of the nodes made before and after."""
    return _sequence()


_hooks_registered = itertools.count()


class RemovableHandle:
    """What registering a hook returns: `remove()` takes the hook away again; also usable as a `with` block."""

    __slots__ = ("_entered", "id")

    def __init__(self, hooks: dict[int, Any], hook: Any, *, prepend: bool = False) -> None:
        """hooks: in the order in which they run. prepend: before all others; hooks is an OrderedDict then."""
        self.id = next(_hooks_registered)
        self._entered: list[dict[int, Any]] = []
        self.enter(hooks, hook)
        if prepend:
            assert isinstance(hooks, OrderedDict)
            hooks.move_to_end(self.id, last=False)

    def enter(self, where: dict[int, Any], what: Any) -> None:
        """Put something under this hook's number, to be taken away with it."""
        where[self.id] = what
        self._entered.append(where)

    def remove(self) -> None:
        """Take the hook away; a second time does nothing."""
        for where in self._entered:
            where.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


class Node:
    """Contract: `edges`, `avals`, `pull`. Gift: torch's view of a node: name, next_functions, hooks."""

    __slots__ = ("__weakref__", "hooks", "metadata_", "order", "pre_hooks", "retained")
    edges: tuple[tuple[Any, int], ...]
    avals: tuple[Aval, ...]
    program: Any = None  # in which its call was recorded

    def __init__(self) -> None:
        self.order = _sequence()
        self.hooks: dict[int, Any] | None = None  # after the pull: (grad_inputs, grad_outputs)
        self.pre_hooks: list[tuple[int | None, dict[int, Any]]] | None = None  # before it, per result or for all
        self.retained: dict[int, GradSlot] | None = None
        if Anomalies.on:
            remember_line(self)

    def pull(self, cotangents: Sequence[Variable | None], apply: Callable[..., list[Variable]]) -> Sequence[Any]:
        """Return the gradient for each edge, given those of the results; None is zero."""
        raise AssertionError("a node says in pull how gradients go through it")

    def release(self) -> None:
        """Let go of what was saved for the backward pass."""

    def name(self) -> str:
        """Return torch's name of this node."""
        name = type(self).__name__
        return f"torch::autograd::{name}" if name in _NOT_OF_THE_TABLE else name

    def _sequence_nr(self) -> int:
        """Return a number larger than those of the nodes that were made before."""
        return self.order

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        return self.edges

    @property
    def metadata(self) -> dict[Any, Any]:
        if not hasattr(self, "metadata_"):
            self.metadata_: dict[Any, Any] = {}
        return self.metadata_

    def shown_inputs(self) -> list[tuple[int | None, bool]]:
        """Return, for each gradient that torch's hooks are shown, which edge's it is, and whether it is turned around.

        None: no gradient is wanted there. Turned around: torch's node is given the transposed input.
        """
        return [(place, False) for place in range(len(self.edges))]

    def register_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call hook(grad_inputs, grad_outputs) after this node; what it returns replaces grad_inputs."""
        self.hooks = {} if self.hooks is None else self.hooks
        return RemovableHandle(self.hooks, hook)

    def register_prehook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call hook(grad_outputs) before this node; what it returns replaces grad_outputs."""
        return RemovableHandle(self.hooks_before(None), hook)

    def hooks_before(self, index: int | None) -> dict[int, Any]:
        """Return the hooks on result `index` (None: on all results together), to be added to."""
        self.pre_hooks = [] if self.pre_hooks is None else self.pre_hooks
        found = next((hooks for i, hooks in self.pre_hooks if i == index), None)
        if found is None:
            found = {}
            self.pre_hooks.append((index, found))
        return found

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {hex(id(self))}>"


_NOT_OF_THE_TABLE = ("CopySlices", "CopyBackwards", "NotImplemented")  # which torch writes by hand


class AccumulateGrad(Node):
    """Where a leaf's gradient gathers; GradSlot in this house. `owner` is the leaf (a Tensor), held weakly.

    frozen: the leaf has said since that it wants no gradient, so that none gathers.
    """

    __slots__ = ("aval", "frozen", "grad", "owner", "post_hooks")
    edges = ()

    def __init__(self, owner: Any, aval: Aval) -> None:
        super().__init__()
        self.owner = None if owner is None else ref(owner)
        self.aval = aval
        self.grad: Any = None
        self.frozen = False
        self.post_hooks: dict[int, Any] | None = None

    @property
    def avals(self) -> tuple[Aval, ...]:  # type: ignore[override]  # a leaf's shape is its one result's
        return (self.aval,)

    @property
    def variable(self) -> Any:
        """The leaf itself, as torch's AccumulateGrad has it."""
        return None if self.owner is None else self.owner()

    def name(self) -> str:
        """Return torch's name of this node."""
        return "torch::autograd::AccumulateGrad"

    def __repr__(self) -> str:
        return f"<AccumulateGrad object at {hex(id(self))}>"


AccumulateGrad.__module__ = "builtins"  # where torch's is
GradSlot = AccumulateGrad  # what draws graphs asks for torch's name: `type(node).__name__`


class GradNode(Node):
    """The history of one recorded call: its pull-back and what that reads. Subclasses carry torch's name for it.

    saved: a tuple, or what gives it back when asked for its `tensors` (Remade, Packed); None once it is freed.
    """

    __slots__ = ("edges", "first", "program", "pullback", "saved", "signature")

    def __init__(self, signature: Signature, pullback: Any, saved: Any, edges: tuple[Any, ...], result: Value) -> None:
        self.order = _sequence()
        self.hooks = self.pre_hooks = self.retained = None
        self.signature = signature
        self.pullback = pullback
        self.saved = saved
        self.edges = edges
        self.program = program = result.program  # where its first result was promised: `memory` knows the graph again
        self.first = result.slot
        if program is not None and program.history is None:
            note_history(program, result)

    @property
    def avals(self) -> tuple[Aval, ...]:  # type: ignore[override]  # known by the signature
        return self.signature.avals

    def pull(self, cotangents: Sequence[Variable | None], apply: Callable[..., list[Variable]]) -> Sequence[Any]:
        """Record the pull-back of this node's op."""
        return self.pullback.pull(self._given_back(cotangents, apply), cotangents, apply)

    def pull_to(self, needed: list[bool], cotangents: Sequence[Variable | None], apply: Any) -> Sequence[Any]:
        """Record the pull-back to the edges that are needed only, so that its history is what they depend on."""
        if all(needed):
            return self.pull(cotangents, apply)
        saved = self._given_back(cotangents, apply)
        gradients = iter(self.pullback.pull_to(needed, saved, cotangents, apply))
        return [next(gradients) if is_needed else None for is_needed in needed]

    def _given_back(self, cotangents: Sequence[Variable | None], apply: Any) -> tuple[Any, ...]:
        if self.saved is None:
            raise RuntimeError(SECOND_TIME)
        if settings.strict and "guard" in self.metadata:
            self.metadata["guard"]()
        saved = self.saved
        return saved if type(saved) is tuple else saved.tensors(cotangents, apply.keeps_history)

    def release(self) -> None:
        """Let go of what was saved; a node that saved nothing can be passed again, as in torch."""
        if self.saved:
            self.saved = None  # type: ignore[assignment]  # None says: freed

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        shown = drawing(self.signature)
        return self._tensor_edges() if isinstance(shown, str) else _Drawn(shown, self).next_functions

    def shown_inputs(self) -> list[tuple[int | None, bool]]:
        """Return which edge's gradient stands at each place of `next_functions`."""
        shown = drawing(self.signature)
        if isinstance(shown, str):
            places = {argument: place for place, argument in enumerate(self.pullback.wanted)}
            return [(places.get(argument), False) for argument in self._tensor_inputs()]
        inputs = [_inputs_of(part) for part in shown[1:]]
        if any(len(names) > 1 for names in inputs):
            return super().shown_inputs()
        found = [self.pullback.place_by_name(*names, self.signature) if names else None for names in inputs]
        turned = [type(part) is tuple and part[0] == "TBackward0" for part in shown[1:]]
        return list(zip(found, turned, strict=True))

    def _tensor_edges(self) -> tuple[tuple[Any, int], ...]:
        """Return an edge for every tensor that the op could be differentiated by; (None, 0) where none was wanted."""
        edges = dict(zip(self.pullback.wanted, self.edges, strict=True))
        return tuple(edges.get(i, (None, 0)) for i in self._tensor_inputs())

    def _tensor_inputs(self) -> list[int]:
        """Return the places of the arguments that the op could be differentiated by."""
        numbers_too = self.name() in _MAKE_TENSORS_OF_NUMBERS
        inputs = zip(input_kinds(self.signature), self.signature.arguments, strict=True)
        return [i for i, (kind, given) in enumerate(inputs) if kind == "Array" and _is_input(given, numbers_too)]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_raw_saved_"):
            return self._place_of_saved(name.removeprefix("_raw_saved_"))
        if not name.startswith("_saved"):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        asked = _name_here(self.signature, name.removeprefix("_saved_"))
        if (found := _known_of_call(self.signature, asked)) is not _UNKNOWN:
            return found
        if asked == "result":
            return Names.wrap(Variable(self.pullback.result_again(self._kept(), self.signature), self))
        try:
            path = self.pullback.path_by_name(asked, self.signature)
        except AttributeError:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'") from None
        saved = None if path is None else functools.reduce(getitem, path, self._kept())
        if isinstance(saved, Variable):
            return _tensor_of(saved)
        return _as_kept(self.signature, saved) if isinstance(saved, (int, float, complex)) else saved

    def __dir__(self) -> list[str]:
        """Return torch's words, with `_saved_` before the name of each argument that is known or was saved."""
        return [*super().__dir__(), *(f"_saved_{name}" for name in _saved_names(self.signature, self.pullback))]

    def _kept(self) -> tuple[Any, ...]:
        if self.saved is None:
            raise RuntimeError(SECOND_TIME)
        return self.saved if type(self.saved) is tuple else self.saved.tensors((), False)

    def _place_of_saved(self, name: str) -> SavedTensor:
        """Return the place of a saved tensor; of the first input for the result, in the place of which it was saved."""
        of = self.signature.op.inputs[self.pullback.used[0]].name if name == "result" and self.pullback.used else name
        try:
            return SavedTensor(self, self.pullback.path_by_name(of, self.signature))
        except AttributeError:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '_raw_saved_{name}'") from None


# In other nodes of torch's a number is no input.
_MAKE_TENSORS_OF_NUMBERS = frozenset(
    ("AddBackward0", "SubBackward0", "MulBackward0", "DivBackward0", "DivBackward2", "WhereBackward0")
)


def _is_input(argument: Any, numbers_too: bool) -> bool:
    return isinstance(argument, Aval) or (numbers_too and argument is not None)


def _tensor_of(saved: Variable) -> Any:
    """Return the leaf itself where it still is what was saved, else another name for that."""
    leaf = saved.node.variable if type(saved.node) is GradSlot else None
    return leaf if leaf is not None and Names.unwrap(leaf) is saved else Names.wrap(saved)


_UNKNOWN = object()


def _known_of_call(signature: Signature, name: str) -> Any:
    """Return what torch's nodes keep besides tensors, by its name: an argument that is none, or a tensor's sizes."""
    op = signature.op
    if not isinstance(op, Op):
        return _UNKNOWN
    named = {parameter.name: given for parameter, given in zip(op.statics, signature.statics, strict=False)}
    named |= {parameter.name: given for parameter, given in zip_longest(op.inputs, signature.arguments)}
    if name == "self" and op.inputs:
        name = op.inputs[0].name
    if name in named and not isinstance(given := named[name], (Aval, type)):
        if type(given) is Constant:
            return _as_kept(signature, given.number)
        return 1 if given is None and name in _MULTIPLIERS else given
    of, _, what = name.partition("_sym_")
    tensor = signature.arguments[0] if of == "self" else named.get(of)
    if what not in ("sizes", "numel") or not isinstance(tensor, Aval):
        return _UNKNOWN
    return tuple(tensor.shape) if what == "sizes" else tensor.shape.numel()


def _saved_names(signature: Signature, pullback: Any) -> list[str]:
    """Return the names that torch has for a call's arguments, but for tensors that its pull-back does not read."""
    op = signature.op
    if not isinstance(op, Op) or op.variadic is not None:
        return []
    names = [_name_here(signature, name) for name in ("self", *(parameter.name for parameter in op.inputs[1:]))]
    arguments = zip(names, signature.arguments, strict=False)
    read = [x for i, (x, given) in enumerate(arguments) if not isinstance(given, Aval) or i in pullback.used]
    return [*read, *(parameter.name for parameter, _ in zip(op.statics, signature.statics, strict=False))]


def _name_here(signature: Signature, name: str) -> str:
    """Return what an argument is called here that torch has by this name: of 2 * x, x is `self` there."""
    is_turned = signature.op.name == "mul" and isinstance(signature.arguments[0], (Constant, type))
    return {"self": "other", "other": "self"}.get(name, name) if is_turned else name


def _as_kept(signature: Signature, number: complex) -> Any:
    """Return a number as torch's node keeps it: products and quotients have tensors of numbers."""
    return Names.wrap(Variable(of_array(np.array(number)))) if signature.op.name in ("mul", "div") else number


_MULTIPLIERS = ("alpha", "beta")  # of a sum's terms; one where not given


class _Drawn:
    """A node of torch's graph that has no call of its own here: one recorded call stands for several torch nodes."""

    __slots__ = ("_drawing", "_node")

    def __init__(self, drawn: tuple[Any, ...], node: GradNode) -> None:
        self._drawing, self._node = drawn, node

    def name(self) -> str:
        """Return torch's name of this node."""
        return self._drawing[0]

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        return tuple(self._edge(part) for part in self._drawing[1:])

    def _edge(self, part: Any) -> tuple[Any, int]:
        if part is None:
            return None, 0
        if not isinstance(part, str):
            return _drawn_class(part[0])(part, self._node) if _reaches(part, self._node) else None, 0
        return self._node.pullback.edge_by_name(self._node.edges, part, self._node.signature)

    def __repr__(self) -> str:
        return f"<{self.name()} object at {hex(id(self))}>"


def _inputs_of(part: Any) -> list[str]:
    """Return the names of the inputs that a part of a drawing leads to."""
    if part is None:
        return []
    return [part] if isinstance(part, str) else [name for inner in part[1:] for name in _inputs_of(inner)]


def _reaches(part: Any, node: GradNode) -> bool:
    if part is None:
        return False
    if isinstance(part, str):
        return node.pullback.edge_by_name(node.edges, part, node.signature)[0] is not None
    return any(_reaches(inner, node) for inner in part[1:])


_CLASSES: dict[tuple[type, str], type] = {}


def named(base: type, name: str, module: str = "builtins") -> type:
    """Return the subclass of `base` that carries torch's name, so that `type(node)` reads as in torch."""
    found = _CLASSES.get((base, name))
    if found is None:
        found = _CLASSES[base, name] = type(name, (base,), {"__slots__": (), "__module__": module})
    return found


def rename_node(node: Any, name: str) -> None:
    """Let the node of a recorded call be called what it is in torch, where that depends on who asked for the call."""
    if isinstance(node, GradNode):
        node.__class__ = named(GradNode, name)


def _drawn_class(name: str) -> Any:
    return named(_Drawn, name)


def drawing(signature: Signature) -> Any:
    """Return how torch's graph shows a call: a name, or (name, edge, ...).

    An edge is an input's name, a drawing, or None for one that leads nowhere.
    """
    grad = signature.op.grad
    if not callable(grad):
        return grad
    shapes = tuple(tuple(a.shape) if isinstance(a, Aval) else _shape_of_number(a) for a in signature.arguments)
    if grad.__code__.co_argcount == 2:
        return grad(shapes, signature.statics)
    return grad(shapes, signature.statics, tuple(a.dtype if isinstance(a, Aval) else None for a in signature.arguments))


def input_kinds(signature: Signature) -> list[str]:
    """Return the kind of each argument's parameter: one of a sequence of tensors counts as "Array"."""
    op, count = signature.op, len(signature.arguments)
    if not isinstance(op, Op):
        return ["Array"] * count
    kinds = [p.kind for p in op.inputs]
    if op.variadic is not None:
        kinds[op.variadic : op.variadic + 1] = ["Array"] * (count - len(kinds) + 1)
    return kinds[:count]


def _shape_of_number(argument: Any) -> Any:
    return argument if argument is None or isinstance(argument, type) else type(argument.number)


def node_class(signature: Signature) -> type:
    """Return the class of the nodes that such calls leave behind."""
    if signature.node_class is None:
        shown = drawing(signature)
        signature.node_class = named(GradNode, shown if isinstance(shown, str) else shown[0])
    return signature.node_class
