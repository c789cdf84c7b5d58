"""Running a recorded program: what it must produce, which leaves it may reuse, and that nothing is lost when it fails.

A program must produce every promise that somebody still holds; all else is an intermediate that XLA may never write
down. A leaf that nobody holds any more is donated where a result of its shape can take its memory.
"""

from __future__ import annotations

import operator
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import compress, count, repeat
from operator import is_, itemgetter
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.extend.core import get_opaque_trace_state

from funcgrad._base.config import settings
from funcgrad._base.errors import FlushError
from funcgrad._program import record
from funcgrad._program.apart import InStages, work
from funcgrad._program.at_once import note_look
from funcgrad._program.counters import counters
from funcgrad._program.journal import Compile, Journal, Run, user_line
from funcgrad._program.plan import Plan, plan
from funcgrad._program.process import check_process
from funcgrad._program.reasons import reason
from funcgrad._program.record import Program, fresh_program, programs, stop_looking, thread
from funcgrad._program.renting import as_of_now
from funcgrad._program.trie import Call, forest
from funcgrad._program.value import CONSTANT, Value, aval_of


class Finished(NamedTuple):
    """One run, as observers are told of it: the program's last instruction, what it read, and what it gave."""

    call: Call
    leaves: list[Any]
    numbers: list[float]
    results: list[Any]


_observers: list[Callable[[Finished], None]] = []
_ARRAY, _PLACE = itemgetter(0), itemgetter(1)  # of a leaf


def flush() -> None:
    """Run what this thread has recorded; XLA computes while Python goes on."""
    if thread.waiting is not None:
        run(thread.waiting)
    if thread.program.cursor.parent is not None:
        run(fresh_program())


def end_step() -> None:
    """Run what this thread has recorded; but if that is large and new, let it wait for who reads it first.

    How a program is run best depends on what is read of it: the loss should be there before the step is done.
    """
    if thread.waiting is not None:
        run(thread.waiting)
    if thread.program.cursor.parent is None:
        return
    program = fresh_program()
    with program.lock:
        program.closed = True
        _look_who_holds(program)
    is_known = program.key in program.cursor.plans or not settings.ahead
    if is_known or work(program.cursor.path()) < settings.ahead:
        run(program)
    else:
        thread.waiting = program


def force(value: Value, *, is_read: bool = True) -> None:
    """Make a promised Value be here. is_read: somebody waits for it; else it is recorded what becomes of it."""
    program = value.program
    if program is CONSTANT:
        _make_constant(value)
        return
    if program is None:  # another thread has run it meanwhile
        return
    if program is thread.program:
        fresh_program()
    run(program, value.slot if is_read else None)


def run(program: Program, read: int | None = None) -> None:
    """Run a program once. Interrupted or failed, it stays as it was; the next reader of its results runs it again.

    read: the result that somebody waits for.
    """
    check_process()
    if program is thread.waiting:
        thread.waiting = None
    with program.lock:
        program.closed = True
        if program.failure is not None:
            raise FlushError("a tensor was lost when the program that computes it failed") from program.failure
        if not program.outcome:
            if program.key is None:
                _look_who_holds(program)
            if program.promised:
                _execute(program, read)
                if read is None:
                    stop_looking()
                else:
                    note_look(program, thread.ran)
                for observer in _observers:
                    leaves = list(map(_ARRAY, program.leaves))
                    observer(Finished(program.cursor, leaves, list(program.numbers), program.outcome[0]))
        _settle(program)


@contextmanager
def observed(observer: Callable[[Finished], None]) -> Iterator[None]:
    """Tell `observer` of each run inside, in any thread. No leaf is donated meanwhile, so that it can run again."""
    _observers.append(observer)
    try:
        yield
    finally:
        _observers.remove(observer)


def put(array: np.ndarray[Any, Any], device: Any = None) -> Any:
    """Copy a numpy array to a device, dtype and all, without a compile; without a device it goes with its program."""
    check_process()
    if device is None:
        return np.array(array)
    with jax.enable_x64(True):
        return jax.device_put(array, device, may_alias=False)


