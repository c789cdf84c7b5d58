"""A line: instructions in order, some of them loops over a line of their own. What the planner makes of a program.

What an instruction reads is an argument: a Ref to an earlier instruction's result, a leaf (-1, -2, ...: what the line
is given), a Hole in the program's numbers, a Constant, a Carried number, or None.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeVar

from funcgrad._program.trie import Call, Hole, Signature, is_open
from funcgrad._program.value import Aval, in_any_order

Argument: TypeAlias = Any


class Ref(NamedTuple):
    """A result: of which instruction, which one. Of a loop, `part` is a Ref in its body and `turn` says whose."""

    step: int
    part: Any
    turn: int | None = None


class Carried(NamedTuple):
    """A number that differs from turn to turn: the leaf of the body in which it comes, and its Python type."""

    leaf: int
    kind: type


class Instruction(NamedTuple):
    """A call that was not recorded as it is, but made from one; to the planner it is a Call."""

    signature: Signature
    arguments: tuple[Any, ...]
    first: int

    @property
    def op(self) -> Any:
        return self.signature.op

    @property
    def statics(self) -> tuple[Any, ...]:
        return self.signature.statics

    @property
    def avals(self) -> tuple[Aval, ...]:
        return self.signature.avals


Recorded: TypeAlias = Call | Instruction
CallT = TypeVar("CallT", Call, Instruction, Recorded)


class Step:
    """One call of an op. `token` is equal for calls that differ in what they read and in numbers only.

    kind: what `stepwise` knows of it, once asked.
    """

    __slots__ = ("arguments", "avals", "kind", "op", "statics", "token")

    def __init__(
        self, op: Any, statics: tuple[Any, ...], arguments: tuple[Argument, ...], avals: Sequence[Aval], token: Any
    ) -> None:
        self.op, self.statics, self.arguments, self.avals, self.token = op, statics, arguments, avals, token
        self.kind: Any = None

    def reading(self, arguments: Sequence[Argument]) -> Step:
        """Return the same call of other arguments."""
        return Step(self.op, self.statics, tuple(arguments), self.avals, self.token)

    def aval_of(self, part: Any) -> Aval:
        """Return what is known of a result."""
        return self.avals[part]

    def shape_of(self, part: Any) -> tuple[tuple[int, ...], Any]:
        """Return shape and dtype of a result."""
        aval = self.aval_of(part)
        return tuple(aval.shape), aval.dtype.numpy


class Loop:
    """A body that is run `turns` times.

    Its leaves are, in this order: `constants` (the same in each turn), carries (first `initial`, then what `updates`
    names in the turn before), and stacks (`per_turn`: one argument for each turn). `arguments` is all of that in a row.
    """

    __slots__ = ("_stacks", "arguments", "body", "body_token", "carries", "constants", "token", "turns", "updates")

    def __init__(
        self,
        body: Sequence[Step | Loop],
        turns: int,
        constants: int,
        updates: Sequence[Argument],
        arguments: Sequence[Argument],
    ) -> None:
        self.body, self.turns, self.constants, self.updates = tuple(body), turns, constants, tuple(updates)
        self.carries = len(self.updates)
        self.arguments = tuple(arguments)
        assert (len(self.arguments) - constants - self.carries) % turns == 0, "an argument for each turn of a stack"
        self._stacks: list[tuple[Argument, ...]] | None = None
        self.body_token = tuple([(step.token, step.arguments) for step in body])
        self.token = (self.body_token, turns, constants, self.updates, len(self.arguments))

    def reading(self, arguments: Sequence[Argument]) -> Loop:
        """Return the same loop over other arguments."""
        return Loop(self.body, self.turns, self.constants, self.updates, arguments)

    @property
    def initial(self) -> tuple[Argument, ...]:
        return self.arguments[self.constants : self.constants + self.carries]

    @property
    def stacks(self) -> list[tuple[Argument, ...]]:
        if self._stacks is None:
            starts = range(self.constants + self.carries, len(self.arguments), self.turns)
            self._stacks = [self.arguments[i : i + self.turns] for i in starts]
        return self._stacks

    def aval_of(self, part: Any) -> Aval:
        """Return what is known of a result of one turn."""
        return self.body[part.step].aval_of(part.part)

    def shape_of(self, part: Any) -> tuple[tuple[int, ...], Any]:
        """Return shape and dtype of a result of one turn."""
        return self.body[part.step].shape_of(part.part)


def line_of(calls: Sequence[Recorded], wanted: Sequence[int]) -> tuple[list[Step | Loop], list[Argument]]:
    """Return calls as a line, and where its wanted results are found. Slots count as in the program."""
    places: dict[int, Ref] = {}
    tokens: dict[Any, Any] = {}
    steps: list[Step | Loop] = []
    for i, call in enumerate(calls):
        signature = call.signature
        token = tokens.get(signature)
        if token is None:
            assert signature is not None
            token = tokens[signature] = token_of(signature)
        arguments = tuple([places[a] if type(a) is int and a >= 0 else a for a in call.arguments])
        steps.append(Step(call.op, call.statics, arguments, call.avals, token))
        for part, slot in enumerate(range(call.first, call.first + len(call.avals))):
            places[slot] = Ref(i, part)
    return steps, [places[slot] for slot in wanted]


def needed_calls(calls: Sequence[CallT], wanted: Iterable[int]) -> list[CallT]:
    """Return the calls that the wanted results depend on, in order."""
    alive = set(wanted)
    needed = []
    for call in reversed(calls):
        if any(slot in alive for slot in range(call.first, call.first + len(call.avals))):
            needed.append(call)
            alive.update(a for a in call.arguments if type(a) is int and a >= 0)
    needed.reverse()
    return needed


def takes_rows(call: Recorded | Step) -> bool:
    """Tell whether a call takes a row, or some one after the other, of its first argument."""
    return call.op.name in ("select", "slice") and call.statics[:1] == (0,)


def token_of(signature: Any) -> Any:
    """Return what is equal for calls that differ in what they read, in numbers and in torch's order of memory only.

    What they give is part of it: it may depend on the default dtype.
    """
    known = tuple([type(a.number) if is_open(a) else in_any_order(a) for a in signature.arguments])
    return signature.op, signature.statics, known, tuple(map(in_any_order, signature.avals))


def instructions_of(step: Step | Loop) -> int:
    """Return how many calls an instruction stands for: a composite for those it is made of, a loop for one."""
    return 1 if isinstance(step, Loop) else getattr(step.op, "instructions", 1)


def arguments_of(steps: Sequence[Step | Loop]) -> Iterator[Argument]:
    """Yield all that a line reads."""
    for step in steps:
        yield from step.arguments


def avals_of(steps: Iterable[Step | Loop]) -> Iterator[Aval]:
    """Yield the avals of all arrays that instructions read and return."""
    for step in steps:
        if isinstance(step, Loop):
            yield from avals_of(step.body)
        else:
            yield from step.avals
            yield from (known for known in step.token[2] if isinstance(known, Aval))


__all__ = [
    "Argument", "Carried", "Hole", "Instruction", "Loop", "Recorded", "Ref", "Step", "arguments_of", "avals_of",
    "instructions_of", "line_of", "needed_calls", "token_of",
]  # fmt: skip
