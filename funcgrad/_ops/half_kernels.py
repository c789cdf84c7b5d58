"""What torch's backward kernels of softmax, norms, losses, spread and attention compute in half precision.

They compute in float32, from the mean, the deviation, the result or the logarithms that the forward left, rounded.
Arrays come in float32, see `half_gradients`; r rounds to the half precision and back.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._ops.cross_entropy import sum_in_turn
from funcgrad._ops.dims import dim_of, dims_of
from funcgrad._ops.loss_reduction import reduction_of
from funcgrad._ops.normalization import rounded_standard, through_standard
from funcgrad._ops.reductions import element_count
from funcgrad._ops.softmax import log_softmax_of, softmax_of
from funcgrad._ops.table import Array

Gradients: TypeAlias = dict[str, Array] | None  # by the names of inputs; None: as JAX derives them


class Rounding(NamedTuple):
    """Rounds float32 to a half precision and back."""

    half: np.dtype

    def __call__(self, given: Any) -> Array:
        return jnp.asarray(given).astype(self.half).astype(np.float32)

    @property
    def is_float16(self) -> bool:
        """Tell float16 from bfloat16, of which torch has other kernels now and then."""
        return self.half == np.float16


def _softmax(r: Rounding, g: Array, y: Array, input: Array, dim: int | None, dtype: Any) -> Gradients:
    if not input.ndim:
        return None
    return {"input": y * (g - jnp.sum(g * y, _axis(input, dim), keepdims=True))}


def _softmin(r: Rounding, g: Array, y: Array, input: Array, dim: int | None, dtype: Any) -> Gradients:
    found = _softmax(r, g, y, input, dim, dtype)
    return found and {"input": -found["input"]}


def _log_softmax(r: Rounding, g: Array, y: Array, input: Array, dim: int | None, dtype: Any) -> Gradients:
    return {"input": _through_logarithms(g, y, _axis(input, dim))} if input.ndim else None


def _through_logarithms(g: Array, y: Array, axis: int) -> Array:
    return g - jnp.exp(y) * jnp.sum(g, axis, keepdims=True)


def _axis(input: Array, dim: int | None) -> int:
    return (0 if input.ndim in (1, 3) else 1) if dim is None else dim_of(input.ndim, dim)


def _logsumexp(r: Rounding, g: Array, y: Array, input: Array, dim: Any, keepdim: bool) -> Gradients:
    g, y = (_kept(x, input, dim, keepdim) for x in (g, y))
    return {"input": g * r(jnp.exp(r(input - y)))}


def _kept(reduced: Array, input: Array, dim: Any, keepdim: bool) -> Array:
    return reduced if keepdim else jnp.expand_dims(reduced, dims_of(input, dim))


def _var(
    r: Rounding, g: Array, y: Array, input: Array, dim: Any, unbiased: bool | None, keepdim: bool,
    correction: float | None,
) -> Gradients:  # fmt: skip
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if correction is None:
        correction = 1 if unbiased is None or unbiased else 0
    dims = dims_of(input, dim)
    freedom = element_count(input, dims) - correction
    if freedom <= 0:
        return None
    off = r(input - r(input.mean(dims, keepdims=True)))
    return {"input": r(np.float32(2 / freedom) * _kept(g, input, dim, keepdim)) * off}


def _std(r: Rounding, g: Array, y: Array, *given: Any) -> Gradients:
    return _var(r, jnp.where(y == 0, 0, r(g / r(2 * jnp.where(y == 0, 1, y)))), y, *given)


def _of_length(r: Rounding, g: Array, y: Array, input: Array, dim: Any, keepdim: bool) -> Array:
    g, y = (_kept(x, input, dim, keepdim) for x in (g, y))
    return jnp.where(y == 0, 0, r(input / jnp.where(y == 0, 1, y)) * g)


def _norm(r: Rounding, g: Array, y: Array, input: Array, p: Any, dim: Any, keepdim: bool, dtype: Any) -> Gradients:
    return {"input": _of_length(r, g, y, input, dim, keepdim)} if p in (None, "fro", 2) else None


def _vector_norm(r: Rounding, g: Array, y: Array, x: Array, ord: Any, dim: Any, keepdim: bool, dtype: Any) -> Gradients:
    return {"x": _of_length(r, g, y, x, dim, keepdim)} if ord == 2 else None


def _layer_norm(
    r: Rounding, g: Array, y: Array, input: Array, weight: Array | None, bias: Array | None, shape: Any, eps: float
) -> Gradients:
    axes = tuple(range(input.ndim - (1 if isinstance(shape, int) else len(shape)), input.ndim))
    standard, scale = rounded_standard(input, axes, eps, r.half)
    found = {"input": through_standard(g if weight is None else g * weight, standard, scale, axes)}
    lead = tuple(range(axes[0]))
    if weight is not None:
        found["weight"] = (g * standard).sum(lead)
    if bias is not None:
        found["bias"] = g.sum(lead)
    return found


def _group_norm(
    r: Rounding, g: Array, y: Array, input: Array, weight: Array | None, bias: Array | None, groups: int, eps: float
) -> Gradients:
    parted = (input.shape[0], groups, input.shape[1] // groups, *input.shape[2:])
    axes, column = tuple(range(2, input.ndim + 1)), (-1, *(1,) * (input.ndim - 2))
    standard, scale = rounded_standard(input.reshape(parted), axes, eps, r.half)
    along = (g if weight is None else g * weight.reshape(column)).reshape(parted)
    found = {"input": through_standard(along, standard, scale, axes).reshape(input.shape)}
    others = (0, *range(2, input.ndim))
    if weight is not None:
        found["weight"] = (g * standard.reshape(input.shape)).sum(others)
    if bias is not None:
        found["bias"] = g.sum(others)
    return found


def _cross_entropy(
    r: Rounding, g: Array, y: Array, input: Array, target: Array, weight: Array | None, size_average: bool | None,
    ignore_index: int, reduce: bool | None, reduction: str, label_smoothing: float,
) -> Gradients:  # fmt: skip
    """Of classes: log_softmax, then what is picked of it and, for smoothing, its sum; each rounded."""
    if input.shape == target.shape:
        return None
    axis = min(input.ndim - 1, 1)
    classes, is_mean = input.shape[axis], reduction_of(reduction, size_average, reduce) == "mean"
    column = (-1, *(1,) * (input.ndim - 1 - axis))
    target = target.reshape(y.shape if y.ndim else target.shape if input.ndim > 1 else ())
    counts = target != ignore_index
    share = jnp.where(counts, 1.0 if weight is None else jnp.take(weight, target, mode="clip"), 0)
    total = r(share.sum()) if weight is None else sum_in_turn(share, r.half)
    picked = r(g * (1 - label_smoothing)) if label_smoothing else g
    picked = r(r(-picked / total) * share) if is_mean else r(-picked * share)
    is_target = jnp.expand_dims(target, axis) == jnp.arange(classes).reshape(column)
    by_score = jnp.where(is_target, jnp.expand_dims(picked, axis), 0)
    if label_smoothing:
        spread = r(g * (label_smoothing / classes))
        spread = jnp.where(counts, -r(spread / total) if is_mean else -spread, 0)
        spread = jnp.expand_dims(spread, axis)
        by_score = r(by_score + (spread if weight is None else r(spread * weight.reshape(column))))
    found = {"input": _through_logarithms(by_score, log_softmax_of(input, axis, r.half).astype(np.float32), axis)}
    return found if weight is None else found | {"weight": jnp.zeros_like(weight)}


def _bce(
    r: Rounding, g: Array, y: Array, input: Array, target: Array, weight: Array | None, size_average: bool | None,
    reduce: bool | None, reduction: str,
) -> Gradients:  # fmt: skip
    divisor = jnp.maximum(r(r(1 - input) * input), r(1e-12))
    along = r(r(g * r(input - target)) / divisor)
    return {"input": _weighted(r, along, weight, reduction_of(reduction, size_average, reduce))}


def _bce_with_logits(
    r: Rounding, g: Array, y: Array, input: Array, target: Array, weight: Array | None, pos_weight: Array | None,
    size_average: bool | None, reduce: bool | None, reduction: str,
) -> Gradients:  # fmt: skip
    share = r(lax.logistic(input))
    if pos_weight is None:
        off = r(share - target)
    else:
        positive = r(pos_weight * target)
        off = r(r(r(r(positive + 1) - target) * share) - positive)
    return {"input": _weighted(r, r(off * g), weight, reduction_of(reduction, size_average, reduce))}


def _weighted(r: Rounding, along: Array, weight: Array | None, kind: str) -> Array:
    along = along if weight is None else r(along * weight)
    return along / along.size if kind == "mean" else along


def _attention(
    r: Rounding, g: Array, y: Array, query: Array, key: Array, value: Array, attn_mask: Array | None,
    dropout_mask: Array | None, is_causal: bool, scale: float | None, enable_gqa: bool,
) -> Gradients:  # fmt: skip
    """Of the kernel for CPUs, where it is used: shares in float32, rounded where they are factors of a product."""
    if query.ndim != 4 or query.shape[-1] != value.shape[-1] or dropout_mask is not None:
        return None
    if query.shape[:-2] != value.shape[:-2] or query.shape[:-2] != key.shape[:-2]:
        return None
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = jnp.einsum("...le,...se->...ls", query, key) * factor
    if is_causal:
        scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -jnp.inf)
    if attn_mask is not None:
        scores = jnp.where(attn_mask, scores, -jnp.inf) if attn_mask.dtype == bool else scores + attn_mask
    shares = softmax_of(scores, -1, attn_mask is not None)
    by_share = jnp.einsum("...lf,...sf->...ls", g, value) - jnp.sum(g * y, -1, keepdims=True)
    by_score = r(shares * by_share)
    found = {
        "query": jnp.einsum("...ls,...se->...le", by_score, key) * factor,
        "key": jnp.einsum("...ls,...le->...se", by_score, query) * factor,
        "value": jnp.einsum("...ls,...lf->...sf", r(shares), g),
    }
    return found if attn_mask is None or attn_mask.dtype == bool else found | {"attn_mask": by_score}


KERNELS: dict[str, Callable[..., Gradients]] = {
    "softmax": _softmax,
    "softmin": _softmin,
    "log_softmax": _log_softmax,
    "logsumexp": _logsumexp,
    "var": _var,
    "std": _std,
    "norm": _norm,
    "vector_norm": _vector_norm,
    "layer_norm": _layer_norm,
    "group_norm": _group_norm,
    "cross_entropy": _cross_entropy,
    "binary_cross_entropy": _bce,
    "binary_cross_entropy_with_logits": _bce_with_logits,
    "scaled_dot_product_attention": _attention,
}
