"""Dim: the name of a size that may differ from call to call, which `export` refuses: sizes are constants here."""

from __future__ import annotations

from enum import Enum, auto
from typing import Any


class _Hint(Enum):
    AUTO = auto()
    DYNAMIC = auto()
    STATIC = auto()

    def __repr__(self) -> str:
        return f"DimHint({self.name})"

    __str__ = __repr__


class Dim:
    """A size by name. min, max: its range; ValueError: there is none."""

    AUTO, DYNAMIC, STATIC = _Hint.AUTO, _Hint.DYNAMIC, _Hint.STATIC

    def __init__(self, name: str, *, min: int | None = None, max: int | None = None) -> None:
        if not name.isidentifier():
            raise AssertionError(f"Dim name must be a valid identifier, got {name}")
        self.__name__ = name
        self.min, self.max = 0 if min is None else min, max
        if max is not None and max <= self.min:
            raise AssertionError(f"Cannot create Dim with inconsistent min={self.min}, max={max}")

    def __repr__(self) -> str:
        ends = [f"min={self.min}"] if self.min != 2 else []
        return f"Dim({', '.join([repr(self.__name__), *ends, *([] if self.max is None else [f'max={self.max}'])])})"


def dims(*names: str, min: int | None = None, max: int | None = None) -> tuple[Dim, ...]:
    """Return a Dim for each name, all with the same range."""
    return tuple(Dim(name, min=min, max=max) for name in names)


def is_dynamic(shapes: Any) -> bool:
    """Tell whether some size of `dynamic_shapes` may differ from call to call."""
    if isinstance(shapes, dict):
        return any(map(is_dynamic, shapes.values()))
    if isinstance(shapes, (list, tuple)):
        return any(map(is_dynamic, shapes))
    return isinstance(shapes, Dim) or shapes in (Dim.AUTO, Dim.DYNAMIC)
