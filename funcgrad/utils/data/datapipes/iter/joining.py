"""Streams of several streams: one after the other, side by side, or taking turns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from funcgrad.utils.data.datapipes.datapipe import IterDataPipe, functional_datapipe, length_of, state_of

__all__ = ["ConcaterIterDataPipe", "MultiplexerIterDataPipe", "ZipperIterDataPipe"]


@functional_datapipe("concat")
class ConcaterIterDataPipe(IterDataPipe[Any]):
    """The samples of each stream, one stream after the other."""

    def __init__(self, *datapipes: Any) -> None:
        if not datapipes:
            raise ValueError("Expected at least one DataPipe, but got nothing")
        if not all(isinstance(pipe, IterDataPipe) for pipe in datapipes):
            raise TypeError("Expected all inputs to be `IterDataPipe`")
        self.datapipes = datapipes

    def __iter__(self) -> Iterator[Any]:
        for pipe in self.datapipes:
            yield from pipe

    def __len__(self) -> int:
        return length_of(self, *self.datapipes)


@functional_datapipe("mux")
class MultiplexerIterDataPipe(IterDataPipe[Any]):
    """A sample of each stream in turn, until the shortest ends: rounds are whole."""

    def __init__(self, *datapipes: Any) -> None:
        self.datapipes = datapipes
        self.buffer: list[Any] = []

    def __iter__(self) -> Iterator[Any]:
        iterators = [iter(pipe) for pipe in self.datapipes]
        while iterators:
            for iterator in iterators:
                try:
                    self.buffer.append(next(iterator))
                except StopIteration:
                    self.buffer.clear()
                    return
            yield from self.buffer
            self.buffer.clear()

    def __len__(self) -> int:
        return min(length_of(self, pipe) for pipe in self.datapipes) * len(self.datapipes)

    def reset(self) -> None:
        """Forget the round that was begun."""
        self.buffer = []

    def __getstate__(self) -> Any:
        return state_of(self, (self.datapipes, self._valid_iterator_id, self._number_of_samples_yielded))

    def __setstate__(self, state: Any) -> None:
        self.datapipes, self._valid_iterator_id, self._number_of_samples_yielded = state
        self.buffer = []


@functional_datapipe("zip")
class ZipperIterDataPipe(IterDataPipe[Any]):
    """Tuples of a sample of each stream, until the shortest ends."""

    def __init__(self, *datapipes: Any) -> None:
        if not all(isinstance(pipe, IterDataPipe) for pipe in datapipes):
            raise TypeError("All inputs are required to be `IterDataPipe` for `ZipIterDataPipe`.")
        self.datapipes = datapipes

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        yield from zip(*[iter(pipe) for pipe in self.datapipes], strict=False)

    def __len__(self) -> int:
        return min(length_of(self, pipe) for pipe in self.datapipes)
