"""Rows: losses that want a margin between what belongs together and what does not."""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._base.dtypes import bool_, dtype
from funcgrad._base.promotion import of_the_first, result_type
from funcgrad._ops.activation import log1p_exp
from funcgrad._ops.arithmetic import refuse_negation, refuse_truth_values, to_float
from funcgrad._ops.bounds import clamp
from funcgrad._ops.broadcasting import broadcast_shape
from funcgrad._ops.checks import (
    require_real_floating,
    require_scalar_type,
    require_width,
    scalar_name,
    size_text,
)
from funcgrad._ops.conditions import are_several_targets, are_targets
from funcgrad._ops.distances import pairwise_distance
from funcgrad._ops.loss_reduction import completed, last_node, reduced, reduction_of
from funcgrad._ops.table import Array, Indices, Mask, op


def _reduced_node(statics: tuple, place: int, *inner: object) -> tuple:
    """Draw a loss whose statics from `place` on are size_average, reduce and reduction."""
    size_average, reduce, reduction = completed(statics[place:], None, None, "mean")
    return last_node(reduction, size_average, reduce, *inner)


def _hinge_grad(shapes: tuple, statics: tuple) -> tuple:
    far = ("WhereBackward0", ("ClampMinBackward0", ("SubBackward0", "input")))
    return _reduced_node(statics, 1, "AddBackward0", far, ("WhereBackward0", "input"))


