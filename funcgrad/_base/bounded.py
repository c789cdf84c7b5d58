"""A memory that forgets: the entries that were used last, up to a bound."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")
_NOTHING: Any = object()


class Bounded(Generic[T]):
    """Keeps at most `limit` entries; the one that was not asked for longest goes first."""

    __slots__ = ("_entries", "limit")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._entries: OrderedDict[Any, T] = OrderedDict()

    def found(self, key: Any, make: Callable[[], T]) -> T:
        """Return the entry for this key, made now if there is none."""
        found: Any = self._entries.get(key, _NOTHING)  # type: ignore[arg-type]
        if found is not _NOTHING:
            try:
                self._entries.move_to_end(key)
            except KeyError:  # another thread has just let go of it
                self._entries[key] = found
            return found
        made = make()
        self._entries[key] = made
        if len(self._entries) > self.limit:
            self._entries.popitem(last=False)
        return made

    def get(self, key: Any) -> T | None:
        """Return the entry for this key, if there is one."""
        return self._entries.get(key)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: Any) -> bool:
        return key in self._entries

    def clear(self) -> None:
        """Forget everything."""
        self._entries.clear()
