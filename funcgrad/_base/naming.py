"""How messages name the type of what was given: with its module, as torch writes it."""

from __future__ import annotations

from typing import Any


def typename(given: Any) -> str:
    """Return the name of a class or function, or of an object's class, with its module unless that is Python's own."""
    named = given if hasattr(given, "__qualname__") else type(given)
    module = getattr(named, "__module__", "") or ""
    return named.__qualname__ if module in ("builtins", "") else f"{module}.{named.__qualname__}"
