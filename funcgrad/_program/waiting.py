"""Waiting for XLA: a short while by asking again and again, since being woken takes longer than a small program runs.

On a CPU, XLA runs a program on a thread of its own. Whoever waits for it asleep is woken 20 to 40 us after it is done,
in which time many a small step is computed. But a program that takes longer has a use for the core of whoever asks.
"""

from __future__ import annotations

import os
from time import perf_counter
from typing import Any

import numpy as np

from funcgrad._program.record import thread

SHORT = 50e-6 if (os.cpu_count() or 1) > 1 else 0.0  # seconds


def on_host(array: Any) -> np.ndarray[Any, Any]:
    """Return an array's numbers, to read only, once they are computed."""
    if type(array) is np.ndarray:
        return array
    if not getattr(array, "is_ready", _always)():
        _wait(array)
    return np.asarray(array)


def _wait(array: Any) -> None:
    """Wait, awake if it took no longer than SHORT when the plan that ran last was waited for before."""
    plan, start = thread.ran, perf_counter()
    if plan is not None and plan.waited < SHORT:
        while not array.is_ready() and perf_counter() - start < SHORT:
            pass
    array.block_until_ready()
    if plan is not None:
        plan.waited = perf_counter() - start


def _always() -> bool:
    return True
