"""explain: what just happened? Counters, compiles and their reasons, lines that forced a run, the present program."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from funcgrad._program.counters import Counters, counted, counters
from funcgrad._program.journal import Compile, Journal, Run
from funcgrad._program.record import thread
from funcgrad._program.run import flush
from funcgrad.explain.anomalies import AnomalyError, anomaly
from funcgrad.explain.checking import Finding, Findings, check
from funcgrad.explain.gradients import grads
from funcgrad.explain.history import Graph, graph
from funcgrad.explain.listing import Lines, listed
from funcgrad.explain.memory import memory
from funcgrad.explain.programs import described, program
from funcgrad.explain.watching import lines

__all__ = [
    "AnomalyError", "Compile", "Counters", "Finding", "Findings", "Graph", "Run", "anomaly", "check", "compiles",
    "counted", "counters", "flush", "flushes", "grads", "graph", "lines", "memory", "pending", "program", "watch",
]  # fmt: skip


def compiles() -> Lines[Compile]:
    """Return the last compiles, each with the line that needed it and why; the newest comes last."""
    return listed(Journal.compiles)


@contextmanager
def watch() -> Iterator[None]:
    """Note, inside the block, which line causes each run; `flushes()` lists them."""
    Journal.runs.clear()
    Journal.watching = True
    try:
        yield
    finally:
        Journal.watching = False


def flushes() -> Lines[Run]:
    """Return the runs that `watch` noted, each with the line that needed it."""
    return listed(Journal.runs)


def pending() -> str:
    """Return the program that this thread is recording, an instruction a line: `%3 = mul(%1, leaf 0) -> float32[2]`.

    %n: the n-th result of the program. leaf n: an array that it is given. number n: a Python number that is an input.
    """
    return "\n".join(map(described, thread.program.cursor.path()))
