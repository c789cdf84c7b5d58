"""Rows: cross entropy and negative log likelihood, of class indices and of class probabilities."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._ops.arithmetic import is_half
from funcgrad._ops.backends import on_cpu
from funcgrad._ops.checks import (
    as_one_float,
    require_floating,
    require_real_floating,
    require_scalar_type,
    scalar_name,
    wide,
)
from funcgrad._ops.conditions import are_classes
from funcgrad._ops.loss_reduction import completed, reduction_of
from funcgrad._ops.softmax import kernel_of_axis, log_softmax_of
from funcgrad._ops.table import Array, Dims, op


def _cross_entropy_grad(shapes: tuple, statics: tuple) -> tuple:
    input, target, weight = shapes
    size_average, _, reduce, reduction, smoothing = completed(statics, None, -100, None, "mean", 0.0)
    kind = reduction_of(reduction, size_average, reduce)
    scores = ("LogSoftmaxBackward0", "input")
    if input == target:
        return _probability_nodes(kind, scores, weight is not None, smoothing)
    picked = _nll_nodes(len(input), kind, scores)
    if not smoothing:
        return picked
    spread = ("NegBackward0", ("SumBackward1", scores if weight is None else ("MulBackward0", scores)))
    spread = ("MaskedFillBackward0", spread)
    if kind != "none":
        spread = ("SumBackward0", spread)
    if kind == "mean":
        spread = ("DivBackward0", spread)
    return ("AddBackward0", ("MulBackward1", picked), ("MulBackward1", spread))


def _probability_nodes(kind: str, scores: tuple, weighted: bool, smoothing: float) -> tuple:
    product = ("MulBackward0", scores, ("AddBackward1", ("MulBackward1", "target")) if smoothing else "target")
    if weighted:
        product = ("MulBackward0", product)
    if kind == "none":
        return ("NegBackward0", ("SumBackward1", product))
    total = ("NegBackward0", ("SumBackward0", product))
    return ("DivBackward1", total) if kind == "mean" else total


def _nll_loss_grad(shapes: tuple, statics: tuple) -> tuple:
    size_average, _, reduce, reduction = completed(statics, None, -100, None, "mean")
    return _nll_nodes(len(shapes[0]), reduction_of(reduction, size_average, reduce), "input")


def _nll_nodes(ndim: int, kind: str, inner: tuple | str) -> tuple:
    """Draw torch's kernels: one for vectors, one for images; other shapes are viewed as images and back."""
    if ndim < 3:
        return ("NllLossBackward0", inner)
    if ndim == 4:
        return ("NllLoss2DBackward0", inner)
    viewed = ("NllLoss2DBackward0", ("ViewBackward0", inner))
    return ("ViewBackward0", viewed) if kind == "none" else viewed


_CLASSES = (are_classes.of("target", "input", "ignore_index"),)


