"""Numpy runs a program of many instructions and small arrays until a compile is worth it: rent, then buy.

XLA takes seconds to compile a few hundred instructions, whatever the size of their arrays; numpy takes milliseconds to
run them once. Most scripts that are tried out, and tests, take a few dozen steps.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, ClassVar
from weakref import WeakValueDictionary

import jax

from funcgrad._base.config import settings
from funcgrad._program.counters import counters
from funcgrad._program.host.running import CALL, Limits, OnHost
from funcgrad._program.host.table import NotForHost
from funcgrad._program.journal import Compile, Journal, user_line
from funcgrad._program.line import Loop, Step, instructions_of
from funcgrad._program.primitives import equations_in, loops_in
from funcgrad._program.stepwise import COMPILE, COSTLY, PAID, as_of_xla

LIMITS = Limits(1 << 16, 1 << 24, 1 << 22)
LEAST = 36  # instructions: fewer are compiled in a second, and XLA runs them in half the time
_EQUATIONS = 7  # that take as long to compile as an instruction is taken to: a recurrent layer has hundreds
_DATA = 4  # times the calls: what elements and products may cost with them
_RUNS = 16  # what would be bought before so many runs is bought at once
_TIMES = 8  # that a script may begin anew with the same seed, and run what it runs as it did before


class Rented:
    """Gives what runs a program: `hosted`, numpy's, for so many runs; then `jitted`, XLA's.

    instructions, results: how many it has. Programs that compute the same share one, and its runs.
    """

    __slots__ = ("__weakref__", "_hosted", "_is_bought", "_jitted", "_left", "_runs", "_size", "_times")

    _everyone: ClassVar[WeakValueDictionary[int, Rented]] = WeakValueDictionary()

    def __init__(self, hosted: OnHost, jitted: Any, runs: int, instructions: int, results: int) -> None:
        self._hosted, self._jitted, self._size = hosted, jitted, (instructions, results)
        self._runs = self._left = runs
        self._times, self._is_bought = _TIMES, False
        self._everyone[id(self)] = self

    def chosen(self, *inputs: Any) -> Callable[..., Any]:
        """Return the function that runs it now. inputs: what it is given then."""
        if self._left > 0 and not Exactness.wanted_for:
            self._left -= 1
            return self._by_numpy
        if not self._is_bought:
            start = time.perf_counter()
            self._jitted.lower(*inputs).compile()  # which `jitted` finds
            counters.compiles += 1
            Journal.compiles.append(Compile(user_line(), *self._size, "it is run often", time.perf_counter() - start))
            self._is_bought = True
        return self._jitted

    def _by_numpy(self, *inputs: Any) -> list[Any]:
        return list(map(as_of_xla, self._hosted(*inputs)))

    @classmethod
    def began(cls) -> list[Rented]:
        """Return those that would run otherwise if they began again, and may."""
        everyone = [reference() for reference in cls._everyone.valuerefs()]  # a list: other threads may add some
        return [each for each in everyone if each is not None and each._times > 0 and each._left < each._runs]

    def begin_again(self) -> None:
        """Let numpy run it as often as before: a training that is repeated with its seed repeats its losses."""
        self._times, self._left = self._times - 1, self._runs


class Exactness:
    """Why results must not depend on how often a program was run, not even in the last digit; nothing if they may.

    A script asked for deterministic algorithms, or exported a step, which XLA runs to the same bits.
    """

    wanted_for: ClassVar[set[str]] = set()


def rented(jitted: Any, line: Sequence[Step | Loop], inputs: Sequence[Any], results: int) -> Rented | None:
    """Return how numpy runs a line at first; None for one that is compiled soon, or in which there is much to compute.

    jitted: its function, which keeps what is traced of it here. inputs: what it is given, as jax.ShapeDtypeStructs.
    results: how many there are. Much of what a run costs must be calls, as it is for PyTorch; and what many cost is to
    be a share of what the compile costs.
    """
    if not settings.host or not settings.turns or jax.default_backend() != "cpu":
        return None
    with jax.enable_x64(True):
        traced = jitted.trace(*inputs)
    instructions = size_of(line)
    jaxpr = traced.jaxpr.jaxpr
    size = max(instructions + COSTLY * loops_in(jaxpr), equations_in(jaxpr) // _EQUATIONS)
    if size < LEAST:
        return None
    try:
        hosted = OnHost(traced.jaxpr, LIMITS)
    except NotForHost:
        return None
    runs = int(COMPILE * size / (PAID * max(hosted.seconds, CALL)))
    if runs < _RUNS or hosted.seconds > _DATA * CALL * hosted.calls:
        return None
    return Rented(hosted, jitted, runs, instructions, results)


def as_of_now(execute: Any, *inputs: Any) -> Callable[..., Any]:
    """Return what runs a program now, for the numpy or XLA that a Rented one is. inputs: what it is given."""
    return execute.chosen(*inputs) if type(execute) is Rented else execute


def size_of(line: Sequence[Step | Loop]) -> int:
    """Return how many instructions XLA is given: those of a loop's body once; what is joined is read piece by piece."""
    return sum(size_of(step.body) if isinstance(step, Loop) else _written_out(step) for step in line)


def _written_out(step: Step) -> int:
    joins = getattr(step.op, "joins", None) is not None
    return len(step.arguments) if joins else instructions_of(step)
