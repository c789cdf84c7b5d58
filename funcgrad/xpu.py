"""torch.xpu: Intel's GPU, which JAX does not show as one here; asked, it says that there is none."""

from __future__ import annotations

from typing import Any

from funcgrad.mps import device_count, empty_cache, is_available, manual_seed, seed

manual_seed_all, seed_all = manual_seed, seed

__all__ = [
    "current_device", "device_count", "empty_cache", "is_available", "manual_seed", "manual_seed_all",
    "max_memory_allocated", "memory_allocated", "seed", "seed_all", "set_device", "synchronize",
]  # fmt: skip


def _none(device: Any = None) -> int:
    """Return 0."""
    return 0


current_device = memory_allocated = max_memory_allocated = _none


def set_device(device: Any) -> None:
    """Raise RuntimeError: there is none."""
    raise RuntimeError("JAX finds no XPU on this machine")


def synchronize(device: Any = None) -> None:
    """Raise RuntimeError: there is none."""
    set_device(device)
