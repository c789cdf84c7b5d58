"""How compiles and runs are listed: a line each, with the user's own line first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from funcgrad._program.journal import Compile, Run

T = TypeVar("T", Compile, Run)

_IN_OTHER_WORDS = {
    "other results are wanted of a known program": "the ops are known, but another tensor of theirs is still held: a "
    "name that one iteration keeps and another does not",
    "a program not seen before": "these ops were not run in this order before",
}


class Lines(list[T]):
    """Compiles or runs, the newest last; prints one a line."""

    def __repr__(self) -> str:
        return "\n".join(map(_line, self)) or "none"

    __str__ = __repr__


def listed(entries: Iterable[T]) -> Lines[T]:
    """Return entries as a list that prints well."""
    return Lines(entries)


def _line(entry: Compile | Run) -> str:
    ops = f"{entry.instructions} op{'s' * (entry.instructions != 1)}"
    if isinstance(entry, Run):
        return f"{entry.line} ran {ops}"
    why = _IN_OTHER_WORDS.get(entry.reason, entry.reason)
    return f"{entry.line} compiled {ops} in {entry.seconds:.2f} s: {why}"
