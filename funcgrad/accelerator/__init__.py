"""torch.accelerator: the device that JAX computes on, where that is not the CPU."""

from __future__ import annotations

from typing import Any

import jax

from funcgrad._base.devices import device
from funcgrad._tensor.placement import device_of
from funcgrad.cuda import synchronize as synchronize


def is_available() -> bool:
    """Tell whether JAX computes on something else than the CPU."""
    return device_of(None).type != "cpu"


def current_accelerator(check_available: bool = False) -> device | None:
    """Return the kind of device that JAX computes on, None for the CPU."""
    return device(device_of(None).type) if is_available() else None


def device_count() -> int:
    """Return how many such devices there are."""
    return len(jax.devices()) if is_available() else 0


def current_device_index() -> int:
    """Return the number of the present device."""
    return 0


def set_device_index(device: Any) -> None:
    """Accepted: a tensor goes where its `device` argument says."""


current_device_idx, set_device_idx = current_device_index, set_device_index
