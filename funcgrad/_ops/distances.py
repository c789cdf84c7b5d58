"""Rows: lengths and angles between vectors, and how far apart the rows of matrices are."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._ops.arithmetic import is_bool, magnitude, refuse_truth_values, to_float
from funcgrad._ops.broadcasting import broadcast_shape
from funcgrad._ops.checks import require_scalar_type, require_width, scalar_name
from funcgrad._ops.dims import dim_of, dims_of, is_above
from funcgrad._ops.norms import vector_size
from funcgrad._ops.table import Array, Dims, op

_LENGTH = ("LinalgVectorNormBackward0", "input")


@op(
    grad=("DivBackward0", "input", ("ExpandBackward0", ("ClampMinBackward0", _LENGTH))),
    names="nn.functional.normalize",
)
def normalize(
    input: Array,
    p: float = 2.0,
    dim: Dims = 1,  # type: ignore[assignment]  # torch's default, which graphs of `fx` show
    eps: float = 1e-12,
) -> Array:
    """input / max(its p-norm over `dim`, one or several, eps). Shape: input (*), result the same."""
    if input.dtype.kind in "biu":
        raise RuntimeError(
            f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {scalar_name(input)}"
        )
    length = vector_size(input, p, dims_of(input, dim), True)
    return input / jnp.where(length < eps, jnp.full_like(length, eps), length)  # of NaN, NaN


def _shown(name: str) -> tuple:
    return ("DivBackward0", name, ("CloneBackward0", ("LinalgVectorNormBackward0", name)))


@op(
    grad=("SumBackward1", ("MulBackward0", _shown("x1"), _shown("x2"))), promote="common",
    names="cosine_similarity nn.functional.cosine_similarity",
)  # fmt: skip
def cosine_similarity(x1: Array, x2: Array, dim: int = 1, eps: float = 1e-8) -> Array:
    """The cosine of the angle along `dim`, each length at least eps. Shape: x1, x2 broadcast, result without `dim`."""
    shape = broadcast_shape(x1.shape, x2.shape)
    axis = dim_of(len(shape), dim)
    ones, others = (_of_length_one(jnp.broadcast_to(x, shape or (1,)), axis, eps) for x in (x1, x2))
    return (ones * others).sum(axis)


def _of_length_one(vectors: Array, axis: int, eps: float) -> Array:
    """Divide by the length; the bound on it has no part in the gradient."""
    length = vector_size(vectors, 2.0, (axis,), True)
    return vectors / (length + lax.stop_gradient(jnp.maximum(length, eps) - length))


def _pairwise_grad(shapes: tuple, statics: tuple) -> tuple:
    return ("NormBackward1", ("AddBackward1", ("SubBackward0", "x1", "x2")))


@op(grad=_pairwise_grad, promote="common", names="pairwise_distance nn.functional.pairwise_distance")
def pairwise_distance(x1: Array, x2: Array, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Array:
    """The p-norm of x1 - x2 + eps along the last dimension. Shape: x1, x2 (*, D) or (), broadcast, result (*)."""
    broadcast_shape(x1.shape, x2.shape)
    refuse_truth_values([is_bool(x1), is_bool(x2)])
    apart = to_float(x1 - x2) + eps
    return vector_size(apart, p, (apart.ndim - 1,) if apart.ndim else (), keepdim)


def _root(total: Array, p: float) -> Array:
    """Return total^(1/p), with gradient 0 where it is 0."""
    positive = jnp.where(total > 0, total, 1)
    root = jnp.sqrt(positive) if p == 2 else positive ** (1 / p)
    return jnp.where(total > 0, root, total)


def _length(apart: Array, p: float) -> Array:
    """Return the p-norm of the last dimension, with torch's gradients: every one of several largest gets it in full."""
    if p == 0:
        return (apart != 0).sum(-1).astype(apart.dtype) + 0 * apart.sum(-1)
    if p == 2:
        return _root((apart * apart).sum(-1), p)
    size = magnitude(apart)
    if p == 1:
        return size.sum(-1)
    if p == np.inf:
        frozen = lax.stop_gradient(size)
        longest = frozen.max(-1, initial=0, keepdims=True)
        return longest[..., 0] + jnp.where((frozen == longest) & (frozen < np.inf), size - frozen, 0).sum(-1)
    nonzero = size != 0
    powers = jnp.where(nonzero, jnp.where(nonzero, size, 1) ** p, 0)
    return _root(powers.sum(-1), p)


# from how many rows on distances come of a matrix product
_BY_PRODUCT = {
    "use_mm_for_euclid_dist": 0,
    "use_mm_for_euclid_dist_if_necessary": 25,
    "donot_use_mm_for_euclid_dist": None,
}


@op(grad="CdistBackward0", names="cdist")
def cdist(x1: Array, x2: Array, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary") -> Array:
    """Return the p-norm distances of all rows of `x1` to all of `x2`. Shape: (*, n, d), (*, m, d) -> (*, n, m)."""
    for place, x in enumerate((x1, x2), 1):
        if x.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, X{place} got: {x.ndim}D")
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError(f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}")
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    if compute_mode not in _BY_PRODUCT:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    broadcast_shape(x1.shape[:-2], x2.shape[:-2])
    require_scalar_type(x1, x2)
    rows = _BY_PRODUCT[compute_mode]
    if p == 2 and rows is not None and (is_above(x1.shape[-2], rows) or is_above(x2.shape[-2], rows)):
        squares = (x1 * x1).sum(-1)[..., :, None] + (x2 * x2).sum(-1)[..., None, :]
        return _root(jnp.maximum(squares - 2 * jnp.matmul(x1, jnp.swapaxes(x2, -1, -2)), 0), 2)
    return _length(x1[..., :, None, :] - x2[..., None, :, :], p)


@op(grad="PdistBackward0", names="pdist nn.functional.pdist")
def pdist(input: Array, p: float = 2) -> Array:
    """Return the p-norm distances of all pairs of different rows, in order.

    Shape: input (n, d), result (n (n - 1) / 2,).
    """
    if input.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.ndim}D")
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    require_width("pdist", input)
    first, second = (places.astype(np.int32) for places in np.triu_indices(input.shape[0], 1))
    return _length(input[first] - input[second], p)
