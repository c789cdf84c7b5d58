"""torch.multiprocessing: its processes are threads here, for XLA's devices belong to one process.

Threads share tensors as torch's processes share memory, so Hogwild and actor-learner scripts do what they say.
Locks, events, pipes and pools are the standard library's.
"""

from __future__ import annotations

import itertools
import queue
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from multiprocessing import (
    Array,
    AuthenticationError,
    BufferTooShort,
    ProcessError,
    RawArray,
    RawValue,
    TimeoutError,
    Value,
    cpu_count,
    current_process,
    freeze_support,
)
from multiprocessing.dummy import (
    Barrier,
    BoundedSemaphore,
    Condition,
    Event,
    Lock,
    Manager,
    Pipe,
    Pool,
    RLock,
    Semaphore,
)
from typing import Any

from funcgrad._base.world import World, forget

__all__ = [
    "Array", "AuthenticationError", "Barrier", "BoundedSemaphore", "BufferTooShort", "Condition", "Event",
    "JoinableQueue", "Lock", "Manager", "Pipe", "Pool", "Process", "ProcessError", "ProcessException",
    "ProcessExitedException", "ProcessRaisedException", "Queue", "RLock", "RawArray", "RawValue", "Semaphore",
    "SimpleQueue", "SpawnContext", "TimeoutError", "Value", "active_children", "cpu_count", "current_process",
    "freeze_support", "get_all_sharing_strategies", "get_all_start_methods", "get_context", "get_sharing_strategy",
    "get_start_method", "set_sharing_strategy", "set_start_method", "spawn", "start_processes",
]  # fmt: skip
_METHODS = ["fork", "spawn", "forkserver"]
_chosen: dict[str, str] = {"sharing": "file_descriptor"}
_numbers = itertools.count(1)
_running: list[Process] = []


class ProcessException(Exception):  # noqa: N818 - torch's own spelling
    """A process of `spawn` did not end well."""

    def __init__(self, msg: str, error_index: int = 0, pid: int = 0) -> None:
        super().__init__(msg)
        self.msg, self.error_index, self.pid = msg, error_index, pid


class ProcessRaisedException(ProcessException):
    """A process of `spawn` raised; the message ends with its traceback."""


class ProcessExitedException(ProcessException):
    """A process of `spawn` left with an exit status other than 0."""


class Process(threading.Thread):
    """A thread with the face of a process. It cannot be killed: `terminate` only stops waiting for it."""

    shows_errors = True

    def __init__(
        self, group: None = None, target: Callable[..., Any] | None = None, name: str | None = None,
        args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None, *, daemon: bool | None = None,
    ) -> None:  # fmt: skip
        self.number = next(_numbers)
        super().__init__(group, target, name or f"Process-{self.number}", args, kwargs, daemon=bool(daemon))
        self.error: BaseException | None = None
        self._left: int | None = None
        self.run = self._watched(self.run)

    def _watched(self, run: Callable[[], None]) -> Callable[[], None]:
        def watched() -> None:
            self._left = 1
            try:
                run()
                self._left = 0
            except SystemExit as leaving:
                self._left = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
            except BaseException as error:
                self.error = error
                if self.shows_errors:
                    traceback.print_exception(error)
            finally:
                if World.maker is self:  # a process group ends with its process
                    forget()
                _running.remove(self)

        return watched

    def start(self) -> None:
        """Start the thread."""
        _running.append(self)
        super().start()

    @property
    def exitcode(self) -> int | None:
        """None while it runs, 0 after a good end, 1 after an exception."""
        return None if self.is_alive() or not self.ident else self._left

    @property
    def pid(self) -> int | None:
        """The thread's number; None before it starts."""
        return self.ident

    def terminate(self) -> None:
        """Let the program end without it."""

    kill = close = terminate


class Queue(queue.Queue[Any]):
    """A queue between threads; what is put in is not copied."""

    def close(self) -> None:
        """Accepted: nothing is open."""

    join_thread = cancel_join_thread = close


JoinableQueue = SimpleQueue = Queue


class SpawnContext:
    """What `spawn` returns with join=False: the processes that it started."""

    def __init__(self, processes: Sequence[Process]) -> None:
        self.processes = list(processes)

    def pids(self) -> list[int]:
        """Return the threads' numbers."""
        return [process.pid or 0 for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait for the processes, tell whether all have ended; ProcessException for the first that did not end well."""
        for index, process in enumerate(self.processes):
            process.join(timeout)
            if process.error is not None:
                shown = "".join(traceback.format_exception(process.error))
                raise ProcessRaisedException(
                    f"\n\n-- Process {index} terminated with the following error:\n{shown}", index
                ) from process.error
            if process.exitcode:
                raise ProcessExitedException(f"process {index} terminated with exit code {process.exitcode}", index)
        return not any(process.is_alive() for process in self.processes)


def spawn(
    fn: Callable[..., Any], args: Sequence[Any] = (), nprocs: int = 1, join: bool = True, daemon: bool = False,
    start_method: str = "spawn",
) -> SpawnContext | None:  # fmt: skip
    """Call fn(0, *args) to fn(nprocs - 1, *args), each in a process, and wait for them if `join`."""
    started = [Process(target=fn, args=(index, *args), daemon=daemon) for index in range(nprocs)]
    for process in started:
        process.shows_errors = False
        process.start()
    context = SpawnContext(started)
    if not join:
        return context
    context.join()
    return None


start_processes = spawn


def active_children() -> list[Process]:
    """Return the processes that run."""
    return list(_running)


def get_all_start_methods() -> list[str]:
    """Return the names that `set_start_method` takes."""
    return list(_METHODS)


def get_start_method(allow_none: bool = False) -> str | None:
    """Return the method that was set; else "spawn", or None if that is allowed."""
    return _chosen.get("method", None if allow_none else "spawn")


def set_start_method(method: str | None, force: bool = False) -> None:
    """Keep the method's name; ValueError for one that there is not, RuntimeError for a second one without `force`."""
    if "method" in _chosen and not force:
        raise RuntimeError("context has already been set")
    if method is not None and method not in _METHODS:
        raise ValueError(f"cannot find context for {method!r}")
    _chosen.pop("method", None)
    if method is not None:
        _chosen["method"] = method


def get_context(method: str | None = None) -> Any:
    """Return this module: there is one kind of process."""
    if method is not None and method not in _METHODS:
        raise ValueError(f"cannot find context for {method!r}")
    return sys.modules[__name__]


def get_all_sharing_strategies() -> set[str]:
    """Return the names that `set_sharing_strategy` takes."""
    return {"file_descriptor", "file_system"}


def get_sharing_strategy() -> str:
    """Return the strategy that was set."""
    return _chosen["sharing"]


def set_sharing_strategy(new_strategy: str) -> None:
    """Keep the strategy's name: threads share memory as it is."""
    _chosen["sharing"] = new_strategy
