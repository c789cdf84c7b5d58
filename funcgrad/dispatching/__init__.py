"""Dispatching: modes that see each call as the functions of aten that PyTorch makes of it, `__torch_dispatch__`."""

from __future__ import annotations

from funcgrad.dispatching.modes import BaseTorchDispatchMode, TorchDispatchMode

__all__ = ["BaseTorchDispatchMode", "TorchDispatchMode"]
