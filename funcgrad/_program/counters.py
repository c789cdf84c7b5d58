"""What the gate counts, so that waste is visible as a number and tests can assert it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Counters:
    """compiles: programs planned and compiled. runs: programs run. misses: ops never seen at their place before.
    inferences: shapes inferred by tracing. donated: arrays handed over to a run. parts: pieces and loops compiled for
    programs whose numbers of turns vary."""

    __slots__ = ("compiles", "donated", "inferences", "misses", "parts", "runs")

    def __init__(self) -> None:
        self.compiles = self.runs = self.misses = self.inferences = self.donated = self.parts = 0

    def as_dict(self) -> dict[str, int]:
        """Return the counts by name."""
        return {name: getattr(self, name) for name in self.__slots__}


counters = Counters()


@contextmanager
def counted() -> Iterator[Counters]:
    """Yield counters that hold, once the block has ended, what was counted inside it.

    >>> with counted() as seen:
    ...     pass
    >>> seen.compiles
    0
    """
    before = counters.as_dict()
    inside = object.__new__(Counters)  # has no counts yet: nobody takes them for zeros
    try:
        yield inside
    finally:
        for name, count in counters.as_dict().items():
            setattr(inside, name, count - before[name])
