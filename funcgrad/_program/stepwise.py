"""Runs a line one instruction at a time, each with an executable that is compiled once and serves every program.

For scripts whose programs hardly ever come back: a tree for each sentence, a coin thrown at each step. Compiled whole a
program of some hundred instructions costs a second or more that is never earned back; one at a time nothing is compiled
that has been seen before.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from funcgrad._ops.table import Number
from funcgrad._program.line import Argument, Loop, Ref, Step
from funcgrad._program.parts import found_or_made
from funcgrad._program.trie import Constant, Hole, is_open

RECENT, SELDOM = 8, 6  # plans that are looked back at; how many of them were run once if programs seldom come back


class InSteps:
    """Called as a plan is: (given leaves, kept leaves, numbers) -> results. It takes all leaves as kept ones."""

    def __init__(self, line: Sequence[Step | Loop], wanted: Sequence[Argument]) -> None:
        self.line, self.wanted = [step for step in line if isinstance(step, Step)], wanted
        assert len(self.line) == len(line), "a line with loops is run as a whole"
        self.execute = [_executable(step) for step in self.line]
        last_reader = {a.step: i for i, step in enumerate(self.line) for a in step.arguments if type(a) is Ref}
        last_reader.update({a.step: len(line) for a in wanted if type(a) is Ref})
        self.dropped: list[list[int]] = [[] for _ in range(len(line) + 1)]
        for step, reader in last_reader.items():
            self.dropped[reader].append(step)

    def __call__(self, given: list[Any], leaves: list[Any], numbers: Any) -> list[Any]:
        """Run the instructions in order; what nobody reads any more is let go at once."""
        values: dict[int, Any] = {}

        def get(argument: Argument) -> Any:
            if type(argument) is int:
                return leaves[-1 - argument]
            if type(argument) is Ref:
                return values[argument.step][argument.part]
            return np.float64(numbers[argument.position] if type(argument) is Hole else argument.number.real)

        for i, (step, execute) in enumerate(zip(self.line, self.execute, strict=True)):
            values[i] = execute([get(a) for a in step.arguments if _is_given(a)])
            for done in self.dropped[i]:
                del values[done]
        return [get(argument) for argument in self.wanted]


def _is_given(argument: Argument) -> bool:
    """Tell whether an argument is an array or a number that changes; all else is part of the executable."""
    return type(argument) in (int, Ref, Hole) or is_open(argument)


def _executable(step: Step) -> Callable[[list[Any]], Sequence[jax.Array]]:
    """Return the instruction's function of its arrays and numbers."""
    fixed = tuple([None if _is_given(a) else (a.number if type(a) is Constant else a,) for a in step.arguments])
    kinds = [a.kind if type(a) is Hole else type(a.number) if is_open(a) else None for a in step.arguments]
    op, statics = step.op, step.statics

    def run(given: list[Any]) -> Sequence[jax.Array]:
        rest = iter(given)
        arguments = [
            known[0] if known else next(rest) if kind is None else Number(next(rest), kind)
            for known, kind in zip(fixed, kinds, strict=True)
        ]
        return op.call(arguments, statics)

    return found_or_made((step.token, fixed, tuple(kinds)), lambda: jax.jit(run))


_recent: deque[Any] = deque(maxlen=RECENT)


def note_plan(plan: Any) -> None:
    """Remember a long program that was compiled whole. plan: has a count of runs."""
    _recent.append(plan)


def seldom_come_back() -> bool:
    """Tell whether the long programs compiled of late were run once and not again."""
    return len(_recent) == RECENT and sum(plan.runs <= 1 for plan in _recent) >= SELDOM


def forget_plans() -> None:
    """Begin anew: nothing was compiled of late."""
    _recent.clear()
