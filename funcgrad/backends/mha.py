"""torch.backends.mha: whether attention in evaluation may take a shorter way; kept, results are the same."""

from __future__ import annotations

_is_fast = True


def get_fastpath_enabled() -> bool:
    """Return what was set."""
    return _is_fast


def set_fastpath_enabled(value: bool) -> None:
    """Keep it."""
    globals()["_is_fast"] = value
