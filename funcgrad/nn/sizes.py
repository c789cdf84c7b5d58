"""Sizes of windows, given as one number or one for each dimension."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from typing import Any


def ntuple(count: int, name: str = "parse") -> Callable[[Any], tuple[Any, ...]]:
    """Return the function that repeats a number `count` times, and makes a tuple of what is iterable already."""

    def spread(value: Any) -> tuple[Any, ...]:
        return tuple(value) if isinstance(value, Iterable) else tuple(repeat(value, count))

    spread.__name__ = name
    return spread


def _reverse_repeat_tuple(sizes: tuple[Any, ...], count: int) -> tuple[Any, ...]:
    """Return the sizes in reverse order, each `count` times: what `pad` takes for one padding a dimension."""
    return tuple(size for size in reversed(sizes) for _ in range(count))


def _list_with_default(out_size: Any, defaults: Sequence[int]) -> Any:
    """Return the sizes, where one is None that of the same place from the end of `defaults`; a number as it is."""
    if isinstance(out_size, int):
        return out_size
    if len(defaults) <= len(out_size):
        raise ValueError(f"Input dimension should be at least {len(out_size) + 1}")
    return [d if size is None else size for size, d in zip(out_size, defaults[-len(out_size) :], strict=True)]


_single = ntuple(1, "_single")
_pair = ntuple(2, "_pair")
_triple = ntuple(3, "_triple")
_quadruple = ntuple(4, "_quadruple")
_ntuple = ntuple
