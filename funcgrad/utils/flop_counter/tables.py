"""The table that a FLOP counter prints: modules indented by their depth, below each its kernels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Counts = Mapping[str, Mapping[Any, int]]
_SUFFIXES = ("", "K", "M", "B", "T")
_HEADER = ("Module", "FLOP", "% Total")


def table(counts: Counts, depth: int) -> str:
    """Return the table of modules down to `depth`; "Global" stands in it where no module holds all operations."""
    total = sum(counts.get("Global", {}).values())
    modules = sorted(name for name in counts if name != "Global" and name.count(".") < depth)
    is_held = any(sum(counts[name].values()) >= total for name in modules)
    shift = "" if is_held else " "
    rows = [] if is_held or "Global" not in counts else _rows("Global", "", counts, total)
    for name in modules:
        rows += _rows(name, shift + " " * name.count("."), counts, total)
    return _aligned(rows or [("Global", "0", "0%")])


def _rows(name: str, padding: str, counts: Counts, total: int) -> list[tuple[str, str, str]]:
    own = counts[name]
    named = [(f"{padding}{name}", sum(own.values())), *((f"{padding} - {kernel}", n) for kernel, n in own.items())]
    return [(text, _written(count, total), f"{count / total:.2%}" if total else "0%") for text, count in named]


def _written(count: int, total: int) -> str:
    """Write a count in the unit that the total is written in, which has one digit more than its threshold."""
    power = max(0, min(len(_SUFFIXES) - 1, (len(str(total)) - 2) // 3))
    return f"{count / 1000**power:.3f}{_SUFFIXES[power]}" if power else str(count)


def _aligned(rows: Iterable[tuple[str, str, str]]) -> str:
    rows = list(rows)
    widths = [max(len(title) + 2, *(len(row[i]) for row in rows)) for i, title in enumerate(_HEADER)]
    lines = [_HEADER, tuple("-" * width for width in widths), *rows]
    return "\n".join(f"{a:<{widths[0]}}  {b:>{widths[1]}}  {c:>{widths[2]}}" for a, b, c in lines)
