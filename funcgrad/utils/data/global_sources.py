"""Python's and numpy's global random numbers, which a worker that is a thread has for itself, as a process has.

`random` and `np.random` are functions of one generator each. From the first worker on they ask which thread draws: a
worker's draw from its own, the others' go on as if there were none. What was imported by its own name before then
(`from random import random`, `from numpy.random import rand`) stays the generator of all.
"""

from __future__ import annotations

import functools
import os
import random
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from funcgrad.random.generator import get_rng_state, seed_this_thread, set_rng_state
from funcgrad.random.mersenne import DEFAULT_SEED

_PYTHONS: Any = random._inst  # type: ignore[attr-defined]  # whose methods the functions of `random` are
_NUMPYS = ("ranf", "sample", *(name for name in vars(np.random.RandomState) if not name.startswith("_")))


class _Own(threading.local):
    python: random.Random | None = None
    numpy: np.random.RandomState | None = None


_own, _asking = _Own(), threading.Lock()


def begin(python_seed: int, numpy_seed: list[int]) -> None:
    """Let this thread draw from generators of its own from now on."""
    with _asking:
        _ask_which_thread()
    _own.python, _own.numpy = random.Random(python_seed), np.random.RandomState(numpy_seed)


class State(NamedTuple):
    """Where the random numbers of a process are: those of torch's CPU generator, of Python and of numpy."""

    torch: Any
    python: Any
    numpy: Any


def state() -> State:
    """Return where this thread's random numbers are."""
    return State(get_rng_state(), random.getstate(), np.random.get_state())


def begin_as(forked: State | None) -> None:
    """Let this thread draw from generators of its own, torch's too, as a process that is forked or spawned (None)."""
    seed_this_thread(DEFAULT_SEED)
    begin(int.from_bytes(os.urandom(8), "little"), np.random.SeedSequence().generate_state(4).tolist())
    if forked is not None:
        set_rng_state(forked.torch)
        random.setstate(forked.python)
        np.random.set_state(forked.numpy)


class _ByThread(random.Random):
    """The class of Python's global generator once there are workers: what all its methods draw by is the thread's."""

    def random(self) -> float:
        return super().random() if _own.python is None else _own.python.random()

    def getrandbits(self, k: int, /) -> int:
        return super().getrandbits(k) if _own.python is None else _own.python.getrandbits(k)

    def seed(self, *args: Any, **options: Any) -> None:
        return super().seed(*args, **options) if _own.python is None else _own.python.seed(*args, **options)

    def getstate(self) -> tuple[Any, ...]:
        return super().getstate() if _own.python is None else _own.python.getstate()

    def setstate(self, state: tuple[Any, ...]) -> None:
        return super().setstate(state) if _own.python is None else _own.python.setstate(state)

    @property
    def gauss_next(self) -> float | None:
        """The second number of a pair of normal ones, which waits."""
        return vars(self)["gauss_next"] if _own.python is None else _own.python.gauss_next  # type: ignore[attr-defined]

    @gauss_next.setter
    def gauss_next(self, number: float | None) -> None:
        vars(self if _own.python is None else _own.python)["gauss_next"] = number


@functools.cache
def _ask_which_thread() -> None:
    """Make the global functions ask, once."""
    held = [name for name, function in vars(random).items() if getattr(function, "__self__", None) is _PYTHONS]
    _PYTHONS.__class__ = _ByThread
    for name in held:
        setattr(random, name, getattr(_PYTHONS, name))
    for module in (np.random, np.random.mtrand):
        for name in _NUMPYS:
            if hasattr(module, name):
                setattr(module, name, _by_thread(name, getattr(module, name)))


def _by_thread(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    method = {"ranf": "random_sample", "sample": "random_sample"}.get(name, name)

    @functools.wraps(function)
    def drawn(*args: Any, **options: Any) -> Any:
        return (function if _own.numpy is None else getattr(_own.numpy, method))(*args, **options)

    drawn.__module__, drawn.__qualname__ = "numpy.random", name  # where pickle finds it
    return drawn
