"""The node that one call of an autograd.Function leaves in the graph, and the `ctx` of its methods."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple
from weakref import ref

from funcgrad._base.naming import c_class_name
from funcgrad._ops.table import TABLE
from funcgrad._program.value import Aval
from funcgrad._tape.modes import enable_grad, no_grad, thread
from funcgrad._tape.nodes import SECOND_TIME, GradSlot, Node, named
from funcgrad._tape.packing import Packed, SavedTensor, packed
from funcgrad._tape.recompute import Remade
from funcgrad._tape.variable import Names, Variable
from funcgrad._tensor import functions as fg
from funcgrad._tensor.aliases import View
from funcgrad._tensor.tensor import Tensor, variables_of


class _Saved(NamedTuple):
    """A tensor as it was when forward saved it. result: which of the results it is, None for any other.

    Of a result only the value is kept: its history is the node that keeps it.
    """

    tensor: Tensor | None
    variable: Variable
    result: int | None = None

    def read(self, node: FunctionNode | None) -> Tensor:
        """Return the tensor itself, or, where its name has come to mean something else, one of the saved value."""
        if self.result is not None:
            return Tensor._of(Variable(self.variable.value, node, self.result))
        if self.tensor is None or self.tensor._current() is not self.variable:
            return Tensor._of(self.variable)
        return self.tensor


class FunctionCtx:
    """The `ctx` of one call of a Function: what forward keeps for backward. All names but torch's are the user's."""

    __slots__ = (
        "__dict__", "__weakref__", "_freed", "_materialize", "_node", "_non_differentiable", "_saved",
        "_saved_for_forward", "dirty_tensors", "needs_input_grad",
    )  # fmt: skip

    def __init__(self, node: FunctionNode) -> None:
        self._node = ref(node)  # which holds its ctx
        self._saved: Any = ()
        self._saved_for_forward: tuple[Any, ...] = ()
        self._freed = False
        self._materialize = True
        self._non_differentiable: tuple[Tensor, ...] = ()
        self.dirty_tensors: tuple[Tensor, ...] = ()
        self.needs_input_grad: tuple[bool, ...] = ()

    def __repr__(self) -> str:
        return f"<torch.autograd.function.{self.name()} object at {hex(id(self))}>"

    def __getattr__(self, name: str) -> Any:
        """Return what torch's node has: next_functions, metadata, hooks."""
        node = self._node()
        if node is None or name not in _OF_NODE:
            raise AttributeError(f"'{self.name()}' object has no attribute '{name}'")
        return getattr(node, name)

    def name(self) -> str:
        """Return torch's name of the node."""
        return type(self).__name__

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for backward, which finds them in `saved_tensors`; freed with the graph."""
        self._saved = tuple(_Saved(t, t._current()) if isinstance(t, Tensor) else t for t in tensors)

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for `jvp`, which finds them in `saved_tensors`."""
        self._saved_for_forward = tensors

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What `save_for_backward` kept, in that order; RuntimeError once the graph is freed."""
        if self._freed:
            raise RuntimeError(SECOND_TIME)
        if type(self._saved) is not tuple:
            return tuple(Tensor._of(v) if isinstance(v, Variable) else v for v in self._saved.tensors((), True))
        return tuple(saved.read(self._node()) if type(saved) is _Saved else saved for saved in self._saved)

    @property
    def _raw_saved_tensors(self) -> tuple[SavedTensor, ...]:
        """The places of the saved tensors, on each of which a pair of hooks can be set."""
        tensors, node = self.saved_tensors, self._node()
        if type(self._saved) is not Packed:
            self._saved = Packed(tuple(variables_of(tensors)))
        return tuple(SavedTensor(node, (place,)) for place in range(len(tensors)))

    @property
    def saved_variables(self) -> tuple[Any, ...]:
        """The old name of `saved_tensors`."""
        warnings.warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2)
        return self.saved_tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Say which results have no gradient."""
        self._non_differentiable = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Say which inputs forward changed in place."""
        self.dirty_tensors = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Say whether backward gets zeros (True) or None for results whose gradient is not given."""
        self._materialize = value


_MODULE = "torch.autograd.function"
_OF_NODE = ("metadata", "next_functions", "register_hook", "register_prehook", "_sequence_nr")


