"""torch.mps: Apple's GPU, which JAX does not show as one here; asked, it says that there is none."""

from __future__ import annotations

from funcgrad._tensor.names import synchronize as synchronize
from funcgrad.random.generator import get_rng_state as get_rng_state
from funcgrad.random.generator import set_rng_state as set_rng_state

__all__ = [
    "current_allocated_memory", "device_count", "driver_allocated_memory", "empty_cache", "get_rng_state",
    "is_available", "manual_seed", "recommended_max_memory", "seed", "set_per_process_memory_fraction",
    "set_rng_state", "synchronize",
]  # fmt: skip


def is_available() -> bool:
    """Tell that there is none."""
    return False


def device_count() -> int:
    """Return 0."""
    return 0


def manual_seed(seed: int) -> None:
    """Accepted: no GPU has a generator, and the CPU's goes on."""


def seed() -> None:
    """Accepted: no GPU has a generator, and the CPU's goes on."""


def empty_cache() -> None:
    """Accepted."""


def set_per_process_memory_fraction(fraction: float) -> None:
    """Accepted."""


current_allocated_memory = driver_allocated_memory = recommended_max_memory = device_count
