"""When calls are done at once, by numpy, and not recorded: samples of a batch, and what is looked at all the time.

Samples draw what is done to them: turned round or not, cut out here or there, of some length. Recorded, a batch of them
would be a program that never comes back. Each op by itself comes back with the next sample, and has nothing to compile.
Where each few ops are looked at, there would be as many programs, each of which costs more than its ops.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from funcgrad._base.config import settings
from funcgrad._program.host.running import PROGRAM, OnHost
from funcgrad._program.lengths.running import AtLength
from funcgrad._program.one_call import done
from funcgrad._program.record import AtFirst, Program, record, record_again, stop_looking, thread
from funcgrad._program.trie import Call
from funcgrad._program.value import Value

LOOKS = 8  # programs that somebody looked at, one after another
_GLANCE = 24  # instructions of such a program
_VARYING = 48  # of one that comes in other lengths each time, which makes it dearer


@contextmanager
def at_once() -> Iterator[None]:
    """Do inside what numpy can do with what the host has, instead of recording it."""
    if settings.eager or not settings.host:
        yield
        return
    before = thread.instead, thread.makes_samples
    thread.instead, thread.makes_samples = _at_once_or_recorded, True
    try:
        yield
    finally:
        thread.instead, thread.makes_samples = before
        if AtFirst.instead is None and not thread.looks:  # which may have ended meanwhile
            record_again()


def note_look(program: Program, plan: Any) -> None:
    """Take note that somebody looked at what a program gives, for which it was run.

    A loop over clusters, or boxes, or states of a game, would record and run a program for each look. Once there were
    LOOKS, calls are done at once, until something else is run.
    """
    if program.history is not None or not _is_glance(program.cursor, plan.execute):
        stop_looking()
    elif thread.instead is None:
        thread.looks += 1
        if thread.looks >= LOOKS:
            thread.instead = at_once_if_small


def _is_glance(last: Call, execute: Any) -> bool:
    """Tell whether the instructions up to the last had better be done one by one, were they looked at often."""
    if isinstance(execute, OnHost):
        return last.depth <= _GLANCE
    if not settings.host or not isinstance(execute, AtLength) or last.depth > _VARYING:
        return False
    return sum([aval.shape.numel() for call in last.path() for aval in call.avals]) <= PROGRAM.elements


def _at_once_or_recorded(op: Any, inputs: Sequence[Any], statics: tuple[Any, ...]) -> list[Value]:
    return done(op, inputs, statics) or record(op, inputs, statics)[1]


def at_once_if_small(op: Any, inputs: Sequence[Any], statics: tuple[Any, ...]) -> list[Value]:
    """Do a call without a history at once if numpy would run it as a program too; else record it."""
    return done(op, inputs, statics, only_small=True) or record(op, inputs, statics)[1]


if settings.host and not settings.eager:
    AtFirst.instead = thread.instead = at_once_if_small
