"""torch.multiprocessing: its processes are threads here, for XLA's devices belong to one process.

Threads share tensors as torch's processes share memory, so Hogwild and actor-learner scripts do what they say.
Locks, events, pipes and pools are the standard library's.
"""

from __future__ import annotations

import itertools
import queue
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
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

from funcgrad._base.world import at_failure, begin_own, world
from funcgrad._tape import own_gradients
from funcgrad.utils.data import global_sources

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
_TURN = 2e-4  # seconds after which the next thread runs: in Python's 5e-3 some steps are done, for which others wait
_LOOK = 0.05  # seconds between two looks at whether a process has failed
_running: list[Process] = []
_afterwards = ExitStack()  # what is put back as it was when the last of them has ended


class ProcessException(Exception):  # noqa: N818 - torch's own spelling
    """A process of `spawn` did not end well."""

    def __init__(self, msg: str, error_index: int = 0, pid: int = 0) -> None:
        super().__init__(msg)
        self.msg, self.error_index, self.pid = msg, error_index, pid


class ProcessRaisedException(ProcessException):
    """A process of `spawn` raised; the message ends with its traceback."""


class ProcessExitedException(ProcessException):
    """A process of `spawn` left with an exit status other than 0."""


class _Lines:
    """A text file to which threads write whole lines, as processes do."""

    def __init__(self, file: Any) -> None:
        self.file, self._own, self._lock = file, threading.local(), threading.Lock()

    def write(self, text: str) -> int:
        """Write the lines that end here; the rest waits for its end."""
        begun = getattr(self._own, "begun", "") + text
        whole, end, self._own.begun = begun.rpartition("\n")
        with self._lock:
            self.file.write(whole + end)
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write several texts."""
        self.write("".join(lines))

    def flush(self) -> None:
        """Write what waits for the end of its line."""
        begun, self._own.begun = getattr(self._own, "begun", ""), ""
        with self._lock:
            self.file.write(begun)
            self.file.flush()

    def give_way(self) -> None:
        """Let the file be written to directly, unless something else has taken its place."""
        if sys.stdout is self:
            sys.stdout = self.file

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


class Process(threading.Thread):
    """A thread with the face of a process. It cannot be killed: `terminate` only stops waiting for it.

    It has a process group of its own, if it makes one, gathers gradients of its own, and draws random numbers from
    generators of its own, which begin where those of its parent are ("fork", which is the default), or anew ("spawn").
    """

    together: Sequence[Process] = ()  # those that `spawn` started with it, which tells the error of the first to fail

    def __init__(
        self, group: None = None, target: Callable[..., Any] | None = None, name: str | None = None,
        args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None, *, daemon: bool | None = None,
    ) -> None:  # fmt: skip
        self.number = next(_numbers)
        super().__init__(group, target, name or f"Process-{self.number}", args, kwargs, daemon=bool(daemon))
        self.error: BaseException | None = None
        self.failed: int | None = None  # in which order processes did
        self._left: int | None = None
        self._sources: global_sources.State | None = None
        self.run = self._watched(self.run)

    def _watched(self, run: Callable[[], None]) -> Callable[[], None]:
        def watched() -> None:
            self._left = 1
            begin_own()
            own_gradients.begin()
            global_sources.begin_as(self._sources)
            try:
                run()
                self._left = 0
            except SystemExit as leaving:
                self._left = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
            except BaseException as error:
                self.error = error
                if not self.together:
                    traceback.print_exception(error)
            finally:
                if self._left:
                    self._let_others_know()
                _end(self)

        return watched

    def _let_others_know(self) -> None:
        """End the waiting of those that would wait for this process."""
        is_first = all(process.failed is None for process in self.together)
        self.failed = next(_numbers)
        why, group = f"{self.name} of the group has failed", world().group
        if group is not None and group.store is not None:
            group.store.abort(why)
        if self.together and is_first:  # those that wait for it to come
            for tell in at_failure:
                tell(why)

    def start(self) -> None:
        """Start the thread."""
        if not self.together and get_start_method(allow_none=True) in (None, "fork"):
            self._sources = global_sources.state()
        _begin(self)
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


def _begin(process: Process) -> None:
    if not _running:
        _afterwards.callback(sys.setswitchinterval, sys.getswitchinterval())
        sys.setswitchinterval(min(_TURN, sys.getswitchinterval()))
        lines = sys.stdout = _Lines(sys.stdout)
        _afterwards.callback(lines.give_way)
    _running.append(process)


def _end(process: Process) -> None:
    sys.stdout.flush()
    _running.remove(process)
    if not _running:
        _afterwards.close()


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
        """Wait until all have ended or one has failed; tell whether all have ended.

        ProcessException for the first that did not end well.
        """
        end = None if timeout is None else time.monotonic() + timeout
        while any(process.is_alive() for process in self.processes) and not self._failed():
            left = _LOOK if end is None else min(_LOOK, end - time.monotonic())
            if left <= 0:
                return False
            next(process for process in self.processes if process.is_alive()).join(left)
        for process in self._failed():
            index = self.processes.index(process)
            process.join()
            if process.error is not None:
                shown = "".join(traceback.format_exception(process.error))
                raise ProcessRaisedException(
                    f"\n\n-- Process {index} terminated with the following error:\n{shown}", index
                ) from process.error
            raise ProcessExitedException(f"process {index} terminated with exit code {process.exitcode}", index)
        return True

    def _failed(self) -> list[Process]:
        """Return those that have failed, the first first."""
        failed = [process for process in self.processes if process.failed is not None]
        return sorted(failed, key=lambda process: process.failed or 0)


def spawn(
    fn: Callable[..., Any], args: Sequence[Any] = (), nprocs: int = 1, join: bool = True, daemon: bool = False,
    start_method: str = "spawn",
) -> SpawnContext | None:  # fmt: skip
    """Call fn(0, *args) to fn(nprocs - 1, *args), each in a process, and wait for them if `join`."""
    started = [Process(target=fn, args=(index, *args), daemon=daemon) for index in range(nprocs)]
    for process in started:
        process.together = started
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
