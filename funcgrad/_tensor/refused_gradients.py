"""Arguments that no gradient goes to in torch: some it refuses to differentiate by, of some it compares the numbers."""

from __future__ import annotations

from typing import Any

from funcgrad._tape.modes import thread
from funcgrad._tape.underivable import refused
from funcgrad._tensor.tensor import Tensor

_OF_COMPLETE_QR = "The QR decomposition is not differentiable when mode='complete' and nrows > ncols."
_OF_QR_WITHOUT_Q = (
    "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use linalg.qr(A, "
    "mode='reduced') if you are going to differentiate through linalg.qr."
)


def check_constant(argument: Any, name: str, function: str) -> None:
    """Raise RuntimeError where this argument of one of torch's kernels wants a gradient, and graphs are recorded."""
    if isinstance(argument, Tensor) and thread.grad and argument.requires_grad:
        raise RuntimeError(
            f"The function '{function}' is not differentiable with respect to argument '{name}'. This input cannot "
            "have requires_grad True."
        )


def check_class_weights(input: Any, target: Any, weight: Any) -> None:
    """Raise RuntimeError where weights of classes want a gradient: of probabilities as targets they may."""
    if isinstance(weight, Tensor) and isinstance(target, Tensor) and not target.is_floating_point():
        of_images = isinstance(input, Tensor) and input.ndim > 3
        check_constant(weight, "weight", "nll_loss2d_forward" if of_images else "nll_loss_forward")


def without_history(argument: Any) -> Any:
    """Return a tensor as a constant, and anything else as it is."""
    return argument.detach() if isinstance(argument, Tensor) and argument.requires_grad else argument


def with_derivable_qr(input: Any, mode: str, result: Any) -> Any:
    """Return Q and R; a backward pass through them raises RuntimeError where there is no derivative."""
    is_tall = mode == "complete" and input.shape[-2] > input.shape[-1]
    if not (is_tall or mode == "r") or not isinstance(input, Tensor) or not result[1].requires_grad:
        return result
    words, variable = _OF_COMPLETE_QR if is_tall else _OF_QR_WITHOUT_Q, input._current()
    return type(result)(*[Tensor._of(refused(words, variable, part._variable)) for part in result])
