"""Datasets: a map from an index to a sample, or a stream of samples; and the ways to join and split them."""

from __future__ import annotations

import bisect
import itertools
import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

import numpy as np

from funcgrad._tensor.tensor import Tensor
from funcgrad.random.generator import Generator
from funcgrad.utils.data import draws

Sample = TypeVar("Sample", covariant=True)


class Dataset(Generic[Sample]):
    """A map from an index to a sample.

    A subclass writes `__getitem__`, and `__len__` if it is to be sampled; it may write `__getitems__(indices)`, which
    returns the samples of a whole batch at once. It is given `+`, which joins two datasets end to end.
    """

    def __getitem__(self, index: Any) -> Sample:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[Any]) -> Dataset[Any]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[Sample], Iterable[Sample]):
    """A stream of samples, for data that is read in order.

    A subclass writes `__iter__`. With several workers each one iterates its own copy, so a stream that should be shared
    out asks `get_worker_info()` which part is its own.
    """

    def __add__(self, other: Dataset[Any]) -> ChainDataset:
        return ChainDataset([self, other])


class Rows(Sequence[tuple[Tensor, ...]]):
    """The samples of a batch that are stacked already: one column for each field. Reads as a list of tuples."""

    __slots__ = ("columns", "length")

    def __init__(self, columns: tuple[Tensor, ...], length: int) -> None:
        self.columns, self.length = columns, length

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: Any) -> Any:
        return tuple(column[index] for column in self.columns)

    def __iter__(self) -> Iterator[tuple[Tensor, ...]]:
        return iter([self[i] for i in range(self.length)])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Sample i is the tuple of every tensor's row i."""

    def __init__(self, *tensors: Tensor) -> None:
        if any(tensor.size(0) != tensors[0].size(0) for tensor in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __getitems__(self, indices: Sequence[int]) -> Sequence[tuple[Tensor, ...]]:
        """Gather a batch with one op for each tensor, instead of a row at a time."""
        rows = list(indices)
        if type(self).__getitem__ is not TensorDataset.__getitem__ or not _are_whole_numbers(rows):
            return [self[i] for i in rows]
        return Rows(tuple(tensor[rows] for tensor in self.tensors), len(rows))

    def __len__(self) -> int:
        return self.tensors[0].size(0)


class StackDataset(Dataset[Any]):
    """Datasets side by side: sample i is the tuple (or, given by keyword, the dict) of every dataset's sample i."""

    def __init__(self, *args: Dataset[Any], **kwargs: Dataset[Any]) -> None:
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or``dict``- (via ``kwargs``) like input/output, but both "
                "types are given."
            )
        self.datasets: tuple[Any, ...] | dict[str, Any] = args or kwargs
        if not self.datasets:
            raise ValueError("At least one dataset should be passed")
        lengths = [_length(dataset) for dataset in (args or kwargs.values())]
        if len(set(lengths)) > 1:
            raise ValueError("Size mismatch between datasets")
        self._length = lengths[0]

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {name: dataset[index] for name, dataset in self.datasets.items()}
        return tuple(dataset[index] for dataset in self.datasets)

    def __getitems__(self, indices: Sequence[int]) -> list[Any]:
        if isinstance(self.datasets, dict):
            columns = [_samples(dataset, indices) for dataset in self.datasets.values()]
            return [dict(zip(self.datasets, row, strict=True)) for row in zip(*columns, strict=True)]
        return list(zip(*(_samples(dataset, indices) for dataset in self.datasets), strict=True))

    def __len__(self) -> int:
        return self._length


class ConcatDataset(Dataset[Sample]):
    """Datasets end to end."""

    def __init__(self, datasets: Iterable[Dataset[Sample]]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = list(itertools.accumulate(map(_length, self.datasets)))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    @property
    def cummulative_sizes(self) -> list[int]:
        """The older spelling of `cumulative_sizes`."""
        message = "`cummulative_sizes` attribute is renamed to `cumulative_sizes`"
        warnings.warn(message, FutureWarning, stacklevel=2)
        return self.cumulative_sizes

    def __getitem__(self, index: int) -> Sample:
        if index < 0:
            if -index > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            index += len(self)
        which = bisect.bisect_right(self.cumulative_sizes, index)
        return self.datasets[which][index - (self.cumulative_sizes[which - 1] if which else 0)]


class ChainDataset(IterableDataset[Any]):
    """Streams one after the other."""

    def __init__(self, datasets: Iterable[Dataset[Any]]) -> None:
        self.datasets = datasets

    def _streams(self) -> Iterator[Any]:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield dataset

    def __iter__(self) -> Iterator[Any]:
        for stream in self._streams():
            yield from stream

    def __len__(self) -> int:
        return sum(map(len, self._streams()))


class Subset(Dataset[Sample]):
    """The samples of a dataset at the given indices."""

    def __init__(self, dataset: Dataset[Sample], indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __getitems__(self, indices: Sequence[int]) -> Sequence[Any]:
        if type(self).__getitem__ is not Subset.__getitem__:
            return [self[i] for i in indices]
        return _samples(self.dataset, [self.indices[i] for i in indices])

    def __len__(self) -> int:
        return len(self.indices)


def random_split(
    dataset: Dataset[Sample], lengths: Sequence[int | float], generator: Generator | None = None
) -> list[Subset[Sample]]:
    """Split a dataset at random into parts of the given lengths, or of the given fractions of its length.

    What is left when fractions are rounded down goes to the parts in turn, one sample each.
    """
    total = _length(dataset)
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        lengths = _lengths_of(lengths, total)
    if sum(lengths) != total:
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order, parts = list(draws.permutation(total, generator)), [int(length) for length in lengths]
    return [
        Subset(dataset, order[end - part : end]) for end, part in zip(itertools.accumulate(parts), parts, strict=True)
    ]


def _lengths_of(fractions: Sequence[float], total: int) -> list[int]:
    for i, fraction in enumerate(fractions):
        if not 0 <= fraction <= 1:
            raise ValueError(f"Fraction at index {i} is not between 0 and 1: {fraction}")
    lengths = [math.floor(total * fraction) for fraction in fractions]
    for i in range(total - sum(lengths)):
        lengths[i % len(lengths)] += 1
    for i, length in enumerate(lengths):
        if length == 0:
            warnings.warn(f"Length of split at index {i} is 0. This might result in an empty dataset.", stacklevel=3)
    return lengths


def _are_whole_numbers(rows: list[Any]) -> bool:
    """In a list tensors would be an index for each dimension, and truth values a mask."""
    return all(issubclass(kind, (int, np.integer)) and kind is not bool for kind in set(map(type, rows)))


def _length(dataset: Any) -> int:
    """A map may have a length or not: Dataset promises none, so that `len` raises its own TypeError."""
    return len(dataset)


def _samples(dataset: Any, indices: Sequence[int]) -> Sequence[Any]:
    """Read a batch of samples, at once where the dataset can do so."""
    at_once = getattr(dataset, "__getitems__", None)
    if not callable(at_once):
        return [dataset[i] for i in indices]
    samples: Sequence[Any] = at_once(indices)  # type: ignore[assignment]  # what torch asks of it
    if len(samples) != len(indices):
        raise ValueError(f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(samples)}")
    return samples
