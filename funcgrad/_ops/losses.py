"""Rows: losses that compare an input with a target element by element."""

from __future__ import annotations

import math
from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jax import lax
from jax.scipy.special import xlogy

from funcgrad._base.dtypes import dtype
from funcgrad._base.promotion import promote_types
from funcgrad._ops.activation import log1p_exp
from funcgrad._ops.arithmetic import magnitude, refuse_truth_values, to_float, without_truth_values
from funcgrad._ops.broadcasting import broadcast_shape
from funcgrad._ops.checks import as_one_float, require_real_floating, scalar_name, size_text
from funcgrad._ops.conditions import are_between_0_and_1, are_variances
from funcgrad._ops.loss_reduction import completed, last_node, reduced, reduction_of
from funcgrad._ops.table import Array, Dims, Operand, op


def _mse_loss_grad(shapes: tuple, statics: tuple) -> tuple:
    input, target = _expanded(shapes)
    if shapes[2] is None:
        return ("MseLossBackward0", input, target)
    return _weighted_nodes(("PowBackward0", ("SubBackward0", input, target)), *_reduction_statics(statics))


@op(grad=_mse_loss_grad, promote="common", names="nn.functional.mse_loss")
def mse_loss(
    input: Array,
    target: Array,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Array | None = None,
) -> Array:
    """(input - target)^2. Shape: input, target (*), broadcast; weight the same; result () or, unreduced, (*)."""
    require_real_floating(input, "mse_cpu")
    broadcast_shape(input.shape, target.shape)
    return _weighted(jnp.square(input - target), weight, reduction, size_average, reduce)


def _l1_loss_grad(shapes: tuple, statics: tuple) -> tuple:
    inner = ("AbsBackward0", ("SubBackward0", *_expanded(shapes)))
    if shapes[2] is None:
        size_average, reduce, reduction = _reduction_statics(statics)
        return last_node(reduction, size_average, reduce, *inner)
    return _weighted_nodes(inner, *_reduction_statics(statics))


@op(grad=_l1_loss_grad, promote=without_truth_values, names="nn.functional.l1_loss")
def l1_loss(
    input: Array,
    target: Array,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Array | None = None,
) -> Array:
    """|input - target|. Shape: input, target (*), broadcast; weight the same; result () or, unreduced, (*)."""
    broadcast_shape(input.shape, target.shape)
    difference = input - target
    size = difference if difference.dtype.kind == "u" else magnitude(difference)
    return _weighted(size, weight, reduction, size_average, reduce)


def _smooth_l1_loss_grad(shapes: tuple, statics: tuple) -> tuple:
    size_average, reduce, reduction, beta = completed(statics, None, None, "mean", 1.0)
    if not beta:
        return _l1_loss_grad((*shapes, None), (size_average, reduce, reduction))
    return ("SmoothL1LossBackward0", *_expanded(shapes))


