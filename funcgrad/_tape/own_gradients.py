"""Gradients that a thread which stands in for a process has for itself: parameters are shared, `.grad` is not.

A process finds what its parent had gathered, and gathers its own. Nobody asks for it before the first such thread.
"""

from __future__ import annotations

import functools
import threading
from typing import Any
from weakref import WeakKeyDictionary

from funcgrad._tape.nodes import GradSlot


class _Own(threading.local):
    gathered: WeakKeyDictionary[GradSlot, Any] | None = None


_own = _Own()


def begin() -> None:
    """Let this thread gather gradients of its own from now on."""
    _ask_which_thread()
    _own.gathered = WeakKeyDictionary()


@functools.cache
def _ask_which_thread() -> None:
    """Let slots ask, once."""
    GradSlot.grad = _ByThread(GradSlot.grad)


class _ByThread:
    """The attribute `grad` of a slot: the thread's own, if it has one, else that of all."""

    def __init__(self, of_all: Any) -> None:
        self._of_all = of_all

    def __get__(self, slot: Any, kind: type | None = None) -> Any:
        if slot is None:
            return self
        if _own.gathered is not None and slot in _own.gathered:
            return _own.gathered[slot]
        return self._of_all.__get__(slot, kind)

    def __set__(self, slot: GradSlot, gradient: Any) -> None:
        if _own.gathered is None:
            self._of_all.__set__(slot, gradient)
        else:
            _own.gathered[slot] = gradient
