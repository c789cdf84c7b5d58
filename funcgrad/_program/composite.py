"""Several instructions as one op, for what is recorded again and again with nothing but other arrays."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any
from weakref import ref

import jax
import jax.numpy as jnp

from funcgrad._base.bounded import Bounded
from funcgrad._base.config import settings
from funcgrad._ops.table import Number
from funcgrad._program.line import Hole, Instruction, line_of, needed_calls
from funcgrad._program.record import Program
from funcgrad._program.rolling import LONG, rolled
from funcgrad._program.tracing import Tracing, parts_read
from funcgrad._program.trie import Call, Constant, Signature, forest, is_open, signature_of
from funcgrad._program.value import Aval, Value

_KNOWN: Bounded[Composite] = Bounded(1024)  # by what they compute


class Composite:
    """An op that computes what some calls compute.

    calls: they read its inputs (-1, -2, ...), arrays and numbers, and each other. wanted: the results that it returns.
    """

    __slots__ = ("_calls", "_wanted", "avals", "grad", "keep", "name", "numbers")

    def __init__(self, calls: Sequence[Instruction], wanted: tuple[int, ...]) -> None:
        self._calls, self._wanted = tuple(calls), wanted
        known = {slot: aval for call in calls for slot, aval in enumerate(call.avals, call.first)}
        self.avals = tuple([known[slot] for slot in wanted])
        self.name = "_and_".join(dict.fromkeys(call.op.name for call in calls))
        self.grad, self.numbers = None, "folded"
        self.keep = "residuals" if any(getattr(call.op, "keep", None) == "residuals" for call in calls) else "inputs"

    @property
    def key(self) -> Any:
        """What is equal for those that compute the same."""
        return tuple([(call.signature, call.arguments, call.first) for call in self._calls]), self._wanted

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
        return Composite(calls, self._wanted)

    def call(self, inputs: Sequence[Any], statics: Sequence[Any]) -> tuple[jax.Array, ...]:
        """Compute the wanted results. What repeats, the layers of a deep network, is rolled up as in a program."""
        numbers = [x for x in inputs if type(x) is Number]
        places = iter(range(len(numbers)))
        known = [Hole(next(places), x.kind) if type(x) is Number else -1 - place if hasattr(x, "shape")
                 else Constant.of(x) for place, x in enumerate(inputs)]  # fmt: skip
        calls = [call._replace(arguments=tuple([known[-1 - a] if type(a) is int and a < 0 else a
                                                for a in call.arguments])) for call in self._calls]  # fmt: skip
        line, results = line_of(calls, self._wanted)
        if settings.turns:
            line, results = rolled(line, results, settings.turns, LONG)
        tracing = Tracing(inputs, jnp.stack([x.value for x in numbers]) if numbers else None, parts_read(line, results))
        tracing.run(line)
        return tuple(map(tracing.get, results))


def composed(
    program: Program, wanted: Sequence[int], given: Container[ref[Value]], numbers: Mapping[int, Sequence[int]]
) -> tuple[Composite, list[ref[Value] | int]]:
    """Return what a program computes of its leaves as one op, and the Values and numbers that this takes, in order.

    given: all that it may take. Constants that are among them are inputs too; in the program they are instructions.
    numbers: for calls, known by their first results, which of the given numbers they read, in their order; all other
    numbers are part of the op. The program is not run, and what was recorded of it is forgotten.
    """
    last = program.cursor
    calls = needed_calls(last.path(), wanted)
    forest.forget(last)
    inputs = {slot: value for value, slot in program.leaf_slots.items() if value in given}
    places: dict[ref[Value] | int, int] = {}

    def renamed(call: Call) -> Any:
        read = iter(numbers.get(call.first, ()))
        for argument in call.arguments:
            if type(argument) is int and argument in inputs:
                yield -1 - places.setdefault(inputs[argument], len(places))
            elif type(argument) is not Hole and not is_open(argument):
                yield argument
            elif (place := next(read, None)) is not None:
                yield -1 - places.setdefault(place, len(places))
            else:
                yield Constant.of(program.numbers[argument.position]) if type(argument) is Hole else argument

    named = [Instruction(_opened(call.signature), tuple(renamed(call)), call.first)
             for call in calls if call.first not in inputs]  # fmt: skip
    made = Composite(named, tuple(wanted))
    return _KNOWN.found(made.key, lambda: made), list(places)


def _opened(signature: Signature | None) -> Signature:
    """Return the same call with all its numbers open."""
    assert signature is not None
    known = tuple([type(a.number) if is_open(a) else a for a in signature.arguments])
    return signature if known == signature.arguments else signature_of(signature.op, known, signature.statics)