def _look_who_holds(program: Program) -> None:
    """Find what a program must give, and what of its leaves it may reuse."""
    program.promised = list(filter(None, map(operator.call, program.results)))
    held = map(operator.call, map(_PLACE, program.leaves))
    free = () if _observers else tuple(compress(count(), map(is_, held, repeat(None))))
    if free and thread.count > 1:  # what another thread's program reads too is not given away, but a copy
        alive = filter(None, map(operator.call, programs.valuerefs()))
        others = [other.leaf_slots for other in alive if other is not program]
        program.shared.update(i for i in free if any(program.leaves[i][1] in slots for slots in others))
    program.key = tuple(map(Value.slot.__get__, program.promised)), free


def _execute(program: Program, read: int | None) -> None:
    planned, compiled, start = _chosen(program, read) if program.begun is None else (program.begun[0], None, 0.0)
    arrays = list(map(_ARRAY, program.leaves))
    given, kept = list(map(arrays.__getitem__, planned.given)), list(map(arrays.__getitem__, planned.kept))
    execute = planned.execute
    try:
        with jax.enable_x64(True), _outside_traces():
            if isinstance(execute, InStages):
                program.begun = program.begun or (planned, [])
                program.outcome.append(execute.run(program.begun[1], kept, program.numbers, program.shared))
            else:
                inputs = planned.with_copies(given, program.shared), kept, planned.numbers(program.numbers)
                # map: no Python bytecode, so no Ctrl-C, between the run, which eats donated arrays, and keeping its
                # outcome
                program.outcome.extend(map(as_of_now(execute, *inputs), *[[x] for x in inputs]))
    except BaseException as error:
        if isinstance(execute, InStages) and program.begun is not None:
            given = execute.unread(program.begun[1], kept)
        if any(isinstance(leaf, jax.Array) and leaf.is_deleted() for leaf in given):
            program.failure = error
        raise
    if compiled is not None:
        Journal.compiles.append(compiled._replace(seconds=time.perf_counter() - start))


def _chosen(program: Program, read: int | None) -> tuple[Plan, Compile | None, float]:
    """Return how to run a program, what is to be said of it if it is compiled now, and when that began."""
    call, key = program.cursor, program.key
    planned, compiled, start = call.plans.get(key), None, 0.0
    if planned is None or planned.spare == 0:
        start = time.perf_counter()
        planned, compiled = _planned(program, read if planned is None else planned.read, planned)
    planned.spare -= 1
    thread.ran = planned
    program.order = planned.order
    counters.runs = planned.used = counters.runs + 1
    counters.donated += planned.donated
    if Journal.watching:
        Journal.runs.append(Run(user_line(), call.depth))
    return planned, compiled, start


def _planned(program: Program, read: int | None, before: Plan | None) -> tuple[Plan, Compile | None]:
    assert program.key is not None, "what a program must give is known before it is planned"
    call, (wanted, free) = program.cursor, program.key
    avals = [aval for _, _, aval in program.leaves]
    why = "it is run often" if before is not None else reason(call, avals)
    made = plan(call, wanted, free, avals, history=program.history, finds=program.finds, read=read, before=before)
    made.read = read
    forest.add(call, program.key, made)
    if not made.is_new:
        return made, None
    counters.compiles += 1
    return made, Compile(user_line(), call.depth, len(wanted), f"{why}; {made.note}" if made.note else why)


_NO_TRACE = get_opaque_trace_state(convention="flax")


def _outside_traces() -> AbstractContextManager[Any]:
    """Run what was recorded of concrete arrays, not stage it, while the caller is being traced.

    Only then: under it the program's own constants would be computed while it is traced, and kept as arrays.
    """
    if get_opaque_trace_state(convention="flax") == _NO_TRACE:
        return _NOTHING
    return jax.ensure_compile_time_eval()


_NOTHING = nullcontext()


def _settle(program: Program) -> None:
    """Hand the outcome to the Values; done again after an interruption it does the same."""
    if program.outcome:
        values = map(program.promised.__getitem__, program.order)
        deque(map(Value.array.__set__, values, program.outcome[0]), maxlen=0)
        deque(map(Value.program.__set__, program.promised, repeat(None)), maxlen=0)
    if program.placement is not None:
        for value in program.promised:
            value.aval = aval_of(value.array)
    program.let_go()


def _make_constant(value: Value) -> None:
    recipe = value.slot
    if recipe.host is None:
        (made,) = record.record(recipe.op, recipe.inputs, recipe.statics)[1]
        value.array = record.array_of(made)
        value.share()  # two Values hold this array
    else:
        value.array = put(recipe.host())
    value.program = None


record.force, record.run_present = force, flush
