"""torch._utils: which kind of accelerator there is, and the room of torch's that speaks of a kind of device."""

from __future__ import annotations

from types import ModuleType

from funcgrad import cpu, cuda, mps, mtia, xpu

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
