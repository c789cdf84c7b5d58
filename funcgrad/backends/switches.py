"""Switches of backends: kept and answered, and given back at the end of a block."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

PRECISIONS = ("none", "ieee", "tf32", "bf16")


class Switches:
    """Values by name. No other name can be set, and no precision that PyTorch does not know."""

    fp32_precision: str

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self.__dict__:
            raise AttributeError(f"Unknown attribute {name}")
        if name == "fp32_precision" and value not in PRECISIONS:
            raise RuntimeError(f"Unknown precision: {value}")
        self.__dict__[name] = value


@contextmanager
def switched(module: str, **values: Any) -> Iterator[None]:
    """Set switches of a module, given by its name, for the length of a `with` block."""
    switches = sys.modules[module]
    before = {name: getattr(switches, name) for name in values}
    _set(switches, values)
    try:
        yield
    finally:
        _set(switches, before)


def _set(switches: ModuleType, values: dict[str, Any]) -> None:
    for name, value in values.items():
        setattr(switches, name, value)


class Verbose:
    """A block in which kernels would tell of themselves: accepted."""

    def __init__(self, level: int) -> None:
        self.level = level

    def __enter__(self) -> Verbose:
        return self

    def __exit__(self, *_: object) -> None:
        return None
