"""A Variable is a Value with a history: the node whose result it is. It never changes; for a leaf, its slot gathers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from funcgrad._program.record import copy_of
from funcgrad._program.value import Aval, LiftedValue, Value


class Variable:
    """value: the array, here or promised. node: whose result it is (GradNode, GradSlot or None); index: which."""

    __slots__ = ("index", "node", "value")

    def __init__(self, value: Value, node: Any = None, index: int = 0) -> None:
        self.value = value
        self.node = node
        self.index = index

    @property
    def aval(self) -> Aval:
        return self.value.aval

    @property
    def requires_grad(self) -> bool:
        return self.node is not None

    def detached(self) -> Variable:
        """Return the same value without its history."""
        if isinstance(self.value, LiftedValue):
            return self.value.detached()
        return self if self.node is None else Variable(self.value)

    def copied(self) -> Variable:
        """Return the same numbers as a variable without history that shares nothing with this one."""
        return Variable(copy_of(self.value)) if type(self.value) is Value else self.detached()

    # What a gradient that is not dense says otherwise

    def named(self) -> Any:
        """Return the Tensor that is a name for it."""
        return Names.wrap(self)

    def dense(self) -> Variable:
        """Return it as an array of its shape."""
        return self

    def plus(self, other: Variable) -> Variable:
        """Return the sum of two gradients of which one is not dense."""
        return other.plus(self)

    def bind(self, tensor: Any) -> None:
        """Let a Tensor, what shares its storage with it, be a name for this."""
        Names.write(tensor, self)


class Names:
    """How the floor above names a Variable, so that hooks and `.grad` see Tensors. `_tensor` sets them at import."""

    wrap: Callable[[Variable], Any]
    unwrap: Callable[[Any], Variable]
    write: Callable[[Any, Variable], None]
