"""torch.autograd: backward and grad over several tensors, Function, hooks on what is saved, functional derivatives."""

from __future__ import annotations

from funcgrad._base.config import settings
from funcgrad._tape.modes import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)
from funcgrad._tape.nodes import Node
from funcgrad.autograd import anomaly, forward_ad, function, functional, grad_mode, graph, profiler, variable
from funcgrad.autograd.anomaly import detect_anomaly, set_detect_anomaly
from funcgrad.autograd.backwards import backward, grad
from funcgrad.autograd.function import Function
from funcgrad.autograd.grad_mode import enforce_grad_layout_policy, set_multithreading_enabled
from funcgrad.autograd.numeric import GradcheckError, gradcheck, gradgradcheck
from funcgrad.autograd.profiler import _disable_profiler as _disable_profiler
from funcgrad.autograd.profiler import _profiler_enabled as _profiler_enabled
from funcgrad.autograd.variable import Variable

__all__ = [
    "Function", "GradcheckError", "Node", "Variable", "anomaly", "backward", "detect_anomaly", "enable_grad",
    "enforce_grad_layout_policy", "forward_ad", "function", "functional", "grad", "grad_mode", "gradcheck",
    "gradgradcheck", "graph", "inference_mode", "is_grad_enabled", "no_grad", "profiler", "set_detect_anomaly",
    "set_grad_enabled", "set_multithreading_enabled", "set_strict", "variable",
]  # fmt: skip


def set_strict(mode: bool) -> None:
    """Raise torch's error when a tensor that backward needs was modified in place; otherwise it goes on, and right."""
    settings.strict = bool(mode)
