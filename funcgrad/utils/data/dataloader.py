"""The DataLoader: batches of a dataset in a sampler's order, made here, by threads, or by spawned processes."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from funcgrad._base.warning import warn
from funcgrad._tensor.placement import get_default_device
from funcgrad.random.generator import Generator
from funcgrad.utils.data import draws
from funcgrad.utils.data.collate import default_collate, default_convert
from funcgrad.utils.data.datapipes.datapipe import IterDataPipe, held_by_loader
from funcgrad.utils.data.dataset import Dataset, IterableDataset
from funcgrad.utils.data.fetch import Fetch
from funcgrad.utils.data.graph_settings import apply_shuffle_settings
from funcgrad.utils.data.pool import Pool, of_processes, process_context
from funcgrad.utils.data.sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler
from funcgrad.utils.data.worker import ENDED, Failure, seed_pipe
from funcgrad.utils.data.worker_info import get_worker_info

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]

Sample = TypeVar("Sample", covariant=True)
_collate_fn_t = Callable[[list[Any]], Any]  # under torch's own name, which libraries annotate with

_FIXED = {"batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers"}


class _Forever(Sampler[None]):
    """The order of a stream: it has no indices, and ends when it ends."""

    def __iter__(self) -> Iterator[None]:
        while True:
            yield None


class _DatasetKind:
    """Where samples come from, by torch's numbers: a map, or a stream."""

    Map = 0
    Iterable = 1


