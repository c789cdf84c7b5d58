"""torch's classes of TorchScript's graphs, which libraries name in annotations: there are none here."""

from __future__ import annotations

__all__ = ["ScriptMethod", "ScriptObject", "TensorType", "Value"]


class _Unmade:
    """What nothing is an instance of; TypeError for an attempt to make one."""

    def __init__(self) -> None:
        raise TypeError(f"torch._C.{type(self).__name__}: No constructor defined!")


class Value(_Unmade):
    """A result in a graph."""


class ScriptMethod(_Unmade):
    """A compiled method of a scripted module."""


class ScriptObject(_Unmade):
    """An object of a class that is written in C++ or scripted."""


class TensorType(_Unmade):
    """What a graph knows of a tensor: its dtype, device and sizes."""
