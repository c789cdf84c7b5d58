"""torch._utils: which kind of accelerator there is, and the room of torch's that speaks of a kind of device."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from funcgrad import accelerator, cpu, cuda, mps, mtia, xpu
from funcgrad._base.devices import device as Device

_ROOMS: dict[str, ModuleType] = {"cpu": cpu, "cuda": cuda, "mps": mps, "mtia": mtia, "xpu": xpu}


def _get_available_device_type() -> str | None:
    """Return "cuda" where there is an accelerator by this name; None otherwise."""
    return "cuda" if cuda.is_available() else None


def _get_device_module(device_type: str) -> ModuleType:
    """Return `torch.cuda` for "cuda", and so on. RuntimeError: there is no such kind."""
    if device_type not in _ROOMS:
        raise RuntimeError(
            f"Device '{device_type}' does not have a corresponding module registered as 'torch.{device_type}'."
        )
    return _ROOMS[device_type]


def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int:
    """Return the number of a device, which may be its name or that number; -1 for the CPU, where that is allowed.

    optional: of a device without a number, or None, it is that of the current one; else ValueError.
    """
    named = Device(device) if isinstance(device, str) else device
    index = named if isinstance(named, int) else None
    if isinstance(named, Device):
        if named.type == "cpu" and not allow_cpu:
            raise ValueError(f"Expected a non cpu device, but got: {named}")
        index = -1 if named.type == "cpu" else named.index
    if index is None and not optional:
        raise ValueError(f"Expected a torch.device with a specified index or an integer, but got:{named}")
    return accelerator.current_device_index() if index is None else index
