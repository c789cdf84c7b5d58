"""A DataLoader's workers: starting them, talking to them, and ending them with the last reference."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import queue
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

from funcgrad._tensor.interop import runs_on_host
from funcgrad.utils.data.datapipes.datapipe import IterDataPipe, MapDataPipe
from funcgrad.utils.data.fetch import Fetch
from funcgrad.utils.data.worker import STOP, Job, Restart, moved_ahead, packed, work_in_process, work_in_thread

_ALIVE_CHECK_SECONDS = 1.0
_END_SECONDS = 5.0


def process_context(given: Any, num_workers: int) -> Any:
    """Check a DataLoader's `multiprocessing_context` and return it as a context; None where none is given."""
    if given is None:
        return None
    if num_workers == 0:
        raise ValueError(
            "multiprocessing_context can only be used with multi-process loading (num_workers > 0), "
            f"but got num_workers={num_workers}"
        )
    if not isinstance(given, str) and not hasattr(given, "get_start_method"):
        raise TypeError(
            "multiprocessing_context option should be a valid context object or a string specifying the start method, "
            f"but got multiprocessing_context={given!r}"
        )
    method = given if isinstance(given, str) else given.get_start_method()
    if method not in multiprocessing.get_all_start_methods():
        raise ValueError(
            "multiprocessing_context option should specify a valid start method in "
            f"{multiprocessing.get_all_start_methods()}, but got multiprocessing_context={given!r}"
        )
    return multiprocessing.get_context(given) if isinstance(given, str) else given


def of_processes(context: Any) -> Any:
    """Return the context that workers are started by, None for threads: they stand in for forked children too.

    These would share XLA's threads and locks with this process, and hang.
    """
    return None if context is None or context.get_start_method() == "fork" else context


class Pool:
    """`num_workers` threads, or processes where a context is given. They end with `close`, or when this is dropped."""

    def __init__(
        self, fetch: Fetch, num_workers: int, base_seed: int, init: Callable[[int], None] | None, context: Any,
        shared_seed: int | None = None,
    ) -> None:  # fmt: skip
        self._context = context
        self._results: Any = queue.SimpleQueue() if context is None else context.Queue()
        self._tasks: list[Any] = []
        self._workers: list[Any] = []
        self.close = weakref.finalize(self, _end, self._tasks, self._workers, self._results)
        for i in range(num_workers):
            job = Job(i, num_workers, base_seed, fetch, init, shared_seed)
            if context is None:
                self._start_thread(job)
            else:
                self._start_process(job)

    def _start_thread(self, job: Job) -> None:
        # What a worker sets on "its" dataset stays its own, as it does in a process; what the dataset holds is shared.
        dataset = job.fetch.dataset
        is_pipe = isinstance(dataset, (IterDataPipe, MapDataPipe))  # which has others inside that are its own, too
        own = copy.deepcopy(dataset) if is_pipe else copy.copy(dataset)
        job = job._replace(fetch=job.fetch._replace(dataset=own))
        tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()
        name = f"DataLoader worker {job.id}"
        worker = threading.Thread(target=work_in_thread, args=(job, tasks, self._results), name=name, daemon=True)
        worker.start()
        self._tasks.append(tasks)
        self._workers.append(worker)

    def _start_process(self, job: Job) -> None:
        tasks = self._context.Queue()
        worker = self._context.Process(target=work_in_process, args=(packed(job), tasks, self._results), daemon=True)
        worker.start()
        self._tasks.append(tasks)
        self._workers.append(worker)

    def send(self, worker: int, task: tuple[int, int, Any]) -> None:
        """Give one worker one batch to make."""
        self._tasks[worker].put(task)

    def restart(self, shared_seed: int | None = None) -> None:
        """Have every worker begin its stream anew, a pipe's with this seed."""
        for tasks in self._tasks:
            tasks.put(Restart(shared_seed))

    def receive(self, timeout: float) -> tuple[int, int, Any]:
        """Wait for a reply. RuntimeError after `timeout` seconds (0: no limit), or when a worker process has died."""
        end = time.monotonic() + timeout if timeout else None
        while True:
            wait = _ALIVE_CHECK_SECONDS if end is None else min(_ALIVE_CHECK_SECONDS, end - time.monotonic())
            try:
                reply = self._results.get(timeout=max(wait, 0))
                return reply if self._context is None else self._unpacked(reply)
            except queue.Empty:
                self._check_alive()
            if end is not None and time.monotonic() >= end:
                raise RuntimeError(f"DataLoader timed out after {timeout} seconds")

    @staticmethod
    def _unpacked(reply: bytes) -> tuple[int, int, Any]:
        batch = pickle.loads(reply)
        return batch if runs_on_host() else moved_ahead(batch)

    def _check_alive(self) -> None:
        dead = [worker for worker in self._workers if not worker.is_alive()]
        if dead:
            which = ", ".join(str(getattr(worker, "pid", worker.name)) for worker in dead)
            raise RuntimeError(f"DataLoader worker (pid(s) {which}) exited unexpectedly")


def _end(tasks: list[Any], workers: list[Any], results: Any) -> None:
    for worker_tasks in tasks:
        _drain(worker_tasks)
        worker_tasks.put(STOP)
    end = time.monotonic() + _END_SECONDS
    for worker in workers:
        if worker is threading.current_thread():
            continue
        while worker.is_alive() and time.monotonic() < end:
            _drain(results)  # a process that has replies to send does not end before they are taken
            worker.join(timeout=0.05)
        if worker.is_alive() and hasattr(worker, "terminate"):
            worker.terminate()


def _drain(waiting: Any) -> None:
    try:
        while True:
            waiting.get_nowait()
    except queue.Empty:
        pass
