"""Nodes of calls that have no derivative: some refuse to be passed, of others the gradient is zero everywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from funcgrad._ops.table import TABLE
from funcgrad._program.value import Aval
from funcgrad._tape.modes import thread
from funcgrad._tape.nodes import Node, named
from funcgrad._tape.variable import Variable

REFUSING = frozenset(("floor_divide", "heaviside"))  # torch says of them that a derivative is not implemented
_COMPARISONS = frozenset(("eq", "ne", "lt", "le", "gt", "ge"))  # which have a node where they are written in place


class _Underivable(Node):
    """A node that knows the avals of its result and of the inputs that its edges lead to."""

    __slots__ = ("aval", "edges", "input_avals")

    def __init__(self, aval: Aval, inputs: Sequence[Any]) -> None:
        super().__init__()
        derived = [x for x in inputs if type(x) is Variable and x.node is not None]
        self.aval = aval
        self.edges = tuple((x.node, x.index) for x in derived)
        self.input_avals = tuple(x.aval for x in derived)

    @property
    def avals(self) -> tuple[Aval, ...]:  # type: ignore[override]  # one result
        return (self.aval,)


class NotImplementedNode(_Underivable):
    """What refuses to be passed. call: torch's name of what was called."""

    __slots__ = ("call",)

    def pull(self, cotangents: Sequence[Variable | None], apply: Callable[..., list[Variable]]) -> Sequence[Any]:
        """Raise RuntimeError, always."""
        raise RuntimeError(f"derivative for aten::{self.call} is not implemented")


class LostNode(_Underivable):
    """What refuses to be passed, as torch says it where a formula is missing. call: torch's name of what was called."""

    __slots__ = ("call",)

    def pull(self, cotangents: Sequence[Variable | None], apply: Callable[..., list[Variable]]) -> Sequence[Any]:
        """Raise NotImplementedError, always."""
        raise NotImplementedError(f"the derivative for '{self.call}' is not implemented.")


class RefusedNode(_Underivable):
    """What refuses to be passed, in words of its own."""

    __slots__ = ("words",)

    def pull(self, cotangents: Sequence[Variable | None], apply: Callable[..., list[Variable]]) -> Sequence[Any]:
        """Raise RuntimeError, always."""
        raise RuntimeError(self.words)


class ZeroNode(_Underivable):
    """What gives zeros to the inputs of a comparison."""

    __slots__ = ()

    def pull(self, cotangents: Sequence[Variable | None], apply: Callable[..., list[Variable]]) -> Sequence[Any]:
        """Return zeros."""
        return [apply(TABLE["full"], (0.0,), (tuple(aval.shape), aval.dtype))[0] for aval in self.input_avals]


def refusing(name: str, inputs: Sequence[Any], result: Variable) -> Variable:
    """Return the result of a call with a history that refuses to be passed."""
    node = named(NotImplementedNode, "NotImplemented")(result.aval, inputs)
    node.call = name
    return Variable(result.value, node)


def lost(call: str, node: str, input: Variable, result: Variable) -> Variable:
    """Return what was found among the values of an input, with a history that refuses to be passed if that has one."""
    if input.node is None or not thread.grad:
        return result
    made = named(LostNode, node)(result.aval, (input,))
    made.call = call
    return Variable(result.value, made)


def refused(words: str, input: Variable, result: Variable) -> Variable:
    """Return a result with a history that refuses to be passed in these words, under the name of its own node."""
    made = named(RefusedNode, type(result.node).__name__)(result.aval, (input,))
    made.words = words
    return Variable(result.value, made)


def written(name: str, inputs: Sequence[Any], result: Variable) -> Variable:
    """Return what a call writes in place, with the history that torch gives it where the call has no derivative."""
    if type(result.node) is named(NotImplementedNode, "NotImplemented"):
        result.node.call = f"{name}_"
        return result
    if name not in _COMPARISONS or all(type(x) is not Variable or x.node is None for x in inputs):
        return result
    kind = named(ZeroNode, f"{name.capitalize()}Backward{int(isinstance(inputs[1], Variable))}")
    return Variable(result.value, kind(result.aval, inputs))
