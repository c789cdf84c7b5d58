"""One worker of a DataLoader: what it is told, how it makes its batches, and how these travel back."""

from __future__ import annotations

import io
import multiprocessing
import pickle
import queue
import random
import signal
import traceback
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from funcgrad._tensor.interop import from_host, move_ahead, runs_on_host, to_host
from funcgrad._tensor.names import flush
from funcgrad._tensor.pytree import leaves_of
from funcgrad._tensor.tensor import Tensor
from funcgrad.random.generator import seed_this_thread
from funcgrad.utils.data import draws, global_sources
from funcgrad.utils.data.datapipes.datapipe import IterDataPipe, MapDataPipe
from funcgrad.utils.data.fetch import Fetch
from funcgrad.utils.data.graph_settings import apply_random_seed, apply_sharding
from funcgrad.utils.data.worker_info import RandomState, WorkerInfo, here

ENDED, STOP = "this worker's stream has ended", "stop"
_PARENT_CHECK_SECONDS = 5.0


class Restart(NamedTuple):
    """Told to a worker before another pass. seed: what its pipe draws the seeds of its shufflers from."""

    seed: int | None


class Job(NamedTuple):
    """All that a worker is told when it starts."""

    id: int
    num_workers: int
    base_seed: int
    fetch: Fetch
    init: Callable[[int], None] | None
    shared_seed: int | None  # of a pipe: the same in all workers, so that each takes its share of one order

    @property
    def seed(self) -> int:
        """What this worker's random numbers begin with."""
        return self.base_seed + self.id


class Failure(NamedTuple):
    """An exception on its way from a worker to the loop: its class, and its traceback as a text."""

    worker: int
    kind: type[Exception]
    trace: str

    @classmethod
    def of(cls, worker: int, error: Exception) -> Failure:
        """Return what is sent of an exception that a worker caught."""
        return cls(worker, type(error), "".join(traceback.format_exception(error)))

    def reraise(self) -> None:
        """Raise an exception of the class, which tells where it was caught; RuntimeError, where it takes no text."""
        told = f"Caught {self.kind.__name__} in DataLoader worker process {self.worker}.\nOriginal {self.trace}"
        try:
            error = self.kind(_Plain(told) if self.kind is KeyError else told)
        except Exception:
            raise RuntimeError(told) from None
        raise error


class _Plain(str):
    """A text that prints as it is where others are quoted."""

    __slots__ = ()

    def __repr__(self) -> str:
        return self


def work_in_thread(job: Job, tasks: queue.SimpleQueue[Any], results: queue.SimpleQueue[Any]) -> None:
    """Make batches until told to stop."""
    seed_this_thread(job.seed)
    global_sources.begin(job.seed, _generate_state(job.base_seed, job.id))
    sources = RandomState(random.Random(job.seed), draws.seeded(job.seed), np.random.default_rng(job.seed))
    here.info = WorkerInfo(job.id, job.num_workers, job.seed, job.fetch.dataset, rng=sources)
    _work(job, tasks.get, results.put if runs_on_host() else lambda reply: results.put(moved_ahead(reply)))


def moved_ahead(reply: tuple[int, int, Any]) -> tuple[int, int, Any]:
    """Send a batch on its way to the accelerator, while the loop is busy with one before it."""
    for leaf in leaves_of(reply[2]):
        if isinstance(leaf, Tensor):
            move_ahead(leaf)
    return reply


def work_in_process(sent: bytes, tasks: Any, results: Any) -> None:
    """Make batches in a process of its own, with the global random sources seeded as torch's workers are."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent says what to do
    job: Job = pickle.loads(sent)
    random.seed(job.seed)
    draws.seed_default(job.seed)
    np.random.seed(_generate_state(job.base_seed, job.id))
    here.info = WorkerInfo(job.id, job.num_workers, job.seed, job.fetch.dataset, worker_method="multiprocessing")
    _work(job, lambda: _get_while_parent_lives(tasks), lambda reply: results.put(_packed_reply(reply)))


def _generate_state(base_seed: int, worker_id: int) -> list[int]:
    """Return the four words with which numpy's generator begins in a worker."""
    entropy = [worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]
    return np.random.SeedSequence(entropy).generate_state(4).tolist()


def _work(job: Job, get: Callable[[], Any], put: Callable[[Any], None]) -> None:
    """Answer every task with exactly one reply: (epoch, number, batch or Failure or ENDED)."""
    fetch: Callable[[Any], Any] | None = None
    broken: Failure | None = None
    has_ended = False
    try:
        _prepare_pipe(job)
        if job.init is not None:
            job.init(job.id)
    except Exception as error:
        broken = Failure.of(job.id, error)
    while (task := get()) != STOP:
        if type(task) is Restart:
            fetch, has_ended = None, False
            seed_pipe(job.fetch.dataset, task.seed)
            continue
        epoch, number, index = task
        if broken is not None or has_ended:
            put((epoch, number, broken or ENDED))
            continue
        try:
            fetch = fetch or job.fetch.start()
            reply: Any = fetch(index)
            flush()  # what this thread has recorded runs here, not in the loop that waits for it
        except StopIteration as end:
            has_ended = job.fetch.is_stream
            reply = ENDED if has_ended else Failure.of(job.id, end)
        except Exception as error:
            reply = Failure.of(job.id, error)
        put((epoch, number, reply))
        del task, index, reply


def _prepare_pipe(job: Job) -> None:
    """Give a worker's copy of a pipe its seeds and its share."""
    pipe = job.fetch.dataset
    seed_pipe(pipe, job.shared_seed)
    if isinstance(pipe, (IterDataPipe, MapDataPipe)):
        apply_sharding(pipe, job.num_workers, job.id)


def seed_pipe(pipe: Any, seed: int | None) -> None:
    """Give the shufflers of a stream that is a pipe seeds that follow from one."""
    if seed is not None:
        apply_random_seed(pipe, draws.seeded(seed))


def _get_while_parent_lives(tasks: Any) -> Any:
    parent = multiprocessing.parent_process()
    while parent is None or parent.is_alive():
        try:
            return tasks.get(timeout=_PARENT_CHECK_SECONDS)
        except queue.Empty:
            continue
    return STOP


class _Pickler(pickle.Pickler):
    """Sends a tensor as its numbers: a device's memory belongs to one process."""

    def reducer_override(self, obj: Any) -> Any:
        if type(obj) is Tensor and not obj.requires_grad:
            return from_host, (to_host(obj),)
        return NotImplemented


def packed(obj: Any) -> bytes:
    """Pickle something that may hold tensors."""
    buffer = io.BytesIO()
    _Pickler(buffer, protocol=pickle.HIGHEST_PROTOCOL).dump(obj)
    return buffer.getvalue()


def _packed_reply(reply: tuple[int, int, Any]) -> bytes:
    epoch, number, outcome = reply
    if type(outcome) is Failure:
        return _packed_failure(epoch, number, outcome)
    try:
        return packed(reply)
    except Exception as error:
        return _packed_failure(epoch, number, Failure.of(here.info.id, error))


def _packed_failure(epoch: int, number: int, failure: Failure) -> bytes:
    try:
        sent = packed((epoch, number, failure))
        pickle.loads(sent)  # a class that was made in a function cannot be sent
        return sent
    except Exception:
        return packed((epoch, number, failure._replace(kind=RuntimeError)))
