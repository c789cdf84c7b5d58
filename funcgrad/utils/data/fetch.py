"""How indices become a batch, from a map or from a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from funcgrad._tensor.names import at_once, flush
from funcgrad._tensor.tensor import Tensor
from funcgrad.utils.data.collate import default_collate
from funcgrad.utils.data.dataset import Rows


class Fetch(NamedTuple):
    """How indices become a batch."""

    dataset: Any
    is_stream: bool
    is_batched: bool
    collate: Callable[[Any], Any]
    drop_last: bool

    def start(self) -> Callable[[Any], Any]:
        """Return the function from indices to a batch; for a stream it raises StopIteration at the end."""
        make = self._stream() if self.is_stream else self._from_map

        def fetch(index: Any) -> Any:
            with at_once():
                batch = make(index)
            return _computed(batch)

        return fetch if self.is_batched else make

    def _from_map(self, index: Any) -> Any:
        if not self.is_batched:
            return self.collate(self.dataset[index])
        at_once = getattr(self.dataset, "__getitems__", None)
        samples = at_once(index) if callable(at_once) else [self.dataset[i] for i in index]
        if type(samples) is Rows:
            return self.collate(samples if self.collate is default_collate else list(samples))
        return self.collate(samples)

    def _stream(self) -> Callable[[Any], Any]:
        samples: Iterator[Any] = iter(self.dataset)

        def fetch(index: Any) -> Any:
            if not self.is_batched:
                return self.collate(next(samples))
            taken = [sample for _, sample in zip(index, samples, strict=False)]
            if not taken or (self.drop_last and len(taken) < len(index)):
                raise StopIteration
            return self.collate(taken)

        return fetch


def _computed(batch: Any) -> Any:
    """Run what was recorded to make a batch of tensor samples: a program of its own, not a part of every step."""
    if _is_pending(batch):
        flush()
    return batch


def _is_pending(batch: Any) -> bool:
    if isinstance(batch, Tensor):
        return batch._current().value.array is None
    if isinstance(batch, Mapping):
        return any(map(_is_pending, batch.values()))
    return isinstance(batch, (list, tuple)) and any(map(_is_pending, batch))
