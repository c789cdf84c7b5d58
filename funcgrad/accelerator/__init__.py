"""torch.accelerator: the device that JAX computes on, where that is not the CPU."""

from __future__ import annotations

from typing import Any

import jax

from funcgrad._base.devices import device as Device
from funcgrad._tensor.placement import current_gpu, device_of, set_current_gpu
from funcgrad.cuda import current_stream as current_stream
from funcgrad.cuda import device as device_index
from funcgrad.cuda import set_stream as set_stream
from funcgrad.cuda import synchronize as synchronize
from funcgrad.cuda.memory import (
    empty_cache,
    max_memory_allocated,
    max_memory_reserved,
    memory_allocated,
    memory_reserved,
    memory_stats,
    reset_peak_memory_stats,
)

__all__ = [
    "current_accelerator", "current_device_idx", "current_device_index", "current_stream", "device_count",
    "device_index", "empty_cache", "is_available", "max_memory_allocated", "max_memory_reserved", "memory_allocated",
    "memory_reserved", "memory_stats", "reset_peak_memory_stats", "set_device_idx", "set_device_index",
    "set_stream", "synchronize",
]  # fmt: skip


def is_available() -> bool:
    """Tell whether JAX computes on something else than the CPU."""
    return device_of(None).type != "cpu"


def current_accelerator(check_available: bool = False) -> Device | None:
    """Return the kind of device that JAX computes on, None for the CPU."""
    return Device(device_of(None).type) if is_available() else None


def device_count() -> int:
    """Return how many such devices there are."""
    return len(jax.devices()) if is_available() else 0


def current_device_index() -> int:
    """Return the number of the present device."""
    return current_gpu()


def set_device_index(device: Any) -> None:
    """Let the device without a number mean this one."""
    set_current_gpu(device if isinstance(device, int) else Device(device).index or 0)


current_device_idx, set_device_idx = current_device_index, set_device_index
