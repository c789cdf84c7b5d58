"""How messages name the type of what was given: with its module, as torch writes it."""

from __future__ import annotations

from typing import Any


def typename(given: Any) -> str:
    """Return the name of a class, or of an object's class, with its module unless that is Python's own."""
    kind = given if isinstance(given, type) else type(given)
    name = kind.__qualname__ if kind is given else kind.__name__
    return name if kind.__module__ in ("builtins", "") else f"{kind.__module__}.{name}"
