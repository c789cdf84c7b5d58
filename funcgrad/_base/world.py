"""Which of how many processes this one is. funcgrad drives every device from one process: rank 0 of 1."""

from __future__ import annotations

import threading


class World:
    """The process group that a script has made, if there is one: its backend, and the thread that made it."""

    backend: str | None = None
    maker: threading.Thread | None = None
    rank, size = 0, 1


def make(backend: str) -> None:
    """Make the process group."""
    World.backend, World.maker = backend, threading.current_thread()


def forget() -> None:
    """Forget the process group."""
    World.backend = World.maker = None


def need() -> None:
    """Raise ValueError, as torch does, where no process group was made."""
    if World.backend is None:
        raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")
