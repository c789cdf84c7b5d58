"""What a GPU is and how much of its memory is in use, as far as XLA tells."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from funcgrad._base.devices import device as Device
from funcgrad._tensor.placement import available, current_gpu


def need() -> None:
    """Raise AssertionError, as torch's CPU build does, where there is no GPU."""
    if not available("cuda"):
        raise AssertionError("Torch not compiled with CUDA enabled: JAX finds no GPU on this machine")


def jax_device(device: Any) -> Any:
    """Return JAX's object for a GPU (None: the present one)."""
    need()
    wanted = Device("cuda" if device is None else device)
    number = current_gpu() if wanted.index is None else wanted.index
    found = available("cuda")
    if number >= len(found):
        raise AssertionError("Invalid device id")
    return found[number]


def get_device_properties(device: Any = None) -> Any:
    """Return name, total_memory, major, minor and multi_processor_count of a GPU."""
    found = jax_device(device)
    major, _, minor = str(getattr(found, "compute_capability", "0.0")).partition(".")
    return SimpleNamespace(
        name=found.device_kind,
        total_memory=_statistics(device).get("bytes_limit", 0),
        major=int(major),
        minor=int(minor or 0),
        multi_processor_count=getattr(found, "core_count", 0),
    )


def _statistics(device: Any) -> dict[str, int]:
    return (jax_device(device).memory_stats() if available("cuda") else None) or {}


def memory_allocated(device: Any = None) -> int:
    """Return the bytes in use on a GPU; 0 without one."""
    return _statistics(device).get("bytes_in_use", 0)


def max_memory_allocated(device: Any = None) -> int:
    """Return the most bytes that were in use on a GPU; 0 without one."""
    return _statistics(device).get("peak_bytes_in_use", 0)


def memory_reserved(device: Any = None) -> int:
    """Return the bytes that XLA's pool holds; 0 without a GPU."""
    return _statistics(device).get("pool_bytes", 0)


max_memory_reserved = memory_cached = max_memory_cached = memory_reserved


def memory_stats(device: Any = None) -> dict[str, int]:
    """Return what XLA counts of its pool, by XLA's own names; nothing without a GPU."""
    return dict(_statistics(device))


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """Return what XLA counts of its pool as text, a line each."""
    return "\n".join(f"{name}: {count:,}" for name, count in sorted(memory_stats(device).items()))


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """Return how many bytes XLA's pool may still use, and how many it may use in all."""
    need()
    found = _statistics(device)
    limit = found.get("bytes_limit", 0)
    return limit - found.get("bytes_in_use", 0), limit


def reset_peak_memory_stats(device: Any = None) -> None:
    """Accepted: XLA has no such switch."""


reset_max_memory_allocated = reset_max_memory_cached = reset_peak_memory_stats


def set_per_process_memory_fraction(fraction: float, device: Any = None) -> None:
    """Accepted: XLA's share is set before it starts, by XLA_PYTHON_CLIENT_MEM_FRACTION."""


def empty_cache() -> None:
    """Accepted: XLA's allocator keeps its pool."""


def ipc_collect() -> None:
    """Accepted: XLA shares no memory between processes."""
