"""explain: what just happened? Counters, compiles and their reasons, lines that forced a run, the present program."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from funcgrad._program.counters import Counters, counted, counters
from funcgrad._program.journal import Compile, Journal, Run
from funcgrad._program.record import thread
from funcgrad._program.run import flush
from funcgrad._program.trie import Call, Hole

__all__ = ["Compile", "Counters", "Run", "compiles", "counted", "counters", "flush", "flushes", "pending", "watch"]


def compiles() -> list[Compile]:
    """Return the last compiles, each with the line that needed it and why; the newest comes last."""
    return list(Journal.compiles)


@contextmanager
def watch() -> Iterator[None]:
    """Note, inside the block, which line causes each run; `flushes()` lists them."""
    Journal.runs.clear()
    Journal.watching = True
    try:
        yield
    finally:
        Journal.watching = False


def flushes() -> list[Run]:
    """Return the runs that `watch` noted."""
    return list(Journal.runs)


def pending() -> str:
    """Return the program that this thread is recording, an instruction a line: `%3 = mul(%1, leaf 0) -> float32[2]`.

    %n: the n-th result of the program. leaf n: an array that it is given. number n: a Python number that is an input.
    """
    return "\n".join(map(_line, thread.program.cursor.path()))


def _line(call: Call) -> str:
    arguments, results = ", ".join(map(_argument, call.arguments)), ", ".join(map(str, call.avals))
    return f"%{call.first} = {call.op.name}({arguments}) -> {results}"


def _argument(argument: object) -> str:
    if isinstance(argument, int):
        return f"%{argument}" if argument >= 0 else f"leaf {-1 - argument}"
    if isinstance(argument, Hole):
        return f"number {argument.position}"
    return str(getattr(argument, "number", argument))