class FunctionNode(Node):
    """The node of one call of a Function. Its `ctx` is apart, so that the user's names there hide none of these."""

    __slots__ = ("ctx", "edges", "function", "input_avals", "others", "result_avals")
    ctx: Any
    function: Any

    def __init__(self) -> None:
        super().__init__()
        self.edges: tuple[Any, ...] = ()
        self.input_avals: tuple[Aval | None, ...] = ()  # None: no tensor
        self.result_avals: tuple[Aval, ...] = ()
        self.others: tuple[int, ...] = ()  # the places of results that are no tensors: backward is given None there

    def __repr__(self) -> str:
        return f"<torch.autograd.function.{self.name()} object at {hex(id(self))}>"

    def __getattr__(self, name: str) -> Any:
        """Return what forward set on its ctx, which in torch is this node."""
        if name == "ctx":
            raise AttributeError(name)
        return getattr(self.ctx, name)

    @property
    def avals(self) -> tuple[Aval, ...]:  # type: ignore[override]  # known once forward has run
        return self.result_avals

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """An edge for each tensor among the arguments; (None, 0) where no gradient is wanted."""
        edges = iter(self.edges)
        wanted = zip(self.input_avals, self.ctx.needs_input_grad, strict=True)
        return tuple(next(edges) if needed else (None, 0) for aval, needed in wanted if aval is not None)

    def shown_inputs(self) -> list[tuple[int | None, bool]]:
        """Return which edge's gradient stands at each place of `next_functions`."""
        places = iter(range(len(self.edges)))
        wanted = zip(self.input_avals, self.ctx.needs_input_grad, strict=True)
        return [(next(places) if needed else None, False) for aval, needed in wanted if aval is not None]

    @property
    def saved(self) -> Any:
        """What forward saved, as a checkpointed block may take it away."""
        return self.ctx._saved

    @saved.setter
    def saved(self, saved: Any) -> None:
        self.ctx._saved = saved

    def in_forward_mode(self) -> None:
        """Let `saved_tensors` be what `save_for_forward` kept, if it was called."""
        self.saved = self.ctx._saved_for_forward or self.saved

    def give_history(self, places: dict[int, int]) -> None:
        """Let the results among what was saved (id -> place) have their history: second derivatives go through it.

        All is kept in another form where something asks for that.
        """
        self.saved = tuple(
            _Saved(None, Variable(saved.variable.value), places[id(saved.tensor)])
            if type(saved) is _Saved and id(saved.tensor) in places
            else saved
            for saved in self.saved
        )
        if thread.saved_hooks and self.saved:
            self.saved = packed(tuple(self._with_history(saved) for saved in self.saved))

    def _with_history(self, saved: Any) -> Any:
        if type(saved) is _Saved and saved.result is not None:
            return Variable(saved.variable.value, self, saved.result)
        return saved.variable if type(saved) is _Saved else saved

    def pull(self, cotangents: Sequence[Variable | None], apply: Callable[..., Any]) -> Sequence[Any]:
        """Call the Function's backward, recording history only where the pass keeps it."""
        if type(self.saved) is Remade:
            self.saved.prepare(cotangents)
        given: list[Any] = [self._given(i, c) for i, c in enumerate(cotangents)]
        for place in self.others:
            given.insert(place, None)
        with enable_grad() if apply.keeps_history else no_grad():  # type: ignore[attr-defined]  # both ways say it
            answer = backward_of(self.function)(self.ctx, *given)
            answers = answer if isinstance(answer, tuple) else (answer,)
            count = len(self.input_avals)
            if len(answers) < count or any(a is not None for a in answers[count:]):
                raise RuntimeError(
                    f"function {self.name()} returned an incorrect number of gradients "
                    f"(expected {count}, got {len(answers)})"
                )
            return [*self._gradients(answers)]

    def _gradients(self, answers: tuple[Any, ...]) -> Iterator[Variable | None]:
        """Yield what backward answered for each edge, in the shape and dtype of forward's input."""
        for answer in answers:
            if not (answer is None or isinstance(answer, Tensor)):
                raise RuntimeError(f"expected Variable or None (got {type(answer).__name__})")
        tensors = 0
        for position, (answer, aval) in enumerate(zip(answers, self.input_avals, strict=False)):
            if aval is None and answer is not None:
                raise RuntimeError(
                    f"function {self.name()} returned a gradient different than None at position {position + 1}, "
                    "but the corresponding forward input was not a Variable"
                )
            if aval is not None and self.ctx.needs_input_grad[position]:
                yield None if answer is None else Names.unwrap(self._fitted(answer, aval, tensors))
            tensors += aval is not None

    def _fitted(self, gradient: Tensor, wanted: Aval, index: int) -> Tensor:
        """Return a gradient summed over the dimensions that broadcasting would add, and cast; or refuse it."""
        given = gradient.shape
        refusal = f"Function {self.name()} returned an invalid gradient at index {index} - got"
        if given != wanted.shape:
            fitting = zip(reversed(wanted.shape), reversed(given), strict=False)
            if len(given) < len(wanted.shape) or any(size not in (1, got) for size, got in fitting):
                raise RuntimeError(f"{refusal} {list(given)} but expected shape compatible with {list(wanted.shape)}")
            gradient = gradient.sum_to_size(wanted.shape)
        if gradient.is_complex() and not wanted.dtype.is_complex:
            raise RuntimeError(f"{refusal} {gradient.dtype} but expected a real gradient for {wanted.dtype}")
        return gradient if gradient.dtype is wanted.dtype else gradient.to(wanted.dtype)

    def _given(self, index: int, cotangent: Variable | None) -> Tensor | None:
        if cotangent is not None:
            return Tensor._of(cotangent)
        aval = self.result_avals[index]
        return fg.zeros(aval.shape, dtype=aval.dtype) if self.ctx._materialize else None

    def release(self) -> None:
        """Let go of the saved tensors."""
        if self.saved:
            self.saved, self.ctx._freed = (), True


