"""Samplers: the order in which a dataset's samples are visited. For a seed it is torch's."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any, Generic, TypeVar

import numpy as np

from funcgrad._base import dtypes
from funcgrad._tensor import functions as fg
from funcgrad.random.generator import Generator
from funcgrad.utils.data import draws

Item = TypeVar("Item", covariant=True)

# torch draws with replacement in blocks of this many.
_BLOCK = 32


class Sampler(Generic[Item]):
    """An order to visit samples in. A subclass writes `__iter__`, and `__len__` where the number is known."""

    def __iter__(self) -> Iterator[Item]:
        raise NotImplementedError(f"{type(self).__name__} is a Sampler, so it must define __iter__(self)")


class SequentialSampler(Sampler[int]):
    """From the first to the last."""

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """A random order: a new permutation for each pass, or draws with replacement.

    Without a generator, each pass draws the seed of its own generator from the default one, so that the default
    generator moves on by the same amount whatever the length of the data.
    """

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        self.data_source, self.replacement, self.generator = data_source, replacement, generator
        self._num_samples = num_samples
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        _check_count("num_samples", self.num_samples)

    @property
    def num_samples(self) -> int:
        """How many indices one pass draws: by default as many as there are samples."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        count, wanted = len(self.data_source), self.num_samples
        generator = draws.seeded(draws.seed()) if self.generator is None else self.generator
        if self.replacement:
            for start in range(0, wanted, _BLOCK):
                yield from draws.integers(count, min(_BLOCK, wanted - start), generator)
        else:
            for start in range(0, wanted + 1, count):  # torch draws one order more when it needs nothing of it
                yield from draws.permutation(count, generator)[: wanted - start]

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """The given indices in a random order."""

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices, self.generator = indices, generator

    def __iter__(self) -> Iterator[int]:
        for i in draws.permutation(len(self.indices), self.generator):
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Draw `num_samples` indices, each as likely as its weight."""

    def __init__(
        self,
        weights: Sequence[float],
        num_samples: int,
        replacement: bool = True,
        generator: Generator | None = None,
    ) -> None:
        _check_count("num_samples", num_samples)
        if not isinstance(replacement, bool):
            raise ValueError(f"replacement should be a boolean value, but got replacement={replacement}")
        self.weights = fg.as_tensor(weights, dtype=dtypes.float64)
        if self.weights.dim() != 1:
            raise ValueError(
                f"weights should be a 1d sequence but given weights have shape {tuple(self.weights.shape)}"
            )
        self.num_samples, self.replacement, self.generator = num_samples, replacement, generator

    def __iter__(self) -> Iterator[int]:
        yield from draws.choices(self.weights, self.num_samples, self.replacement, self.generator)

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Cut another sampler's order into lists of `batch_size`; the last may be shorter, or dropped."""

    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool) -> None:
        _check_count("batch_size", batch_size)
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        order = iter(self.sampler)
        while batch := list(itertools.islice(order, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        sampler: Any = self.sampler  # one without a length has none here either
        count = len(sampler)
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)


def _check_count(name: str, count: Any) -> None:
    whole = isinstance(count, (int, np.integer)) and not isinstance(count, bool)
    if not whole or count <= 0:
        raise ValueError(f"{name} should be a positive integer value, but got {name}={count}")
