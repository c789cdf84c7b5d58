"""Streams of batches: of so many samples, of samples of one key, and samples taken out of batches again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from funcgrad.utils.data.datapipes.datapipe import DataChunk, IterDataPipe, functional_datapipe, length_of, state_of
from funcgrad.utils.data.datapipes.functions import check_function

__all__ = ["BatcherIterDataPipe", "GrouperIterDataPipe", "UnBatcherIterDataPipe"]


@functional_datapipe("batch")
class BatcherIterDataPipe(IterDataPipe[Any]):
    """Lists of `batch_size` samples; the last is shorter, or left out."""

    def __init__(self, datapipe: Any, batch_size: int, drop_last: bool = False, wrapper_class: Any = DataChunk) -> None:
        if batch_size <= 0:
            raise AssertionError("Batch size is required to be larger than 0!")
        self.datapipe, self.batch_size, self.drop_last = datapipe, batch_size, drop_last
        self.wrapper_class = wrapper_class

    def __iter__(self) -> Iterator[Any]:
        batch: list[Any] = []
        for sample in self.datapipe:
            batch.append(sample)
            if len(batch) == self.batch_size:
                yield self.wrapper_class(batch)
                batch = []
        if batch and not self.drop_last:
            yield self.wrapper_class(batch)

    def __len__(self) -> int:
        count = length_of(self, self.datapipe)
        return (count if self.drop_last else count + self.batch_size - 1) // self.batch_size


@functional_datapipe("unbatch")
class UnBatcherIterDataPipe(IterDataPipe[Any]):
    """The samples of batches. unbatch_level: how many levels of lists are taken apart; -1: all."""

    def __init__(self, datapipe: Any, unbatch_level: int = 1) -> None:
        self.datapipe, self.unbatch_level = datapipe, unbatch_level

    def __iter__(self) -> Iterator[Any]:
        for element in self.datapipe:
            yield from self._dive(element, self.unbatch_level)

    def _dive(self, element: Any, unbatch_level: int) -> Iterator[Any]:
        if unbatch_level < -1:
            raise ValueError("unbatch_level must be -1 or >= 0")
        is_batch = isinstance(element, list)
        if unbatch_level == 0 or (unbatch_level == -1 and not is_batch):
            yield element
            return
        if not is_batch:
            raise IndexError(f"unbatch_level {self.unbatch_level} exceeds the depth of the DataPipe")
        for inner in element:
            yield from self._dive(inner, max(unbatch_level - 1, -1))


@functional_datapipe("groupby")
class GrouperIterDataPipe(IterDataPipe[Any]):
    """Batches of samples of which `group_key_fn` says the same; (key, batch) with `keep_key`.

    A batch is given when it has `group_size` samples, or is the largest when `buffer_size` samples wait; the others at
    the end. One that is smaller than `guaranteed_group_size` by then is a RuntimeError, or left out (`drop_remaining`).
    """

    def __init__(
        self, datapipe: Any, group_key_fn: Callable[[Any], Any], *, keep_key: bool = False, buffer_size: int = 10000,
        group_size: int | None = None, guaranteed_group_size: int | None = None, drop_remaining: bool = False,
    ) -> None:  # fmt: skip
        check_function(group_key_fn)
        self.datapipe, self.group_key_fn, self.keep_key = datapipe, group_key_fn, keep_key
        self.max_buffer_size, self.group_size, self.drop_remaining = buffer_size, group_size, drop_remaining
        self.buffer_elements: defaultdict[Any, list[Any]] = defaultdict(list)
        self.curr_buffer_size = 0
        self.guaranteed_group_size: int | None = None
        if group_size is not None and buffer_size is not None:
            if not 0 < group_size <= buffer_size:
                raise AssertionError("group_size must be > 0 and <= buffer_size")
            self.guaranteed_group_size = group_size
        if guaranteed_group_size is not None:
            if group_size is None or not 0 < guaranteed_group_size <= group_size:
                raise AssertionError("guaranteed_group_size must be > 0 and <= group_size and group_size must be set")
            self.guaranteed_group_size = guaranteed_group_size
        self.wrapper_class = DataChunk

    def _largest(self) -> list[Any] | None:
        """Take the largest batch out of the buffer; None where it is too small, and left out."""
        key = max(self.buffer_elements, key=lambda key: len(self.buffer_elements[key]))
        group = self.buffer_elements.pop(key)
        is_enough = self.guaranteed_group_size is None or len(group) >= self.guaranteed_group_size
        if not is_enough and not self.drop_remaining:
            raise RuntimeError("Failed to group items", str(group))
        self.curr_buffer_size -= len(group)
        return group if is_enough else None

    def _made(self, key: Any, group: list[Any]) -> Any:
        batch = self.wrapper_class(group)
        return (key, batch) if self.keep_key else batch

    def __iter__(self) -> Iterator[Any]:
        for sample in self.datapipe:
            key = self.group_key_fn(sample)
            self.buffer_elements[key].append(sample)
            self.curr_buffer_size += 1
            if len(self.buffer_elements[key]) == self.group_size:
                yield self._made(key, self.buffer_elements[key])
                self.curr_buffer_size -= len(self.buffer_elements.pop(key))
            if self.curr_buffer_size == self.max_buffer_size:
                group = self._largest()
                if group is not None:
                    yield self._made(key, group)
        for key in tuple(self.buffer_elements):
            group = self.buffer_elements.pop(key)
            self.curr_buffer_size -= len(group)
            yield self._made(key, group)

    def reset(self) -> None:
        """Empty the buffer."""
        self.curr_buffer_size = 0
        self.buffer_elements = defaultdict(list)

    def __getstate__(self) -> Any:
        state = (
            self.datapipe, self.group_key_fn, self.keep_key, self.max_buffer_size, self.group_size,
            self.guaranteed_group_size, self.drop_remaining, self.wrapper_class, self._valid_iterator_id,
            self._number_of_samples_yielded,
        )  # fmt: skip
        return state_of(self, state)

    def __setstate__(self, state: Any) -> None:
        (
            self.datapipe, self.group_key_fn, self.keep_key, self.max_buffer_size, self.group_size,
            self.guaranteed_group_size, self.drop_remaining, self.wrapper_class, self._valid_iterator_id,
            self._number_of_samples_yielded,
        ) = state  # fmt: skip
        self.curr_buffer_size = 0
        self.buffer_elements = defaultdict(list)
