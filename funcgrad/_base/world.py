"""Which of how many processes this one is: rank 0 of 1, until a script makes a process group.

A thread that stands in for a process (`multiprocessing`, `spawn`) has a world of its own, as a process has.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass
class World:
    """The process group that a process has made, if there is one: its backend, and the group of all."""

    backend: str | None = None
    group: Any = None
    rank: int = 0
    size: int = 1


class _Own(threading.local):
    world: World | None = None


_of_all, _own = World(), _Own()


def world() -> World:
    """Return the world of this process."""
    return _own.world or _of_all


def begin_own() -> None:
    """Let this thread be a process with a world of its own from now on."""
    _own.world = World()


def make(backend: str, group: Any, rank: int, size: int) -> None:
    """Make the process group."""
    here = world()
    here.backend, here.group, here.rank, here.size = backend, group, rank, size


def forget() -> None:
    """Forget the process group."""
    here = world()
    here.backend, here.group, here.rank, here.size = None, None, 0, 1


def need() -> None:
    """Raise ValueError, as torch does, where no process group was made."""
    if world().backend is None:
        raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")


at_failure: list[Callable[[str], None]] = []  # told why, where others wait in vain since one of several has failed
