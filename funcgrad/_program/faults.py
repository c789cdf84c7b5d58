"""Conditions on numbers that a program computes: each is an instruction, and what came of all of them is one result.

Nothing waits for it. It is looked at when the host reads numbers anyway, of programs that are done by then.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from funcgrad._base.config import settings
from funcgrad._ops.conditions import ALL_WELL, BY_INSTRUCTION, ROOM
from funcgrad._program import record
from funcgrad._program.journal import user_line
from funcgrad._program.trie import Signature
from funcgrad._program.value import Aval, Value

_MANY = 64  # programs that nobody has looked at yet


class _Checks:
    """The checks of one program so far: what came of them all, and for each what it was and who wanted it.

    of_data: whether they came before the first result with a history. Those after it do not go on from these, since
    the program may be taken apart there (`apart`).
    """

    __slots__ = ("errors", "faults", "lines", "number", "of_data", "signatures")

    def __init__(self, of_data: bool) -> None:
        self.of_data = of_data
        self.faults: Value | None = None
        self.number: Value | None = None  # the wrong one, where one of the checks was of integers
        self.signatures: list[Signature] = []
        self.errors: list[Callable[[], Exception] | None] = []
        self.lines: list[str] = []

    def error(self, outcome: int) -> Exception:
        """Return the exception for the check that failed."""
        which, place = divmod(outcome, ROOM)
        signature, given = self.signatures[which], self.errors[which]
        *_, numbers, about = signature.arguments
        shape = about if type(about) is Aval else numbers
        condition, options = BY_INSTRUCTION[signature.op], signature.statics[0]
        if given:
            error = given()
        else:
            number = place if numbers.dtype.is_differentiable or self.number is None else int(self.number.array)
            error = condition.error(number, place, tuple(shape.shape), options)
        error.add_note(f"The numbers were computed by what was recorded until {self.lines[which]}")
        return error


Before: TypeAlias = tuple[_Checks, int, Value | None, Value | None]  # how many there were, and what had come of them


class _Thread(threading.local):
    """Each thread looks at its own."""

    def __init__(self) -> None:
        self.waiting: list[_Checks] = []


_thread = _Thread()


def check_when_read(
    condition: Any,
    numbers: Value,
    about: Value | None,
    options: tuple[Any, ...],
    error: Callable[[], Exception] | None = None,
) -> Before:
    """Record a condition on promised numbers; `raise_fault` raises its error once they are computed.

    about: the Value whose shape the condition is about, where that is not the numbers' own. error: makes the exception
    in the place of the condition's own; what it holds is held until then. Result: what `withdraw` goes back to.
    """
    waiting = _thread.waiting
    checks = waiting[-1] if waiting else None
    program = record.thread.program
    of_data = program.history is None
    continues = checks is not None and checks.faults is not None and checks.faults.program is program
    if checks is None or not continues or checks.of_data != of_data:
        if len(waiting) >= _MANY:
            _thread.waiting = waiting = [each for each in waiting if _outcome(each) not in (None, ALL_WELL)]
        checks = _Checks(of_data)
        waiting.append(checks)
    inputs = checks.faults, checks.number, len(checks.signatures), numbers, about
    signature, (checks.faults, *number) = record.record(condition.instruction, inputs, (options,))
    checks.number = number[0] if number else checks.number
    checks.signatures.append(signature)
    checks.errors.append(error)
    recorded = checks.faults.program is record.thread.program
    checks.lines.append(record.thread.program.cursor.line if recorded else user_line())
    if settings.eager:
        raise_fault()
    return checks, len(checks.signatures) - 1, inputs[0], inputs[1]


def withdraw(known: Sequence[Before | None]) -> None:
    """Forget the conditions of a call that was refused for another reason. known: what was known before each."""
    for before in reversed(known):
        if before:
            checks, count, checks.faults, checks.number = before
            for noted in (checks.signatures, checks.errors, checks.lines):
                del noted[count:]
            if checks.faults is None and checks in _thread.waiting:
                _thread.waiting.remove(checks)


def raise_fault(*, waits: bool = False) -> None:
    """Raise the error of the first condition that did not hold in a program that is done (waits: that was started).

    What was recorded after it is not looked at any more: in torch it would not have been called.
    """
    waiting = _thread.waiting
    for checks in tuple(waiting):
        outcome = _outcome(checks, waits=waits)
        if outcome is None:
            continue
        if outcome != ALL_WELL:
            del waiting[waiting.index(checks) :]
            raise checks.error(outcome)
        waiting.remove(checks)


def are_waiting() -> bool:
    """Tell whether there are conditions that nobody has looked at yet."""
    return bool(_thread.waiting)


def _always() -> bool:
    return True


def _outcome(checks: _Checks, *, waits: bool = False) -> int | None:
    """Return what came of the checks, or None where their program was not run or (unless it waits) is not done."""
    array = None if checks.faults is None else checks.faults.array
    if array is None or not (waits or getattr(array, "is_ready", _always)()):
        return None
    return int(array)