@op(grad=_hinge_grad, promote="common", names="hinge_embedding_loss nn.functional.hinge_embedding_loss")
def hinge_embedding_loss(
    input: Array,
    target: Mask,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Array:
    """input where target is 1, max(0, margin - input) where it is -1. Shape: input, target (*), result () or (*)."""
    refuse_truth_values([input.dtype.kind == "b"] * 2)
    zero = jnp.zeros_like(input)
    room = (int(margin) if input.dtype.kind in "iu" else margin) - input
    far = jnp.where(target != 1, _at_least_zero(room), zero)
    return reduced(far + jnp.where(target != -1, input, zero), reduction, size_average, reduce)


def _ranking_grad(shapes: tuple, statics: tuple) -> tuple:
    inner = ("AddBackward1", ("MulBackward0", ("SubBackward0", "input1", "input2")))
    return _reduced_node(statics, 1, "ClampMinBackward0", inner)


def _with_negated_target(operands: Sequence[tuple[int, dtype]]) -> dtype:
    """Return the common dtype. RuntimeError for truth values, which are to be subtracted, or negated."""
    refuse_truth_values([kind is bool_ for _, kind in operands[:2]])
    refuse_negation(operands[2][1] is bool_)
    return result_type(operands)


@op(grad=_ranking_grad, promote=_with_negated_target, names="margin_ranking_loss nn.functional.margin_ranking_loss")
def margin_ranking_loss(
    input1: Array,
    input2: Array,
    target: Array,
    margin: float = 0.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Array:
    """max(0, margin - target (input1 - input2)). Shape: all (*) with as many dimensions, result () or (*)."""
    if not input1.ndim == input2.ndim == target.ndim:
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {size_text(input1.shape)}, input2: {size_text(input2.shape)}, target: {size_text(target.shape)} "
        )
    broadcast_shape(target.shape, input1.shape, input2.shape)
    return reduced(_at_least_zero(margin + to_float(-target * (input1 - input2))), reduction, size_average, reduce)


def _cosine_grad(shapes: tuple, statics: tuple) -> tuple:
    def product(a: str, b: str) -> tuple:
        return ("SumBackward1", ("MulBackward0", a, b))

    lengths = [("AddBackward1", product(name, name)) for name in ("input1", "input2")]
    cosine = ("DivBackward0", product("input1", "input2"), ("SqrtBackward0", ("MulBackward0", *lengths)))
    near = ("WhereBackward0", ("SubBackward0", cosine))
    far = ("WhereBackward0", ("ClampMinBackward0", ("SubBackward1", cosine)))
    return _reduced_node(statics, 1, "AddBackward0", near, far)


@op(grad=_cosine_grad, promote="common", names="cosine_embedding_loss nn.functional.cosine_embedding_loss")
def cosine_embedding_loss(
    input1: Array,
    input2: Array,
    target: Mask,
    margin: float = 0.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Array:
    """1 - cosine where target is 1, max(0, cosine - margin) where it is -1.

    Shape: input1, input2 (N, D) or (D,), target (N,) or (), result () or as target.
    """
    if target.ndim not in (0, 1):
        raise RuntimeError(f"0D or 1D target tensor expected, multi-target not supported: {size_text(target.shape)}")
    if (input1.ndim, input2.ndim) != (target.ndim + 1,) * 2:
        kind = "1D" if target.ndim else "0D"
        raise RuntimeError(
            f"{kind} target tensor expects {target.ndim + 1}D input tensors, but found inputs with sizes "
            f"{list(input1.shape)} and {list(input2.shape)}."
        )
    broadcast_shape(target.shape, broadcast_shape(input1.shape, input2.shape)[:-1])
    squares = [_dotted(x, x) + 1e-12 for x in (input1, input2)]
    cosine = _dotted(input1, input2) / jnp.sqrt(squares[0] * squares[1])
    zero = jnp.zeros_like(cosine)
    near = jnp.where(target == 1, 1 - cosine, zero)
    return reduced(
        near + jnp.where(target == -1, _at_least_zero(cosine - margin), zero), reduction, size_average, reduce
    )


def _dotted(a: Array, b: Array) -> Array:
    """Return the sums of products, as floats; products of integers wrap around in their own dtype."""
    products = a * b
    return to_float(products.sum(-1, dtype=np.int64 if products.dtype.kind in "biu" else None))


def _triplet_grad(shapes: tuple, statics: tuple) -> tuple:
    def distance(a: str, b: str) -> tuple:
        return ("NormBackward1", ("AddBackward1", ("SubBackward0", a, b)))

    far = distance("anchor", "negative")
    if len(statics) > 3 and statics[3]:
        far = ("MinimumBackward0", far, distance("positive", "negative"))
    inner = ("SubBackward0", ("AddBackward1", distance("anchor", "positive")), far)
    return _reduced_node(statics, 4, "ClampMinBackward0", inner)


@op(grad=_triplet_grad, promote="common", names="triplet_margin_loss nn.functional.triplet_margin_loss")
def triplet_margin_loss(
    anchor: Array,
    positive: Array,
    negative: Array,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Array:
    """max(0, distance to the positive - distance to the negative + margin); with swap, the negative's nearer distance.

    Shape: all (N, D) or (D,), result () or (N,).
    """
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {anchor.ndim}D, positive {positive.ndim}D, and negative {negative.ndim}D inputs"
        )
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    near, far = (pairwise_distance(anchor, other, p, eps) for other in (positive, negative))
    if swap:
        far = jnp.minimum(far, pairwise_distance(positive, negative, p, eps))
    return reduced(_at_least_zero(margin + near - far), reduction, size_average, reduce)


@op(grad=("SoftMarginLossBackward0", "input"), promote=of_the_first, names="nn.functional.soft_margin_loss")
def soft_margin_loss(
    input: Array,
    target: Array,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Array:
    """log(1 + exp(-target * input)), infinite where exp is. Shape: input, target (*), result () or (*)."""
    refuse_negation(input.dtype.kind == "b" or target.dtype.kind == "b")
    if input.dtype.kind in "iu":
        raise RuntimeError(f"result type Float can't be cast to the desired output type {scalar_name(input)}")
    short = input * -target
    grown = jnp.exp(short)
    return reduced(jnp.where(jnp.isinf(grown), jnp.log(1 + grown), log1p_exp(short)), reduction, size_average, reduce)


@op(
    grad=("MultiMarginLossBackward0", "input"),
    names="nn.functional.multi_margin_loss",
    demands=(are_targets.of("target", "input"),),
)
def multi_margin_loss(
    input: Array,
    target: Indices,
    p: int = 1,
    margin: float = 1.0,
    weight: Array | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Array:
    """Mean over the other classes i of max(0, margin - input[target] + input[i])^p, times the target's weight.

    Shape: input (N, C) or (C,), target (N,) or (), weight (C,), result () or as target.
    """
    reduction_of(reduction, size_average, reduce)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.ndim != 1:
        raise ValueError("weight must be one-dimensional")
    if input.ndim < 2:
        input = input.reshape(*target.shape, -1) if target.shape == (1,) else input.reshape(-1)
    if weight is not None and weight.shape != input.shape[-1:]:
        raise RuntimeError(f"inconsistent weight size, expected {input.shape[-1]} but got {list(weight.shape)}")
    _check_classes("multi_margin_loss", input, target, target.shape == input.shape[:-1])
    require_real_floating(input, "multi_margin_loss_cpu_kernel")
    require_width("multi_margin_loss_cpu_kernel", input)
    require_scalar_type(input, weight)
    if target.dtype != np.int64:
        raise RuntimeError(f"expected scalar type Long but found {scalar_name(target)}")
    own = target[..., None] == jnp.arange(input.shape[-1])
    at_target = jnp.where(own, input, jnp.zeros_like(input)).sum(-1, keepdims=True)
    short = _above_zero(margin - at_target + input) ** p
    if weight is not None:
        short = short * jnp.take(lax.stop_gradient(weight), target, mode="clip")[..., None]
    loss = jnp.where(own, jnp.zeros_like(short), short).sum(-1) / input.shape[-1]
    return reduced(loss, reduction, size_average, reduce)


@op(
    grad=("MultilabelMarginLossBackward0", "input"),
    names="nn.functional.multilabel_margin_loss",
    demands=(are_several_targets.of("target", "input"),),
)
def multilabel_margin_loss(
    input: Array,
    target: Indices,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Array:
    """Sum over targets j and other classes i of max(0, 1 - input[j] + input[i]) / C; targets end at the first -1.

    Shape: input, target (N, C) or (C,), result () or (N,).
    """
    reduction_of(reduction, size_average, reduce)
    if not input.ndim and not target.ndim:
        input, target = input[None], target[None]
    _check_classes("multilabel_margin_loss", input, target, target.shape == input.shape)
    kernel = "multilabel_margin_loss_forward_out_frame"
    require_real_floating(input, kernel)
    require_width(kernel, input)
    listed = jnp.cumprod(target >= 0, -1).astype(bool)
    places = jnp.arange(input.shape[-1])
    chosen = (target[..., :, None] == places) & listed[..., None]
    is_target = chosen.any(-2)
    at_targets = jnp.where(chosen, input[..., None, :], jnp.zeros_like(input)[..., None, :]).sum(-1)
    short = _above_zero(1 - at_targets[..., :, None] + input[..., None, :])
    counts = listed[..., :, None] & ~is_target[..., None, :]
    loss = jnp.where(counts, short, jnp.zeros_like(short)).sum((-2, -1)) / input.shape[-1]
    return reduced(loss, reduction, size_average, reduce)


def _multilabel_soft_grad(shapes: tuple, statics: tuple) -> tuple:
    positive = ("MulBackward0", ("LogSigmoidBackward0", "input"))
    inner = (
        "NegBackward0",
        ("AddBackward0", positive, ("MulBackward0", ("LogSigmoidBackward0", ("NegBackward0", "input")))),
    )
    if shapes[2] is not None:
        inner = ("MulBackward0", inner)
    return _reduced_node(statics, 0, "DivBackward0", ("SumBackward1", inner))


def _with_opposite_target(operands: Sequence[tuple[int, dtype]]) -> dtype:
    """Return the common dtype. RuntimeError for a target of truth values, which is to be subtracted from 1."""
    refuse_truth_values([False, operands[1][1] is bool_])
    return result_type(operands)


@op(grad=_multilabel_soft_grad, promote=_with_opposite_target, names="nn.functional.multilabel_soft_margin_loss")
def multilabel_soft_margin_loss(
    input: Array,
    target: Array,
    weight: Array | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Array:
    """Mean over the classes of the binary cross entropy of sigmoid(input). Shape: both (N, C), result () or (N,)."""
    require_real_floating(input, "log_sigmoid_cpu")
    loss = target * log1p_exp(-input) + (1 - target) * log1p_exp(input)
    if weight is not None:
        loss = loss * weight
    return reduced(loss.mean(-1), reduction, size_average, reduce)


def _at_least_zero(values: Array) -> Array:
    """max(values, 0), with the gradient of `clamp`: it flows at 0 too, not for NaN, which stays."""
    return clamp(values, jnp.zeros((), values.dtype))


def _above_zero(values: Array) -> Array:
    return jnp.where(values > 0, values, jnp.zeros_like(values))


def _check_classes(name: str, input: Array, target: Array, fits: bool) -> None:
    if input.ndim not in (1, 2) or not input.shape[-1]:
        raise RuntimeError(
            f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(input.shape)}"
        )
    shape, got = list(input.shape), list(target.shape)
    if not fits and name == "multi_margin_loss":
        rows = shape[0] if len(shape) > 1 else 1
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch "
            f"size). Expected target size [{rows}], but got {got}. Input has shape {shape}."
        )
    if not fits:
        raise RuntimeError(f"inconsistent target size: {got} for input of size: {shape}")
    if target.dtype.kind not in "iu":
        raise RuntimeError(f"expected scalar type Long but found {scalar_name(target)}")