def no_backward(ctx: Any, *grad_outputs: Any) -> Any:
    """Return the gradient of each argument of forward."""
    raise NotImplementedError(
        "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
        "backward mode AD."
    )


def backward_of(function: Any) -> Any:
    """Return the backward of a Function, which may be called `vjp`; RuntimeError where there are both."""
    if function.vjp is no_backward:
        return function.backward
    if function.backward is not no_backward:
        raise RuntimeError(
            "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only implement "
            "one of them."
        )
    return function.vjp


def node_of(function: Any, args: Sequence[Any]) -> Any:
    """Return the node of a call of a Function, which knows what the arguments are, with a `ctx` for its methods."""
    name = f"{function.__name__}Backward"
    node: Any = named(FunctionNode, name, _MODULE)()
    node.ctx = named(FunctionCtx, name, _MODULE)(node)
    node.function = function
    variables = [a._current() if isinstance(a, Tensor) else None for a in args]
    node.ctx.needs_input_grad = tuple(v is not None and v.node is not None for v in variables)
    node.input_avals = tuple(None if v is None else v.aval for v in variables)
    node.edges = tuple((v.node, v.index) for v in variables if v is not None and v.node is not None)
    return node


def with_node(node: Any, args: Sequence[Any], answer: Any) -> Any:
    """Return what forward answered, with the node behind the results that have a gradient where one is wanted."""
    if not thread.grad or not any(node.ctx.needs_input_grad):
        results = [_own(r, args) for r in answer] if isinstance(answer, tuple) else _own(answer, args)
        return tuple(results) if isinstance(answer, tuple) else results
    _check_saved(node.ctx)
    results = answer if isinstance(answer, tuple) else (answer,)
    tensors = [r for r in results if isinstance(r, Tensor)]
    if not all(any(dirty is r for r in tensors) for dirty in node.ctx.dirty_tensors):
        raise RuntimeError(
            "Some elements marked as dirty during the forward method were not returned as output. The inputs that are "
            "modified inplace must all be outputs of the Function."
        )
    node.result_avals = tuple(t._current().aval for t in tensors)
    node.others = tuple(i for i, r in enumerate(results) if not isinstance(r, Tensor))
    node.give_history({id(t): i for i, t in enumerate(tensors) if _gets_history(node.ctx, t, args)})
    named_results, index = [], 0
    twice: dict[int, Tensor] = {}  # what forward makes and returns in two places is one tensor
    for result in results:
        if not isinstance(result, Tensor):
            named_results.append(result)
            continue
        if id(result) not in twice or any(result is a for a in args):
            twice[id(result)] = _result(node, result, index, args)
        named_results.append(twice[id(result)])
        index += 1
    return tuple(named_results) if isinstance(answer, tuple) else named_results[0]


def _own(result: Any, args: Sequence[Any]) -> Any:
    """Return a result that no node stands behind: an input that has a history is given as another name, without it."""
    if not isinstance(result, Tensor) or not result.requires_grad or not any(result is a for a in args):
        return result
    return result.detach()


def _check_saved(ctx: FunctionCtx) -> None:
    """Raise TypeError where backward will find what is no tensor among the saved ones."""
    for place, given in enumerate(ctx._saved if isinstance(ctx._saved, tuple) else ()):
        if given is not None and not isinstance(given, _Saved):
            kind = c_class_name(given)
            raise TypeError(f"save_for_backward can only save variables, but argument {place} is of type {kind}")


def _gets_history(ctx: FunctionCtx, result: Tensor, args: Sequence[Any]) -> bool:
    """Tell whether a result, as forward returned it, stands for a result of the node."""
    if any(result is t for t in ctx._non_differentiable) or not result._current().aval.differentiable:
        return False
    return any(result is t for t in ctx.dirty_tensors) or not any(result is a for a in args)


def _result(node: FunctionNode, result: Tensor, index: int, args: Sequence[Any]) -> Tensor:
    """Return a result with its history: where forward returned an input as it came, a view of that."""
    variable, is_given = result._current(), any(result is a for a in args)
    if any(result is t for t in node.ctx._non_differentiable) or not variable.aval.differentiable:
        return result.detach() if is_given else Tensor._of(variable.detached())
    own = Variable(variable.value, node, index)
    if any(result is t for t in node.ctx.dirty_tensors):
        if type(variable.node) is GradSlot:
            raise RuntimeError("a leaf Variable that requires grad has been used in an in-place operation.")
        result._write(own)
        return result
    named = Tensor._of(own)
    if is_given:
        named._alias = View(result, TABLE["alias"], (), (), variable)
    return named
