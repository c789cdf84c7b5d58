"""torch.utils.hooks: what registering a hook returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from funcgrad._tape.nodes import RemovableHandle

__all__ = ["RemovableHandle", "unserializable_hook"]


def unserializable_hook(f: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a function as a hook that is not saved with its tensor, so that nobody is warned of it; returns it."""
    f.__torch_unserializable__ = True  # type: ignore[attr-defined]  # functions take any attribute
    return f
