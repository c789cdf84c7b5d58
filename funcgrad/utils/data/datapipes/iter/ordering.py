"""Streams that take samples in another order, or only a part of them: shufflers, samplers, and shares for workers."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sized
from enum import IntEnum
from typing import Any, Self

from funcgrad.utils.data import draws
from funcgrad.utils.data.datapipes.datapipe import Chained, IterDataPipe, functional_datapipe, length_of, state_of
from funcgrad.utils.data.sampler import SequentialSampler

__all__ = ["SHARDING_PRIORITIES", "SamplerIterDataPipe", "ShardingFilterIterDataPipe", "ShufflerIterDataPipe"]


class Shuffling:
    """What shufflers have in common: whether they are on, and the seed of their next pass."""

    def __init__(self) -> None:
        self._enabled = True
        self._seed: int | None = None
        self._rng = random.Random()

    def set_shuffle(self, shuffle: bool = True) -> Self:
        """Turn this on or off."""
        self._enabled = shuffle
        return self

    def set_seed(self, seed: int) -> Self:
        """Begin the next pass with this seed; without one it is drawn from the default generator."""
        self._seed = seed
        return self


@functional_datapipe("shuffle")
class ShufflerIterDataPipe(Shuffling, Chained):
    """The samples in the order of chance: each is drawn from a buffer of `buffer_size`, where the next takes its place.

    unbatch_level: how many levels of batches are taken apart before.
    """

    def __init__(self, datapipe: Any, *, buffer_size: int = 10000, unbatch_level: int = 0) -> None:
        Shuffling.__init__(self)
        self._buffer: list[Any] = []
        if buffer_size <= 0:
            raise AssertionError("buffer_size should be larger than 0")
        self.datapipe = datapipe if unbatch_level == 0 else datapipe.unbatch(unbatch_level=unbatch_level)
        self.buffer_size = buffer_size

    def __iter__(self) -> Iterator[Any]:
        if not self._enabled:
            yield from self.datapipe
            return
        buffer = self._buffer
        for sample in self.datapipe:
            if len(buffer) < self.buffer_size:
                buffer.append(sample)
                continue
            place = self._rng.randint(0, len(buffer) - 1)
            drawn, buffer[place] = buffer[place], sample
            yield drawn
        while buffer:
            yield buffer.pop(self._rng.randint(0, len(buffer) - 1))

    def reset(self) -> None:
        """Empty the buffer, and start from the seed."""
        self._buffer = []
        if self._enabled:
            self._rng.seed(draws.seed() if self._seed is None else self._seed)
            self._seed = None

    def __getstate__(self) -> Any:
        state = (
            self.datapipe, self.buffer_size, self._enabled, self._seed, self._buffer, self._rng.getstate(),
            self._valid_iterator_id, self._number_of_samples_yielded,
        )  # fmt: skip
        return state_of(self, state)

    def __setstate__(self, state: Any) -> None:
        (
            self.datapipe, self.buffer_size, self._enabled, self._seed, self._buffer, randomness,
            self._valid_iterator_id, self._number_of_samples_yielded,
        ) = state  # fmt: skip
        self._rng = random.Random()
        self._rng.setstate(randomness)


class SamplerIterDataPipe(IterDataPipe[Any]):
    """What a sampler gives for a stream that has a length: by default the numbers of its samples."""

    def __init__(
        self, datapipe: Any, sampler: Any = SequentialSampler, sampler_args: tuple[Any, ...] | None = None,
        sampler_kwargs: dict[str, Any] | None = None,
    ) -> None:  # fmt: skip
        if not isinstance(datapipe, Sized):
            raise AssertionError("Sampler class requires input datapipe implemented `__len__`")
        self.datapipe = datapipe
        self.sampler_args = () if sampler_args is None else sampler_args
        self.sampler_kwargs = {} if sampler_kwargs is None else sampler_kwargs
        self.sampler_kwargs["data_source"] = datapipe
        self.sampler = sampler(*self.sampler_args, **self.sampler_kwargs)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.sampler)

    def __len__(self) -> int:
        return length_of(self, self.sampler)


class SHARDING_PRIORITIES(IntEnum):  # noqa: N801 - torch's name
    """Between whom a stream is shared out: all alike, or first between processes and then between their workers."""

    DEFAULT = 1
    DISTRIBUTED = 2
    MULTIPROCESSING = 3


class _ShardingIterDataPipe(IterDataPipe[Any]):
    def apply_sharding(self, num_of_instances: int, instance_id: int, sharding_group: SHARDING_PRIORITIES) -> None:
        raise NotImplementedError


@functional_datapipe("sharding_filter")
class ShardingFilterIterDataPipe(_ShardingIterDataPipe):
    """A worker's share of a stream: every n-th sample, once `apply_sharding` has said whose. A DataLoader says it."""

    def __init__(self, source_datapipe: Any, sharding_group_filter: Any = None) -> None:
        self.source_datapipe, self.sharding_group_filter = source_datapipe, sharding_group_filter
        self.groups: dict[int, tuple[int, int]] = {}
        self.num_of_instances, self.instance_id = 1, 0

    def apply_sharding(
        self, num_of_instances: int, instance_id: int, sharding_group: Any = SHARDING_PRIORITIES.DEFAULT
    ) -> None:
        """Take the part of one of so many. ValueError for a number that is too high; RuntimeError for mixed groups."""
        if instance_id >= num_of_instances:
            raise ValueError(f"instance_id({instance_id}) should be smaller than num_of_instances({num_of_instances})")
        default = SHARDING_PRIORITIES.DEFAULT
        if self.groups and (sharding_group == default) != (default in self.groups):
            raise RuntimeError("ShardingFilter cannot mix DEFAULT and non DEFAULT groups")
        self.groups[sharding_group] = (num_of_instances, instance_id)
        self.num_of_instances, self.instance_id = 1, 0
        for key in sorted(self.groups, reverse=True):
            if self.sharding_group_filter is None or key == self.sharding_group_filter:
                count, number = self.groups[key]
                self.instance_id += self.num_of_instances * number
                self.num_of_instances *= count

    def __iter__(self) -> Iterator[Any]:
        for i, sample in enumerate(self.source_datapipe):
            if i % self.num_of_instances == self.instance_id:
                yield sample

    def __len__(self) -> int:
        whole, left = divmod(length_of(self, self.source_datapipe), self.num_of_instances)
        return whole + (self.instance_id < left)