@op(grad=_smooth_l1_loss_grad, promote="common", names="nn.functional.smooth_l1_loss")
def smooth_l1_loss(
    input: Array,
    target: Array,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Array:
    """d^2 / (2 beta) where d = |input - target| < beta, else d - beta / 2.

    Shape: input, target (*), broadcast; result () or, unreduced, (*). RuntimeError for a negative beta.
    """
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    if beta == 0:
        return l1_loss(input, target, size_average, reduce, reduction)
    require_real_floating(input, "smooth_l1_cpu")
    broadcast_shape(input.shape, target.shape)
    return reduced(_huber(input - target, beta) / beta, reduction, size_average, reduce)


def _huber_loss_grad(shapes: tuple, statics: tuple) -> tuple:
    inner = ("HuberLossBackward0", *_expanded(shapes))
    reduction = statics[0] if statics else "mean"
    return inner if shapes[2] is None else last_node(reduction, None, None, "MulBackward0", inner, "weight")


def _in_the_first_and_weight(operands: Sequence[tuple[int, dtype]]) -> dtype:
    """Return the dtype of the input, which the target is cast to, and of what weighs the losses."""
    kinds = [kind for _, kind in operands]
    return kinds[0] if len(kinds) < 3 else promote_types(kinds[0], kinds[2])


@op(grad=_huber_loss_grad, promote=_in_the_first_and_weight, names="nn.functional.huber_loss")
def huber_loss(
    input: Array, target: Array, reduction: str = "mean", delta: float = 1.0, weight: Array | None = None
) -> Array:
    """d^2 / 2 where d = |input - target| < delta, else delta * (d - delta / 2).

    Shape: input, target (*), broadcast; weight the same; result () or, unreduced, (*).
    """
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    require_real_floating(input, "huber_cpu")
    broadcast_shape(input.shape, target.shape)
    loss = _huber(input - target, delta)
    return reduced(loss if weight is None else loss * _checked_weight(weight, loss), reduction)


@op(
    grad="BinaryCrossEntropyBackward0",
    names="nn.functional.binary_cross_entropy",
    demands=tuple(are_between_0_and_1.of(name, name=name) for name in ("input", "target")),
)
def binary_cross_entropy(
    input: Array,
    target: Array,
    weight: Array | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Array:
    """-(target log(input) + (1 - target) log(1 - input)), each logarithm at least -100.

    Shape: input, target (*), weight broadcast to it; result () or, unreduced, (*).
    ValueError where target's size differs.
    RuntimeError for an input or target outside [0, 1]; such an input gives NaN inside of JAX's transformations.
    """
    if target.shape != input.shape:
        raise ValueError(
            f"Using a target size ({size_text(target.shape)}) that is different to the input size "
            f"({size_text(input.shape)}) is deprecated. Please ensure they have the same size."
        )
    _require_equal_dtypes(input, target)
    loss = _cross_entropy_of_probability(input, target)
    if weight is not None:
        _require_broadcast(loss.shape, weight.shape)
        loss = loss * weight.astype(loss.dtype)
    return reduced(loss, reduction, size_average, reduce)


@op(
    grad="BinaryCrossEntropyWithLogitsBackward0",
    names="binary_cross_entropy_with_logits nn.functional.binary_cross_entropy_with_logits",
)  # fmt: skip
def binary_cross_entropy_with_logits(
    input: Array,
    target: Array,
    weight: Array | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Array | None = None,
) -> Array:
    """Binary cross entropy of sigmoid(input), safe for large inputs; pos_weight weighs the positive term.

    Shape: input, target (*), weight and pos_weight broadcast to it; result () or, unreduced, (*).
    ValueError where target's size differs.
    """
    if target.shape != input.shape:
        raise ValueError(
            f"Target size ({size_text(target.shape)}) must be the same as input size ({size_text(input.shape)})"
        )
    require_real_floating(input, "log_sigmoid_cpu")
    refuse_truth_values([target.dtype.kind == "b"] * 2)  # torch takes it from 1
    if target.dtype.kind in "iu":
        raise RuntimeError(
            f"result type {scalar_name(input)} can't be cast to the desired output type {scalar_name(target)}"
        )
    kind = target.dtype  # it is in the target's memory that torch adds up
    input, target, weight, pos_weight = as_one_float(input, target, weight, pos_weight)
    positive = 1 if pos_weight is None else (pos_weight - 1) * target + 1
    loss = (1 - target) * input + positive * log1p_exp(-input)
    return reduced(loss if weight is None else loss * weight, reduction, size_average, reduce).astype(kind)


def _kl_div_grad(shapes: tuple, statics: tuple) -> tuple:
    size_average, reduce, reduction, log_target = completed(statics, None, None, "mean", False)
    inner = ("SubBackward0", ("XlogyBackward0", "target", "target"), ("MulBackward0", "target", "input"))
    if log_target:
        inner = ("MulBackward0", ("ExpBackward0", "target"), ("SubBackward0", "target", "input"))
    if reduction == "batchmean" and size_average is None and reduce is None:
        return ("DivBackward0", ("SumBackward0", inner))
    return last_node(reduction, size_average, reduce, *inner)


@op(grad=_kl_div_grad, names="kl_div nn.functional.kl_div")
def kl_div(
    input: Array,
    target: Array,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Array:
    """target * (log(target) - input): the divergence of target from exp(input); reduction "batchmean" divides by N.

    Shape: input (log probabilities), target (probabilities, or their logs with log_target) (N, *), result () or (N, *).
    """
    if {input.dtype.kind, target.dtype.kind} & set("biu"):
        raise RuntimeError("kl_div: Integral inputs not supported.")
    if "c" in (input.dtype.kind, target.dtype.kind):
        raise RuntimeError("kl_div: Complex inputs not supported.")
    broadcast_shape(target.shape, input.shape)
    input, target = as_one_float(input, target)
    loss = jnp.exp(target) * (target - input) if log_target else xlogy(target, target) - target * input
    if reduction == "batchmean" and size_average is None and reduce is None:
        return loss.sum() / (input.shape[0] if input.ndim else 1)
    return reduced(loss, reduction, size_average, reduce)


def _poisson_nll_loss_grad(shapes: tuple, statics: tuple) -> tuple:
    defaults = (True, False, None, 1e-8, None, "mean")
    log_input, full, size_average, _, reduce, reduction = completed(statics, *defaults)
    inner = ("SubBackward0", ("ExpBackward0", "input"), ("MulBackward0", "target", "input"))
    if not log_input:
        inner = ("SubBackward0", "input", ("MulBackward0", "target", ("LogBackward0", ("AddBackward1", "input"))))
    if full:
        scaled = ("MulBackward1", ("LogBackward0", ("MulBackward1", "target")))
        product = ("SubBackward0", ("MulBackward0", "target", ("LogBackward0", "target")), "target")
        inner = ("AddBackward0", inner, ("MaskedFillBackward0", ("AddBackward0", product, scaled)))
    return last_node(reduction, size_average, reduce, *inner)


@op(grad=_poisson_nll_loss_grad, promote="common", names="poisson_nll_loss nn.functional.poisson_nll_loss")
def poisson_nll_loss(
    input: Array,
    target: Array,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Array:
    """exp(input) - target * input (with log_input=False: input - target log(input + eps)); full adds Stirling's.

    Shape: input, target (*), broadcast; result () or, unreduced, (*).
    """
    input = to_float(input)
    loss = jnp.exp(input) - target * input if log_input else input - target * jnp.log(input + eps)
    if full:
        # The gradient stops where torch masks the term: at target <= 1.
        above = to_float(jnp.where(target > 1, target, 1))
        stirling = above * jnp.log(above) - above + 0.5 * jnp.log(2 * math.pi * above)
        loss = loss + jnp.where(target > 1, stirling, 0)
    return reduced(loss, reduction, size_average, reduce)


def _gaussian_nll_loss_grad(shapes: tuple, statics: tuple) -> tuple:
    full, _, reduction = completed(statics, False, 1e-6, "mean")
    var = shapes[2]
    variance = ("CloneBackward0", "var" if len(var) == len(shapes[0]) else ("UnsqueezeBackward0", "var"))
    error = ("PowBackward0", ("SubBackward0", "input", "target"))
    inner = ("MulBackward0", ("AddBackward0", ("LogBackward0", variance), ("DivBackward0", error, variance)))
    return last_node(reduction, None, None, *(("AddBackward0", inner) if full else inner))


@op(
    grad=_gaussian_nll_loss_grad,
    promote="common",
    names="nn.functional.gaussian_nll_loss",
    demands=(are_variances.of("var"),),
)
def gaussian_nll_loss(
    input: Array, target: Array, var: Operand, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Array:
    """(log(var) + (input - target)^2 / var) / 2 with var at least eps; full adds log(2 pi) / 2.

    Shape: input, target (*); var as input, or with one dimension of size 1 or without the last, or a number.
    Result () or, unreduced, (*).
    ValueError for another size of var.
    """
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not valid")
    input, target = to_float(input), to_float(target)
    if jnp.ndim(var) and var.shape != input.shape:
        if input.shape[:-1] == var.shape:
            var = jnp.expand_dims(var, -1)
        elif input.ndim != var.ndim or [b for a, b in zip(input.shape, var.shape, strict=True) if a != b] != [1]:
            raise ValueError("var is of incorrect size")
    variance = jnp.broadcast_to(var, input.shape)
    variance = variance + lax.stop_gradient(jnp.maximum(variance, eps) - variance)
    loss = 0.5 * (jnp.log(variance) + jnp.square(input - target) / variance)
    return reduced(loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)


def _weighted(
    loss: Array, weight: Array | None, reduction: str, size_average: bool | None = None, reduce: bool | None = None
) -> Array:
    """Reduce losses, in the mean by the sum of the weights where there are weights."""
    kind = reduction_of(reduction, size_average, reduce)
    if weight is None:
        return reduced(loss, kind)
    total = reduced(loss * _checked_weight(weight, loss), "sum" if kind == "mean" else kind)
    return total / weight.sum() if kind == "mean" else total


def _checked_weight(weight: Array, loss: Array) -> Array:
    if weight.shape != loss.shape:
        raise ValueError("Weights and input must have the same size.")
    return weight


def _require_broadcast(shape: Dims, weight: Dims) -> None:
    """Raise torch's error for a weight that does not broadcast with losses."""
    for place, (length, wanted) in enumerate(zip(reversed(weight), reversed(shape), strict=False), 1):
        if length != wanted and 1 not in (length, wanted):
            raise RuntimeError(
                f"Attempting to broadcast a dimension of length {length} at -{place}! Mismatching argument at index 1 "
                f"had {size_text(weight)}; but expected shape should be broadcastable to {list(shape)}"
            )


def _reduction_statics(statics: tuple) -> tuple:
    return completed(statics, None, None, "mean")


def _weighted_nodes(inner: tuple, size_average: bool | None, reduce: bool | None, reduction: str) -> tuple:
    product = ("MulBackward0", inner, "weight")
    if reduction_of(reduction, size_average, reduce) == "mean":
        return ("DivBackward0", ("SumBackward0", product), ("SumBackward0", "weight"))
    return last_node(reduction, size_average, reduce, *product)


def _expanded(shapes: tuple) -> tuple:
    """Draw input and target, expanded where they differ in size."""
    if shapes[0] == shapes[1]:
        return ("input", "target")
    whole = broadcast_shape(*shapes[:2])
    return tuple(
        n if len(s) == len(whole) and s == whole else ("ExpandBackward0", n)
        for n, s in zip(("input", "target"), shapes[:2], strict=True)
    )


def _huber(difference: Array, delta: float) -> Array:
    size = jnp.abs(difference)
    finite = jnp.where(jnp.isinf(difference), 0, difference)  # not taken, the square has a gradient all the same
    return jnp.where(size < delta, 0.5 * jnp.square(finite), delta * (size - 0.5 * delta))


def _require_equal_dtypes(input: Array, target: Array) -> None:
    require_real_floating(input, "binary_cross_entropy")
    if input.dtype != target.dtype:
        raise RuntimeError(f"Found dtype {scalar_name(target)} but expected {scalar_name(input)}")


@jax.custom_jvp
def _cross_entropy_of_probability(input: Array, target: Array) -> Array:
    log_not, log_yes = jnp.maximum(jnp.log1p(-input), -100), jnp.maximum(jnp.log(input), -100)
    return (target - 1) * log_not - target * log_yes


@_cross_entropy_of_probability.defjvp
def _cross_entropy_of_probability_jvp(primals: tuple, tangents: tuple) -> tuple[Array, Array]:
    """The derivative (p - t) / (p (1 - p)) is finite at 0 and 1: torch bounds the divisor by 1e-12."""
    input, target = primals
    by_input = (input - target) / jnp.maximum((1 - input) * input, 1e-12)
    by_target = jnp.log1p(-input) - jnp.log(input)
    return _cross_entropy_of_probability(input, target), by_input * tangents[0] + by_target * tangents[1]
