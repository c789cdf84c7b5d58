"""Tensors that wait for their shape: a level whose values no op takes, but for another dtype or device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from funcgrad._tape.apply import apply
from funcgrad._tape.levels import Level
from funcgrad._tape.variable import Variable

_TAKEN = {"to_dtype", "move"}


class Shapeless(Level):
    """The level of values without a shape. `refuse` raises what is to be said of an op's or a function's name."""

    __slots__ = ("refuse",)

    def __init__(self, refuse: Callable[[str], None]) -> None:
        super().__init__()
        self.refuse = refuse

    def admit(self, op: Any) -> None:
        """Refuse all ops but those that keep whatever shape there is."""
        if op.name not in _TAKEN:
            self.refuse(op.name)

    def read(self, below: Variable) -> Any:
        """Refuse: there are no numbers yet."""
        self.refuse("reading its numbers")

    def through(self, op: Any, inputs: Sequence[Any], statics: tuple[Any, ...], own: list[bool]) -> list[Variable]:
        """Apply the op; what comes of it waits for its shape too."""
        return [self.lift(result) for result in apply(op, self.below(inputs, own), statics)]
