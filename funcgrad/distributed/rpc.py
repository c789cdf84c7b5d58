"""torch.distributed.rpc, for code that asks whether it is there: funcgrad calls no functions in other processes."""

from __future__ import annotations

from typing import Any

__all__ = ["is_available"]


def is_available() -> bool:
    """Tell whether functions can be called in other processes: never, as in a PyTorch that was built without it."""
    return False


def __getattr__(name: str) -> Any:
    raise AttributeError(
        f"module 'torch.distributed.rpc' has no attribute {name!r}: funcgrad drives every device from one "
        "process, and calls no functions in others"
    )