class DataLoader(Generic[Sample]):
    """Batches of a dataset, in torch's order for a seed.

    With `num_workers` the batches are made ahead by that many threads, or by processes when `multiprocessing_context`
    is "spawn" or "forkserver"; they arrive in order, and an exception in a worker is raised in the loop. A forked child
    cannot use XLA, so that "fork", PyTorch's own way on Linux, starts threads too. On an accelerator a worker's batches
    are sent to the device as they are made, ahead of their use. `pin_memory` changes nothing.
    Each worker draws torch's, Python's and numpy's random numbers from generators of its own, seeded as torch's are.
    """

    __initialized = False  # by torch's name: loaders that exchange their sampler set it

    def __init__(
        self,
        dataset: Dataset[Sample],
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None,
        batch_sampler: Iterable[list[Any]] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        is_stream, is_pipe = isinstance(dataset, IterableDataset), isinstance(dataset, IterDataPipe)
        self._dataset_kind = _DatasetKind.Iterable if is_stream else _DatasetKind.Map
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        if is_pipe:
            apply_shuffle_settings(dataset, shuffle)  # as in torch, a shuffler that it adds is not what is loaded
        _check_order(is_stream, batch_size, None if is_pipe else shuffle, sampler, batch_sampler, drop_last)
        self.dataset, self.generator = held_by_loader(dataset), generator
        self.num_workers, self.persistent_workers, self.in_order = num_workers, persistent_workers, in_order
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.pin_memory, self.pin_memory_device = pin_memory, pin_memory_device
        self.timeout, self.worker_init_fn = timeout, worker_init_fn
        self.multiprocessing_context = process_context(multiprocessing_context, num_workers)
        self.sampler = self._default_sampler(shuffle) if sampler is None else sampler
        if batch_sampler is not None:
            batch_size = None
        elif batch_size is not None:
            batch_sampler = BatchSampler(self.sampler, batch_size, drop_last)
        self.batch_size, self.batch_sampler, self.drop_last = batch_size, batch_sampler, drop_last
        standard = default_collate if self._auto_collation else default_convert
        self.collate_fn: Callable[[Any], Any] = collate_fn or standard
        self._IterableDataset_len_called: int | None = None  # by torch's name, as libraries' own loaders have it
        self._iterator: _WorkersIterator | None = None
        self.__initialized = True

    def _default_sampler(self, shuffle: bool | None) -> Sampler[Any]:
        if self._dataset_kind == _DatasetKind.Iterable:
            return _Forever()
        dataset: Any = self.dataset  # a map; that it has a length is checked when it is asked for
        return RandomSampler(dataset, generator=self.generator) if shuffle else SequentialSampler(dataset)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _FIXED and self.__initialized:
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    @property
    def _auto_collation(self) -> bool:
        """Whether batches are put together of samples: subclasses that fetch whole batches say no, as in torch."""
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        return self.batch_sampler if self._auto_collation else self.sampler

    def __iter__(self) -> Iterator[Any]:
        if self.pin_memory and get_default_device().type == "cpu":
            warnings.warn(
                "'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't be "
                "used.",
                stacklevel=2,
            )
        if self.num_workers == 0:
            return _HereIterator(self)
        if not self.persistent_workers:
            return _WorkersIterator(self)
        if self._iterator is None:
            self._iterator = _WorkersIterator(self)
        else:
            self._iterator.restart()
        return self._iterator

    def __len__(self) -> int:
        if self._dataset_kind == _DatasetKind.Map:
            return len(self._index_sampler)
        stream: Any = self.dataset
        count = self._IterableDataset_len_called = len(stream)
        if self.batch_size is None:
            return count
        return count // self.batch_size if self.drop_last else math.ceil(count / self.batch_size)


_WHOSE_COPY = (
    "For multiprocessing data-loading, this could be caused by not properly configuring the IterableDataset replica "
    "at each worker. Please see https://pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset for "
    "examples."
)


class _Iterator:
    """One pass over a loader. Starting it draws a seed for the workers even when there are none, as torch does.

    The loader is any object that has what is read of it here: libraries give their own.
    """

    def __init__(self, loader: Any) -> None:
        self._loader = loader
        self._shared_seed = _seed_of_pipe(loader)
        self._order = iter(loader._index_sampler)
        self._base_seed = draws.seed(loader.generator)
        self._yielded = 0
        self._reported = loader._IterableDataset_len_called

    def __iter__(self) -> Iterator[Any]:
        return self

    def __len__(self) -> int:
        return len(self._loader._index_sampler)

    def __next__(self) -> Any:
        batch = self._next_batch()
        self._yielded += 1
        if self._reported is not None and self._yielded > self._reported:
            self._warn_of_length(self._reported)
        return batch

    def _next_batch(self) -> Any:
        raise NotImplementedError

    def _warn_of_length(self, reported: int) -> None:
        warned = (
            f"Length of IterableDataset {self._loader.dataset} was reported to be {reported}(when accessing "
            f"len(dataloader)), but {self._yielded} samples have been fetched. "
        )
        warn(warned + _WHOSE_COPY * (self._loader.num_workers > 0))


def _seed_of_pipe(loader: Any) -> int | None:
    """Draw what the shufflers of a stream that is a pipe follow from, alike in all workers. None: it is no pipe."""
    return draws.seed(loader.generator) if isinstance(loader.dataset, IterDataPipe) else None


def _fetch(loader: Any) -> Fetch:
    """Return how a loader's indices become a batch."""
    is_stream = loader._dataset_kind == _DatasetKind.Iterable
    return Fetch(loader.dataset, is_stream, loader._auto_collation, loader.collate_fn, loader.drop_last)


class _HereIterator(_Iterator):
    """Makes each batch when it is asked for."""

    def __init__(self, loader: Any) -> None:
        super().__init__(loader)
        if loader.timeout:
            raise AssertionError("_SingleProcessDataLoaderIter requires timeout == 0")
        seed_pipe(loader.dataset, self._shared_seed)
        self._make = _fetch(loader).start()

    def _next_batch(self) -> Any:
        return self._make(next(self._order))


class _WorkersIterator(_Iterator):
    """Keeps `prefetch_factor` batches on their way in each worker, and yields them in order."""

    def __init__(self, loader: Any) -> None:
        super().__init__(loader)
        context = of_processes(process_context(loader.multiprocessing_context, loader.num_workers))
        self._pool = Pool(
            _fetch(loader), loader.num_workers, self._base_seed, loader.worker_init_fn, context, self._shared_seed
        )
        _seed_of_pipe(loader)  # torch draws one here too, which nobody is told
        self._epoch = 0
        self._begin()

    def restart(self) -> None:
        """Begin another pass with the same workers; what is left of the last one is dropped when it arrives."""
        self._order = iter(self._loader._index_sampler)
        self._yielded = 0
        self._reported = self._loader._IterableDataset_len_called
        self._epoch += 1
        self._pool.restart(_seed_of_pipe(self._loader))
        self._begin()

    def _begin(self) -> None:
        workers = self._loader.num_workers
        self._sent = self._next = self._turn = 0
        self._worker_of: dict[int, int] = {}
        self._arrived: dict[int, Any] = {}
        self._running = set(range(workers))
        for _ in range(max(1, self._loader.prefetch_factor or 0) * workers):
            self._send()

    def _send(self) -> None:
        """Give the next indices to the next worker in turn whose stream has not ended."""
        if not self._running:
            return
        try:
            index = next(self._order)
        except StopIteration:
            return
        workers = self._loader.num_workers
        while self._turn % workers not in self._running:
            self._turn += 1
        worker = self._worker_of[self._sent] = self._turn % workers
        self._pool.send(worker, (self._epoch, self._sent, index))
        self._turn += 1
        self._sent += 1

    def _next_batch(self) -> Any:
        while self._worker_of:
            number = self._receive()
            worker, outcome = self._worker_of.pop(number), self._arrived.pop(number)
            if type(outcome) is str and outcome == ENDED:
                self._running.discard(worker)
                self._send()
                continue
            self._send()
            if type(outcome) is Failure:
                outcome.reraise()
            return outcome
        if not self._loader.persistent_workers:
            self._pool.close()
        raise StopIteration

    def _receive(self) -> int:
        """Wait for the next batch in order (or, without `in_order`, for any) and return its number."""
        while self._next not in self._worker_of:
            self._next += 1
        while True:
            if self._loader.in_order and self._next in self._arrived:
                return self._next
            if not self._loader.in_order and self._arrived:
                return next(iter(self._arrived))
            epoch, number, outcome = self._pool.receive(self._loader.timeout)
            if epoch == self._epoch:
                self._arrived[number] = outcome


def _check_workers(num_workers: int, timeout: float, prefetch_factor: int | None, persistent_workers: bool) -> None:
    if num_workers < 0:
        raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing."
            "let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to None."
        )
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if persistent_workers and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")


def _check_order(
    is_stream: bool, batch_size: int | None, shuffle: bool | None, sampler: Any, batch_sampler: Any, drop_last: bool
) -> None:
    if is_stream:
        for name, given in (("shuffle", shuffle or None), ("sampler", sampler), ("batch_sampler", batch_sampler)):
            if given is not None:
                raise ValueError(
                    f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={given}"
                )
    if sampler is not None and shuffle:
        raise ValueError("sampler option is mutually exclusive with shuffle")
    if batch_sampler is not None:
        if batch_size != 1 or shuffle or sampler is not None or drop_last:
            raise ValueError(
                "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
            )
    elif batch_size is None and drop_last:
        raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")


# torch's names, which scripts ask `isinstance` about
_BaseDataLoaderIter, _SingleProcessDataLoaderIter, _MultiProcessingDataLoaderIter = (
    _Iterator, _HereIterator, _WorkersIterator,
)  # fmt: skip
