"""torch.autograd: backward and grad over several tensors, Function, hooks on what is saved, functional derivatives."""

from __future__ import annotations

from typing import Any

from funcgrad._base.config import settings
from funcgrad._tape.modes import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)
from funcgrad._tape.nodes import Node
from funcgrad._tensor.tensor import Tensor
from funcgrad.autograd import anomaly, forward_ad, function, functional, profiler
from funcgrad.autograd.anomaly import detect_anomaly, set_detect_anomaly
from funcgrad.autograd.backwards import backward, grad
from funcgrad.autograd.function import Function
from funcgrad.autograd.numeric import gradcheck, gradgradcheck

__all__ = [
    "Function", "Node", "Variable", "anomaly", "backward", "detect_anomaly", "enable_grad", "forward_ad",
    "function", "functional", "grad", "gradcheck", "gradgradcheck", "inference_mode", "is_grad_enabled",
    "no_grad", "profiler",
    "set_detect_anomaly", "set_grad_enabled", "set_strict",
]  # fmt: skip


def set_strict(mode: bool) -> None:
    """Raise torch's error when a tensor that backward needs was modified in place; otherwise it goes on, and right."""
    settings.strict = bool(mode)


class _VariableType(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=_VariableType):
    """Old spelling: returns the tensor itself, as a leaf with requires_grad as given."""

    def __new__(cls, data: Any, requires_grad: bool = False, volatile: bool = False) -> Any:
        tensor = data.detach() if requires_grad and not data.requires_grad else data
        return tensor.requires_grad_() if requires_grad and not data.requires_grad else tensor
