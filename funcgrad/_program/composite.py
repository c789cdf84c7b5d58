"""Several instructions as one op, for what is recorded again and again with nothing but other arrays."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any
from weakref import ref

import jax
import numpy as np

from funcgrad._base.bounded import Bounded
from funcgrad._program.line import Instruction, line_of, needed_calls
from funcgrad._program.record import Program
from funcgrad._program.tracing import Tracing
from funcgrad._program.trie import Signature, forest
from funcgrad._program.value import Aval, Value

_KNOWN: Bounded[Composite] = Bounded(1024)  # by what they compute


class Composite:
    """An op that computes what some calls compute.

    calls: they read its inputs (-1, -2, ...) and each other. wanted: the results that it returns. own: the numbers that
    they read.
    """

    __slots__ = ("_calls", "_line", "_own", "_results", "_wanted", "avals", "grad", "keep", "name", "numbers")

    def __init__(self, calls: Sequence[Instruction], wanted: tuple[int, ...], own: tuple[float, ...]) -> None:
        self._calls, self._wanted, self._own = tuple(calls), wanted, own
        self._line, self._results = line_of(calls, wanted)
        known = {slot: aval for call in calls for slot, aval in enumerate(call.avals, call.first)}
        self.avals = tuple([known[slot] for slot in wanted])
        self.name = "_and_".join(dict.fromkeys(call.op.name for call in calls))
        self.grad, self.numbers = None, "folded"
        self.keep = "residuals" if any(getattr(call.op, "keep", None) == "residuals" for call in calls) else "inputs"

    @property
    def key(self) -> Any:
        """What is equal for those that compute the same."""
        return tuple([(call.signature, call.arguments, call.first) for call in self._calls]), self._wanted, self._own

    @property
    def instructions(self) -> int:
        """How many calls it stands for."""
        return len(self._calls)

    @property
    def written(self) -> list[Aval]:
        """What is known of all arrays that they give."""
        return [aval for call in self._calls for aval in call.avals]

    def made_of(self) -> tuple[Any, ...]:
        """Return the signatures of the calls, and a text that tells how these hang together."""
        signatures = tuple([call.signature for call in self._calls])
        return signatures, repr([(call.arguments, call.first) for call in self._calls])

    def made_anew(self, signatures: Sequence[Signature], _: str) -> Composite:
        """Return the same calls at other shapes."""
        calls = [call._replace(signature=known) for call, known in zip(self._calls, signatures, strict=True)]
        return Composite(calls, self._wanted, self._own)

    def call(self, inputs: Sequence[Any], statics: Sequence[Any]) -> tuple[jax.Array, ...]:
        """Compute the wanted results."""
        tracing = Tracing(inputs, np.array(self._own), {})
        tracing.run(self._line)
        return tuple(map(tracing.get, self._results))


def composed(
    program: Program, wanted: Sequence[int], given: Container[ref[Value]]
) -> tuple[Composite, list[ref[Value]]]:
    """Return what a program computes of its leaves as one op, and the Values that this takes, in order.

    given: all that it may take. Constants that are among them are inputs too; in the program they are instructions.
    The program is not run, and what was recorded of it is forgotten.
    """
    last = program.cursor
    calls = needed_calls(last.path(), wanted)
    forest.forget(last)
    inputs = {slot: value for value, slot in program.leaf_slots.items() if value in given}
    places: dict[int, int] = {}

    def renamed(argument: Any) -> Any:
        return -1 - places.setdefault(argument, len(places)) if argument in inputs else argument

    named = []
    for call in calls:
        if call.first not in inputs:
            assert call.signature is not None
            arguments = [renamed(argument) if type(argument) is int else argument for argument in call.arguments]
            named.append(Instruction(call.signature, tuple(arguments), call.first))
    made = Composite(named, tuple(wanted), tuple(program.numbers))
    return _KNOWN.found(made.key, lambda: made), [inputs[slot] for slot in places]
