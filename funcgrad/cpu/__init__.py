"""torch.cpu: what torch.cuda has, for the CPU: one device, always ready."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from funcgrad.cpu import amp
from funcgrad.cuda import Event, Stream

__all__ = [
    "Event", "Stream", "StreamContext", "amp", "current_device", "current_stream", "device_count", "get_capabilities",
    "is_available", "is_initialized", "set_device", "stream", "synchronize",
]  # fmt: skip

StreamContext = nullcontext


def is_available() -> bool:
    """Tell whether there is a CPU."""
    return True


is_initialized = is_available


def device_count() -> int:
    """Return 1: all cores are one device."""
    return 1


def current_device() -> str:
    """Return the name of the device."""
    return "cpu"


def set_device(device: Any) -> None:
    """Do nothing: there is one CPU."""


def synchronize(device: Any = None) -> None:
    """Do nothing, as torch: reading a value waits for it."""


def current_stream(device: Any = None) -> Stream:
    """Return a stream, which orders nothing."""
    return Stream()


def stream(stream: Any) -> Any:
    """Return a block inside which nothing differs."""
    return nullcontext()


def get_capabilities() -> dict[str, Any]:
    """Return what is known of the CPU: nothing beyond the kind of machine."""
    return {}
