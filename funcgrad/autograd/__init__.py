"""torch.autograd: backward and grad over several tensors, Function, hooks on what is saved, functional derivatives."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
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
from funcgrad._tensor import functions as fg
from funcgrad._tensor.differentiate import gradients_of, run_backward
from funcgrad._tensor.tensor import Tensor
from funcgrad.autograd import anomaly, function, profiler
from funcgrad.autograd.anomaly import detect_anomaly, set_detect_anomaly
from funcgrad.autograd.function import Function
from funcgrad.autograd.numeric import gradcheck, gradgradcheck

__all__ = [
    "Function", "Node", "Variable", "anomaly", "backward", "detect_anomaly", "enable_grad", "function",
    "grad", "gradcheck", "gradgradcheck", "inference_mode", "is_grad_enabled", "no_grad", "profiler",
    "set_detect_anomaly", "set_grad_enabled", "set_strict",
]  # fmt: skip


def backward(
    tensors: Tensor | Sequence[Tensor], grad_tensors: Any = None, retain_graph: bool | None = None,
    create_graph: bool = False, grad_variables: Any = None, inputs: Any = None,
) -> None:  # fmt: skip
    """Add the gradient of the tensors' sum to the `.grad` of every leaf (or only of `inputs`)."""
    roots = _listed(tensors)
    given = grad_tensors if grad_tensors is not None else grad_variables
    run_backward(roots, _gradients(roots, given), retain_graph, create_graph, inputs)


def grad(
    outputs: Tensor | Sequence[Tensor], inputs: Tensor | Sequence[Tensor], grad_outputs: Any = None,
    retain_graph: bool | None = None, create_graph: bool = False, only_inputs: bool = True,
    allow_unused: bool | None = None, is_grads_batched: bool = False, materialize_grads: bool = False,
) -> tuple[Any, ...]:  # fmt: skip
    """Return the gradients of the outputs' sum with respect to each input, without touching any `.grad`.

    is_grads_batched: grad_outputs have a leading dimension, and so have the results: one backward for each entry.
    RuntimeError for an input that no output depends on, unless allow_unused (None) or materialize_grads (zeros).
    """
    if not only_inputs:
        message = "only_inputs argument is deprecated and is ignored now (defaults to True)."
        warnings.warn(message, FutureWarning, stacklevel=2)
    roots, targets = _listed(outputs), _listed(inputs)
    unused = bool(allow_unused) or materialize_grads
    gradients = _gradients(roots, grad_outputs)
    if not is_grads_batched:
        return gradients_of(
            roots, targets, gradients, retain_graph=retain_graph, create_graph=create_graph, allow_unused=unused,
            materialize=materialize_grads,
        )  # fmt: skip
    return _batched(roots, targets, gradients, retain_graph, create_graph, unused, materialize_grads)


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


def _batched(
    roots: Any, targets: Any, gradients: Any, retain: Any, create: bool, unused: bool, materialize: bool
) -> Any:
    count = next(g.shape[0] for g in gradients if g is not None)
    rows = [
        gradients_of(
            roots, targets, [None if g is None else g[i] for g in gradients], create_graph=create, allow_unused=unused,
            retain_graph=True if i + 1 < count else retain, materialize=materialize,
        )
        for i in range(count)
    ]  # fmt: skip
    return tuple(None if column[0] is None else _stacked(column) for column in zip(*rows, strict=True))


def _stacked(tensors: Sequence[Tensor]) -> Tensor:
    return fg.stack(list(tensors))


def _listed(tensors: Any) -> list[Tensor]:
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def _gradients(roots: Sequence[Tensor], given: Any) -> list[Any]:
    listed = [None] * len(roots) if given is None else [given] if isinstance(given, Tensor) else list(given)
    if len(listed) != len(roots):
        raise RuntimeError(f"got {len(roots)} tensors and {len(listed)} gradients")
    return listed
