"""Limits on gradients: by their joint norm, or element by element. Two recorded calls for any number of parameters."""

from __future__ import annotations

import warnings
from collections.abc import Generator, Iterable
from typing import Any

from funcgrad._base.warning import warn
from funcgrad._ops import clipping
from funcgrad._ops.table import TABLE
from funcgrad._tensor import functions as fg
from funcgrad._tensor.functions import lookup
from funcgrad._tensor.names import rebind, record
from funcgrad._tensor.sparse.tensor import SparseTensor, refuse
from funcgrad._tensor.tensor import Tensor

_TOTAL, _SCALED, _CLAMPED = (
    TABLE[row.__name__] for row in (clipping.total_norm, clipping.scaled_to_norm, clipping.all_clamped)
)


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale all gradients so that their joint norm is at most `max_norm`; return the norm before. Nothing waits for it.

    Parameters without a gradient are skipped. `error_if_nonfinite` waits, and raises RuntimeError for a norm of
    infinity or NaN.
    Source: Pascanu et al. 2013, https://arxiv.org/abs/1211.5063, algorithm 1.
    """
    if isinstance(parameters, Generator):
        parameters = list(parameters)
        if not parameters:
            warn("`parameters` is an empty generator, no gradient clipping will occur.")
    gradients = _gradients(parameters)
    total = get_total_norm(gradients, norm_type, error_if_nonfinite, foreach)
    _scale(gradients, max_norm, total)
    return total


def get_total_norm(
    tensors: Tensor | Iterable[Tensor],
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Return the norm of all elements of all tensors as one vector. Shape: result ()."""
    listed = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    if not listed:
        return fg.tensor(0.0)
    (variable,) = record(_TOTAL, listed, (float(norm_type),))
    total = Tensor._of(variable)
    if error_if_nonfinite and not bool(total.isfinite()):
        raise RuntimeError(
            f"The total norm of order {float(norm_type)} for gradients from `parameters` is non-finite, so it cannot "
            "be clipped. To disable this error and scale the gradients by the non-finite norm anyway, "
            "set `error_if_nonfinite=False`"
        )
    return total


def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scale all gradients by max_norm / total_norm where that is less than 1."""
    _scale(_gradients(parameters), max_norm, total_norm)


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None) -> None:
    """Move all elements of all gradients into [-clip_value, clip_value]."""
    gradients = _gradients(parameters)
    if gradients:
        rebind(gradients, record(_CLAMPED, [float(clip_value), *gradients]))


def clip_grad_norm(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Do what `clip_grad_norm_` does, under torch's old name."""
    warnings.warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def _gradients(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    listed = (parameters,) if isinstance(parameters, Tensor) else parameters
    gradients = (parameter.grad for parameter in listed)
    given = [gradient for gradient in gradients if gradient is not None]
    if SparseTensor in map(type, given):
        refuse(lookup("linalg")("vector_norm"), given)
    return given


def _scale(gradients: list[Tensor], max_norm: Any, total: Tensor) -> None:
    if gradients:
        limit = max_norm.item() if isinstance(max_norm, Tensor) else float(max_norm)
        rebind(gradients, record(_SCALED, [total, limit, *gradients]))
