"""Maps put together of others: a sequence, a function of each sample, batches, several in a row or side by side."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator, Sized
from typing import Any

from funcgrad._base.warning import warn
from funcgrad.utils.data import draws
from funcgrad.utils.data.datapipes.datapipe import (
    DataChunk,
    IterDataPipe,
    MapDataPipe,
    functional_datapipe,
    length_of,
    state_of,
)
from funcgrad.utils.data.datapipes.functions import check_function
from funcgrad.utils.data.datapipes.iter.ordering import Shuffling

__all__ = [
    "BatcherMapDataPipe", "ConcaterMapDataPipe", "MapperMapDataPipe", "SequenceWrapperMapDataPipe",
    "ShufflerIterDataPipe", "ZipperMapDataPipe", "default_fn",
]  # fmt: skip


class SequenceWrapperMapDataPipe(MapDataPipe[Any]):
    """The items of a sequence or a dict, of which this takes a copy unless `deepcopy` is False."""

    def __init__(self, sequence: Any, deepcopy: bool = True) -> None:
        self.sequence = sequence
        if deepcopy:
            try:
                self.sequence = copy.deepcopy(sequence)
            except TypeError:
                warn(
                    "The input sequence can not be deepcopied, please be aware of in-place modification would affect "
                    "source data"
                )

    def __getitem__(self, index: Any) -> Any:
        return self.sequence[index]

    def __len__(self) -> int:
        return len(self.sequence)


def default_fn(data: Any) -> Any:
    """Return the sample."""
    return data


@functional_datapipe("map")
class MapperMapDataPipe(MapDataPipe[Any]):
    """What a function makes of each sample."""

    def __init__(self, datapipe: Any, fn: Callable[[Any], Any] = default_fn) -> None:
        self.datapipe = datapipe
        check_function(fn)
        self.fn = fn

    def __len__(self) -> int:
        return len(self.datapipe)

    def __getitem__(self, index: Any) -> Any:
        return self.fn(self.datapipe[index])


@functional_datapipe("batch")
class BatcherMapDataPipe(MapDataPipe[Any]):
    """Lists of `batch_size` samples; the last is shorter, or left out."""

    def __init__(self, datapipe: Any, batch_size: int, drop_last: bool = False, wrapper_class: Any = DataChunk) -> None:
        if batch_size <= 0:
            raise AssertionError("Batch size is required to be larger than 0!")
        self.datapipe, self.batch_size, self.drop_last = datapipe, batch_size, drop_last
        self.wrapper_class = wrapper_class

    def __getitem__(self, index: int) -> Any:
        batch: list[Any] = []
        try:
            for i in range(index * self.batch_size, (index + 1) * self.batch_size):
                batch.append(self.datapipe[i])
        except IndexError as error:
            if self.drop_last or not batch:
                raise IndexError(f"Index {index} is out of bound.") from error
        return self.wrapper_class(batch)

    def __len__(self) -> int:
        count = length_of(self, self.datapipe)
        return (count if self.drop_last else count + self.batch_size - 1) // self.batch_size


class _OfSeveral(MapDataPipe[Any]):
    """What takes several maps that have a length."""

    def __init__(self, *datapipes: Any) -> None:
        if not datapipes:
            raise ValueError("Expected at least one DataPipe, but got nothing")
        if not all(isinstance(pipe, MapDataPipe) for pipe in datapipes):
            raise TypeError("Expected all inputs to be `MapDataPipe`")
        if not all(isinstance(pipe, Sized) for pipe in datapipes):
            raise TypeError("Expected all inputs to be `Sized`")
        self.datapipes = datapipes


@functional_datapipe("concat")
class ConcaterMapDataPipe(_OfSeveral):
    """The samples of each map, one map after the other."""

    def __getitem__(self, index: int) -> Any:
        offset = 0
        for pipe in self.datapipes:
            if index - offset < len(pipe):
                return pipe[index - offset]
            offset += len(pipe)
        raise IndexError(f"Index {index} is out of range.")

    def __len__(self) -> int:
        return sum(map(len, self.datapipes))


@functional_datapipe("zip")
class ZipperMapDataPipe(_OfSeveral):
    """Tuples of a sample of each map, as many as the shortest has."""

    def __getitem__(self, index: Any) -> tuple[Any, ...]:
        samples = []
        for pipe in self.datapipes:
            try:
                samples.append(pipe[index])
            except IndexError as error:
                raise IndexError(f"Index {index} is out of range for one of the input MapDataPipes {pipe}.") from error
        return tuple(samples)

    def __len__(self) -> int:
        return min(map(len, self.datapipes))


class ShufflerIterDataPipe(Shuffling, IterDataPipe[Any]):
    """The samples of a map in the order of chance, as a stream. indices: those that it has; None: 0, 1, ..."""

    def __init__(self, datapipe: Any, *, indices: list[Any] | None = None) -> None:
        super().__init__()
        self.datapipe = datapipe
        self.indices = list(range(len(datapipe))) if indices is None else indices
        self._shuffled_indices = self.indices

    def __iter__(self) -> Iterator[Any]:
        if not self._enabled:
            for index in self.indices:
                yield self.datapipe[index]
            return
        while self._shuffled_indices:
            yield self.datapipe[self._shuffled_indices.pop()]

    def reset(self) -> None:
        """Draw a new order, from the seed."""
        if self._enabled and self._seed is None:
            self._seed = draws.seed()
        self._rng.seed(self._seed)
        self._seed = None
        self._shuffled_indices = self._rng.sample(self.indices, len(self.indices))

    def __len__(self) -> int:
        return len(self.datapipe)

    def __getstate__(self) -> Any:
        state = (
            self.datapipe, self.indices, self._enabled, self._seed, self._rng.getstate(), self._shuffled_indices,
            self._valid_iterator_id, self._number_of_samples_yielded,
        )  # fmt: skip
        return state_of(self, state)

    def __setstate__(self, state: Any) -> None:
        (
            self.datapipe, self.indices, self._enabled, self._seed, randomness, self._shuffled_indices,
            self._valid_iterator_id, self._number_of_samples_yielded,
        ) = state  # fmt: skip
        self._rng = random.Random()
        self._rng.setstate(randomness)


MapDataPipe.register_datapipe_as_function("shuffle", ShufflerIterDataPipe)
