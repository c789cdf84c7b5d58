"""torch.mtia: Meta's accelerator, which JAX does not drive; asked, it says that there is none."""

from __future__ import annotations

from typing import Any

__all__ = [
    "current_device", "device_count", "empty_cache", "init", "is_available", "is_initialized", "manual_seed",
    "manual_seed_all", "memory_allocated", "set_device", "synchronize",
]  # fmt: skip


def is_available() -> bool:
    """Tell that there is none."""
    return False


is_initialized = is_available


def device_count() -> int:
    """Return 0."""
    return 0


def init() -> None:
    """Raise AssertionError: there is none."""
    raise AssertionError("Torch not compiled with MTIA enabled.")


def manual_seed(seed: int) -> None:
    """Accepted: there is no generator to seed."""


manual_seed_all = manual_seed


def current_device() -> int:
    """Raise RuntimeError: there is none."""
    raise RuntimeError("Cannot execute getCurrentDevice() without MTIA backend.")


def synchronize(device: Any = None) -> None:
    """Raise RuntimeError: there is none."""
    current_device()


def set_device(device: Any) -> None:
    """Raise RuntimeError: there is none."""
    raise RuntimeError("Cannot execute setCurrentDevice() without MTIA backend.")


def empty_cache() -> None:
    """Raise RuntimeError: there is none."""
    raise RuntimeError("Cannot execute emptyCache() without MTIA backend.")


def memory_allocated(device: Any = None) -> int:
    """Return 0."""
    return 0
