"""torch.optim._muon and ._adafactor: steps on lists of the caller's tensors that treat matrices as such.

As in `on_lists`, all are written to in place, and what chooses among torch's kernels changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from funcgrad._base import dtypes
from funcgrad._base.info import finfo
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.optim.adafactor import Adafactor
from funcgrad.optim.muon import Muon

__all__ = ["Adafactor", "Muon", "adafactor", "muon"]


def muon(
    params: Sequence[Tensor], grads: Sequence[Tensor], muon_momentum_bufs: Sequence[Tensor], *,
    foreach: bool | None = None, lr: float | Tensor, weight_decay: float, momentum: float, nesterov: bool,
    ns_coefficients: tuple[float, float, float], ns_steps: int, eps: float, adjust_lr_fn: str | None,
    has_complex: bool,
) -> None:  # fmt: skip
    """Take a step of Muon. RuntimeError for `foreach`; ValueError for complex numbers, and for what is no matrix."""
    if foreach:
        raise RuntimeError("Foreach is not supported for Muon yet")
    if has_complex:
        raise ValueError("Complex parameters are not supported")
    for param, grad, buffer in zip(params, grads, muon_momentum_bufs, strict=True):
        if grad.ndim != 2:
            raise ValueError("Param gradient must be a 2D matrix")
        buffer.lerp_(grad, 1 - momentum)
        update = grad.lerp(buffer, momentum) if nesterov else buffer
        update = _zeropower_via_newtonschulz(update, ns_coefficients, ns_steps, eps)
        param.mul_(1 - lr * weight_decay)
        param.sub_(update.to(param.dtype) * (lr * _adjust_lr(1.0, adjust_lr_fn, param.shape)))


def _zeropower_via_newtonschulz(
    grad: Tensor, ns_coefficients: tuple[float, float, float], ns_steps: int, eps: float
) -> Tensor:
    """Return roughly U V^T of a matrix's U S V^T, in bfloat16, by so many steps of Newton and Schulz."""
    if ns_steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if grad.ndim != 2:
        raise ValueError("Input tensor gradient must be a 2D matrix")
    if len(ns_coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = ns_coefficients
    is_tall = grad.shape[0] > grad.shape[1]
    x = grad.to(dtypes.bfloat16)
    x = x.mT if is_tall else x
    x = x / x.norm().clamp(min=eps)
    for _ in range(ns_steps):
        gram = x @ x.mT
        x = fg.addmm(x, fg.addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.mT if is_tall else x


def _adjust_lr(lr: float, adjust_lr_fn: str | None, param_shape: Sequence[int]) -> float:
    """Return the rate for a matrix of this shape."""
    rows, columns = param_shape[:2]
    if adjust_lr_fn is None or adjust_lr_fn == "original":
        return lr * math.sqrt(max(1, rows / columns))
    return lr * 0.2 * math.sqrt(max(rows, columns)) if adjust_lr_fn == "match_rms_adamw" else lr


def adafactor(
    params: Sequence[Tensor], grads: Sequence[Tensor], row_vars: Sequence[Tensor | None],
    col_vars: Sequence[Tensor | None], variances: Sequence[Tensor | None], state_steps: Sequence[Tensor],
    foreach: bool | None = None, grad_scale: Tensor | None = None, found_inf: Tensor | None = None,
    has_complex: bool = False, *, d: float, lr: float | Tensor, beta2_decay: float, weight_decay: float,
    eps1: float | None, eps2: float, maximize: bool,
) -> None:  # fmt: skip
    """Take a step of Adafactor: row_vars and col_vars are those of matrices, variances those of vectors."""
    if not all(isinstance(step, Tensor) for step in state_steps):
        raise RuntimeError("`state_steps` argument must contain a list of singleton tensors")
    if grad_scale is not None or found_inf is not None:
        raise AssertionError("Grad scaling should occur outside of optimizer.step()")
    for i, param in enumerate(params):
        grad = -grads[i] if maximize else grads[i]
        count = state_steps[i].add_(1).double()
        smallest = finfo(param.dtype).eps if eps1 is None else eps1
        size = (param.norm(2).double() / math.sqrt(param.numel())).clamp(min=eps2) * (1 / count.sqrt()).clamp(max=lr)
        if weight_decay != 0:
            param.mul_(1 - lr * weight_decay)
        squares = _squares(grad, row_vars[i], col_vars[i], variances[i], count**beta2_decay, smallest)
        update = squares.clamp(min=smallest * smallest).rsqrt() * grad
        clipped = (update.norm(2).double() / (math.sqrt(update.numel()) * d)).clamp(min=1.0)
        param.sub_(update * (size / clipped).to(update.dtype))


def _squares(
    grad: Tensor, row: Tensor | None, column: Tensor | None, variance: Tensor | None, weight: Tensor, smallest: float
) -> Tensor:
    """Return the running mean of squared gradients, of a matrix put together from that of rows and of columns."""
    weight = weight.to(grad.dtype)
    if grad.ndim <= 1:
        if variance is None:
            raise AssertionError("variance should be defined when grad is a vector")
        return variance.lerp_(grad * grad, weight).clone()
    if row is None or column is None:
        raise AssertionError("row_var and col_var should be defined when grad is multidimensional")
    for mean, dim in ((row, -1), (column, -2)):
        mean.lerp_(grad.norm(dim=dim, keepdim=True).square() / grad.shape[dim], weight)
    return row @ column / row.mean(dim=-2, keepdim=True).clamp(min=smallest)
