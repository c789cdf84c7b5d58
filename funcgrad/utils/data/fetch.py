"""How indices become a batch, from a map or from a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

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
        return self._stream() if self.is_stream else self._from_map

    def _from_map(self, index: Any) -> Any:
        if not self.is_batched:
            return self.collate(self.dataset[index])
        at_once = getattr(self.dataset, "__getitems__", None)
        samples = at_once(index) if callable(at_once) else [self.dataset[i] for i in index]
        if type(samples) is Rows and self.collate is not default_collate:
            samples = list(samples)
        return self.collate(samples)

    def _stream(self) -> Callable[[Any], Any]:
        samples: Iterator[Any] = iter(self.dataset)

        def fetch(index: Any) -> Any:
            if not self.is_batched:
                return self.collate(next(samples))
            batch = [sample for _, sample in zip(index, samples, strict=False)]
            if not batch or (self.drop_last and len(batch) < len(index)):
                raise StopIteration
            return self.collate(batch)

        return fetch
