"""torch.cpu: what torch.cuda has, for the CPU: one device, always ready."""

from __future__ import annotations

import functools
import platform
import re
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from types import MappingProxyType
from typing import Any

from funcgrad.cpu import amp
from funcgrad.cuda import Event, Stream

__all__ = [
    "Event", "Stream", "StreamContext", "amp", "current_device", "current_stream", "device_count", "get_capabilities",
    "is_available", "is_initialized", "set_device", "stream", "synchronize",
]  # fmt: skip

StreamContext = nullcontext
_LIST_OF_FEATURES = Path("/proc/cpuinfo")


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


@functools.cache
def get_capabilities() -> Mapping[str, Any]:
    """Return the CPU's "architecture" and, where Linux lists them, which of its features it has."""
    features: dict[str, Any] = {"architecture": platform.machine()}
    if _LIST_OF_FEATURES.exists():
        listed = re.search(r"^(?:flags|Features)\s*:(.*)$", _LIST_OF_FEATURES.read_text(), re.MULTILINE)
        words = listed[1].split() if listed else []
        features |= dict.fromkeys((re.sub("^avx512(?=[a-z])", "avx512_", word) for word in words), True)
    return MappingProxyType(features)
