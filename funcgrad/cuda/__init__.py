"""torch.cuda as scripts ask for it: real answers where JAX sees a GPU, harmless ones where it does not."""

from __future__ import annotations

import time
from typing import Any

import jax

from funcgrad._base.devices import device as Device  # noqa: N812 - a type
from funcgrad._program.run import flush
from funcgrad._tensor import legacy
from funcgrad._tensor.placement import available
from funcgrad.random.generator import manual_seed as _manual_seed

globals().update(legacy.CUDA_TYPES)
OutOfMemoryError = MemoryError


def is_available() -> bool:
    """Tell whether JAX sees a GPU."""
    return bool(available("cuda"))


def device_count() -> int:
    """Return how many GPUs JAX sees."""
    return len(available("cuda"))


def current_device() -> int:
    """Return the number of the present GPU; RuntimeError without one."""
    _need()
    return 0


def set_device(device: Any) -> None:
    """Accepted for the first GPU: a tensor goes where its `device` argument says."""
    _need()


def get_device_name(device: Any = None) -> str:
    """Return the name of a GPU."""
    return _device(device).device_kind


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """Return a GPU's compute capability."""
    major, _, minor = str(getattr(_device(device), "compute_capability", "0.0")).partition(".")
    return int(major), int(minor or 0)


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Tell whether the GPU computes in bfloat16."""
    return is_available()


def synchronize(device: Any = None) -> None:
    """Run what is recorded and wait until the devices are idle."""
    flush()
    for found in jax.live_arrays():
        found.block_until_ready()


def manual_seed(seed: int) -> None:
    """Seed the generators."""
    _manual_seed(seed)


manual_seed_all = manual_seed


def empty_cache() -> None:
    """Accepted: XLA's allocator keeps its pool."""


def _statistic(name: str, device: Any) -> int:
    statistics = _device(device).memory_stats() if is_available() else None
    return (statistics or {}).get(name, 0)


def memory_allocated(device: Any = None) -> int:
    """Return the bytes in use on a GPU; 0 without one."""
    return _statistic("bytes_in_use", device)


def max_memory_allocated(device: Any = None) -> int:
    """Return the most bytes that were in use on a GPU; 0 without one."""
    return _statistic("peak_bytes_in_use", device)


def memory_reserved(device: Any = None) -> int:
    """Return the bytes that XLA's pool holds; 0 without a GPU."""
    return _statistic("pool_bytes", device)


max_memory_reserved = memory_reserved


def reset_peak_memory_stats(device: Any = None) -> None:
    """Accepted: XLA has no such switch."""


class Event:
    """A moment on the host's clock, after the device has finished what was recorded."""

    def __init__(self, enable_timing: bool = False, **_: Any) -> None:
        self._time = 0.0

    def record(self, stream: Any = None) -> None:
        """Remember the present moment."""
        synchronize()
        self._time = time.perf_counter()

    def synchronize(self) -> None:
        """Wait until the moment has passed; it has."""

    def elapsed_time(self, end: Event) -> float:
        """Return the milliseconds from this moment to another."""
        return (end._time - self._time) * 1e3


def _need() -> None:
    if not is_available():
        raise RuntimeError("Found no NVIDIA driver on your system: JAX sees no GPU. Use device='cpu'.")


def _device(device: Any) -> Any:
    _need()
    wanted = Device("cuda" if device is None else device)
    return available("cuda")[wanted.index or 0]
