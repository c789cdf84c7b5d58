"""Observing: within `calls_observed(seen)` each op that this thread records is told to `seen`, forward and backward.

Nothing is asked before: the code of `apply` and of `only_record` is exchanged while somebody observes, as the public
functions' is for `__torch_function__`, so that recording costs others nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FunctionType
from typing import Any

from funcgrad._program.value import LiftedValue
from funcgrad._tape import apply as applying
from funcgrad._tape.variable import Variable

Seen = Callable[[Any, Sequence[Any], Any, Any], None]
_GATES: tuple[Any, ...] = (applying.apply, applying.only_record)
_lock = threading.Lock()


class Observing(threading.local):
    """Who observes this thread's calls; `threads` counts those that are observed at all."""

    threads = 0

    def __init__(self) -> None:
        self.observers: tuple[Seen, ...] = ()


present = Observing()


@contextmanager
def calls_observed(seen: Seen) -> Iterator[None]:
    """Call seen(op, inputs, statics, results) after each op inside; of a function that is transformed, the lowest."""
    before = present.observers
    present.observers = (*before, seen)
    _enter()
    try:
        yield
    finally:
        _leave()
        present.observers = before


@contextmanager
def unobserved() -> Iterator[None]:
    """Let nobody see what is recorded inside: it is a part of one call, which is told as a whole."""
    before, present.observers = present.observers, ()
    try:
        yield
    finally:
        present.observers = before


def tell(op: Any, inputs: Sequence[Any], statics: Any, results: Any) -> None:
    """Tell the observers of a call."""
    for seen in present.observers:
        seen(op, inputs, statics, results)


def _enter() -> None:
    with _lock:
        Observing.threads += 1
        if Observing.threads > 1:
            return
        for gate in _GATES:
            itself = FunctionType(gate.__code__, gate.__globals__, gate.__name__, gate.__defaults__)
            gate.__code__, gate.__defaults__ = _told.__code__, None
            gate.__kwdefaults__ = {"_itself": itself, "_tell": _tell_of_op}


def _leave() -> None:
    with _lock:
        Observing.threads -= 1
        if Observing.threads:
            return
        for gate in _GATES:
            itself = gate.__kwdefaults__["_itself"]
            gate.__code__, gate.__defaults__ = itself.__code__, itself.__defaults__
            gate.__kwdefaults__ = None


def _told(*call: Any, _itself: Any, _tell: Any) -> Any:
    results = _itself(*call)
    _tell(results, *call)
    return results


def _tell_of_op(results: Sequence[Variable], op: Any, inputs: Sequence[Any], statics: tuple[Any, ...] = ()) -> None:
    if not any(type(x) is Variable and isinstance(x.value, LiftedValue) for x in inputs):
        tell(op, inputs, statics, results)