@op(grad=_cross_entropy_grad, names="nn.functional.cross_entropy", demands=_CLASSES)
def cross_entropy(
    input: Array,
    target: Array,
    weight: Array | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Array:
    """Negative log likelihood of the target under softmax(input).

    Shape: input (C,) or (N, C, *); target class indices () or (N, *), or probabilities of input's shape; weight (C,).
    Result () or, unreduced, (N, *). IndexError for a class out of range; NaN inside of JAX's transformations.
    """
    kind = reduction_of(reduction, size_average, reduce)
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")
    _check_classes(input)
    result, of_probabilities = input.dtype, input.shape == target.shape
    if of_probabilities:
        _check_probabilities(target, ignore_index)
    require_floating(input, kernel_of_axis("log_softmax", input, min(input.ndim - 1, 1)))
    if of_probabilities:
        loss, share = _of_probabilities(input, target, weight, label_smoothing), None
        result = jnp.result_type(*[x.dtype for x in (input, target, weight) if x is not None])
        if kind == "mean":
            share = jnp.asarray(loss.size, loss.dtype)
    else:
        loss, share = losses_and_shares(input, target, weight, ignore_index, label_smoothing)
        if is_half(input) and on_cpu() and not label_smoothing and kind != "none":
            return _added_in_turn(loss, share, weight is not None, kind, result)
    return reduced_by_share(loss, share, kind).astype(result)


@op(grad=_nll_loss_grad, names="nn.functional.nll_loss", demands=_CLASSES)
def nll_loss(
    input: Array,
    target: Array,
    weight: Array | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Array:
    """-input at the target class: the loss for log probabilities.

    Shape: input (C,) or (N, C, *), target class indices () or (N, *), weight (C,). Result () or, unreduced, (N, *).
    IndexError for a class out of range; NaN inside of JAX's transformations.
    """
    kind = reduction_of(reduction, size_average, reduce)
    target = _checked_indices(input, target, weight)
    require_real_floating(input, "nll_loss_out_frame" if input.ndim < 3 else "nll_loss2d_forward_out_frame")
    at_target = _at_target(input, target)
    share = _share(input, target, weight, ignore_index)
    loss = jnp.where(target == ignore_index, 0, -at_target * share)
    if is_half(input) and on_cpu() and kind != "none":
        return _added_in_turn(loss, share, weight is not None, kind, input.dtype)
    return reduced_by_share(loss, share, kind)


def losses_and_shares(
    input: Array, target: Array, weight: Array | None, ignore_index: int, smoothing: float
) -> tuple[Array, Array]:
    """Return each element's loss and its share in the mean.

    log(sum(exp)) minus the target's logit, picked by comparing with an iota, which is quicker than
    log_softmax and a gather (`python -m tests.benchmarks.rows --workloads cross-entropy`, 512 x 50257).
    """
    target = _checked_indices(input, target, weight)
    axis = min(input.ndim - 1, 1)
    if is_half(input) and on_cpu():  # as two kernels of torch's
        logits, log_total = wide(log_softmax_of(input, axis, input.dtype)), jnp.zeros((), np.float32)
    else:
        logits = wide(input)
        logits = logits - lax.stop_gradient(logits.max(axis, keepdims=True))
        log_total = jnp.log(jnp.exp(logits).sum(axis))
    share = _share(logits, target, weight, ignore_index)
    loss = (log_total - _at_target(logits, target)) * share
    if smoothing:
        classes = input.shape[axis]
        if weight is None:
            spread = classes * log_total - logits.sum(axis)
        else:
            column = _column(weight.astype(logits.dtype), logits)
            spread = column.sum() * log_total - (column * logits).sum(axis)
        loss = (1 - smoothing) * loss + (smoothing / classes) * spread
    return jnp.where(target == ignore_index, jnp.zeros_like(loss), loss), share


def _check_probabilities(target: Array, ignore_index: int) -> None:
    if ignore_index >= 0:
        raise RuntimeError("ignore_index is not supported for floating point target")
    if target.dtype.kind in "biu":
        raise RuntimeError(
            f"Expected floating point type for target with class probabilities, got {scalar_name(target)}"
        )


def _of_probabilities(input: Array, target: Array, weight: Array | None, smoothing: float) -> Array:
    axis = min(input.ndim - 1, 1)
    classes = input.shape[axis]
    _check_weight(weight, classes, "cross_entropy: ")
    logits, target, weight = as_one_float(wide(input), target, weight)
    if smoothing:
        target = target * (1 - smoothing) + smoothing / classes
    scores = jax.nn.log_softmax(logits, axis) * target
    if weight is not None:
        scores = scores * _column(weight, logits)
    return -scores.sum(axis)


def _at_target(input: Array, target: Array) -> Array:
    """Pick input[n, target[n], ...]; NaN where there is no such class."""
    axis = min(input.ndim - 1, 1)
    classes = _column(jnp.arange(input.shape[axis], dtype=target.dtype), input)
    picked = jnp.where(jnp.expand_dims(target, axis) == classes, input, jnp.zeros_like(input)).sum(axis)
    return jnp.where((target >= 0) & (target < input.shape[axis]), picked, jnp.full_like(picked, jnp.nan))


def _share(input: Array, target: Array, weight: Array | None, ignore_index: int) -> Array:
    """Return how much each element counts: its class's weight, 0 where ignored."""
    counted = jnp.ones(target.shape, input.dtype)
    if weight is not None:
        counted = jnp.take(lax.stop_gradient(weight).astype(input.dtype), target, mode="clip")
    return jnp.where(target == ignore_index, jnp.zeros_like(counted), counted)


def reduced_by_share(loss: Array, share: Array | None, kind: str) -> Array:
    """Reduce the losses; a mean is that of the shares. share None: the sum is the mean already."""
    if kind == "none":
        return loss
    total = loss.sum()
    return total / share.sum() if kind == "mean" and share is not None else total


def _added_in_turn(loss: Array, share: Array, is_weighted: bool, kind: str, half: Any) -> Array:
    """Reduce losses of 16 bits as torch's kernel for CPUs does, which adds them up in that precision."""
    total = sum_in_turn(loss, half)
    if kind == "sum":
        return total.astype(half)
    shares = sum_in_turn(share, half) if is_weighted else share.astype(np.float32).sum().astype(half)
    return (total / shares.astype(np.float32)).astype(half)


def sum_in_turn(numbers: Array, half: Any) -> Array:
    """Add numbers one by one, each sum rounded: the first alone, then 16 at a time; so the sums, and their sums again.

    What makes no 16 is added last, the smallest sums first.
    """

    def add(total: Array, number: Array) -> Array:
        return (total + number).astype(half).astype(np.float32)

    numbers, rests = numbers.reshape(-1).astype(half).astype(np.float32), []
    while numbers.size > 1:
        whole = 1 + (numbers.size - 1) // 16 * 16
        sixteens = numbers[1:whole].reshape(-1, 16)
        rests.append(functools.reduce(add, numbers[whole:], jnp.zeros((), np.float32)))
        numbers = jnp.concatenate([numbers[:1], functools.reduce(add, sixteens.T)])
    return functools.reduce(add, [*rests, *numbers], jnp.zeros((), np.float32))


def _column(values: Array, input: Array) -> Array:
    """Return one value for each class, shaped to broadcast over (C,) or (N, C, *)."""
    return values.reshape(-1, *(1,) * (input.ndim - 2)) if input.ndim > 1 else values


def _check_classes(input: Array) -> None:
    if not input.ndim:
        raise ValueError("Expected 1 or more dimensions (got 0)")


def _checked_indices(input: Array, target: Array, weight: Array | None) -> Array:
    _check_classes(input)
    axis = min(input.ndim - 1, 1)
    if input.ndim == 1 and target.shape == (1,):
        target = target.reshape(())
    expected = (*input.shape[:axis], *input.shape[axis + 1 :])
    if target.shape != expected:
        batch = target.shape[0] if target.ndim else 0
        if input.ndim == 1 and target.ndim == 1:
            raise ValueError(f"For 1D input, 1D target must have size 1, but got target size: {batch}")
        if input.ndim > 1 and batch != input.shape[0]:
            raise ValueError(f"Expected input batch_size ({input.shape[0]}) to match target batch_size ({batch}).")
        raise RuntimeError(_unfit_indices(input, target, expected))
    # without x64 JAX has no int64: as a pure function of JAX arrays the row takes what stands for it
    if target.dtype not in (np.int64, jax.dtypes.canonicalize_dtype(np.int64), np.uint8):
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {scalar_name(target)}")
    if input.ndim > 2 and weight is not None and weight.shape != (input.shape[axis],):
        raise RuntimeError("weight tensor should be defined either for all or no classes")
    _check_weight(weight, input.shape[axis])
    require_scalar_type(input, weight)
    return target


def _unfit_indices(input: Array, target: Array, expected: Dims) -> str:
    """Return torch's words for indices of classes whose shape is not that of the input without its classes."""
    if input.ndim < 3:
        return "0D or 1D target tensor expected, multi-target not supported"
    if input.ndim != 4:
        return f"Expected target size {list(expected)}, got {list(target.shape)}"
    if target.ndim != 3:
        return f"only batches of spatial targets supported (3D tensors) but got targets of dimension: {target.ndim}"
    return f"size mismatch (got input: {list(input.shape)} , target: {list(target.shape)}"


def _check_weight(weight: Array | None, classes: int, told_by: str = "") -> None:
    if weight is not None and weight.shape != (classes,):
        raise RuntimeError(
            f"{told_by}weight tensor should be defined either for all {classes} classes or no classes "
            f"but got weight tensor of shape: {list(weight.shape)}"
        )
