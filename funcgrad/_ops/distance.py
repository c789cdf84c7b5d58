"""Rows: lengths and angles between vectors."""

from __future__ import annotations

import jax.numpy as jnp
from jax import lax

from funcgrad._ops.arithmetic import to_float
from funcgrad._ops.broadcasting import broadcast_shape
from funcgrad._ops.checks import scalar_name
from funcgrad._ops.dims import dim_of
from funcgrad._ops.norms import vector_size
from funcgrad._ops.table import Array, op

_LENGTH = ("LinalgVectorNormBackward0", "input")


@op(
    grad=("DivBackward0", "input", ("ExpandBackward0", ("ClampMinBackward0", _LENGTH))),
    names="nn.functional.normalize",
)
def normalize(input: Array, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Array:
    """input / max(its p-norm along `dim`, eps). Shape: input (*), result the same."""
    if input.dtype.kind in "biu":
        raise RuntimeError(
            f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {scalar_name(input)}"
        )
    length = vector_size(input, p, (dim_of(input.ndim, dim),) if input.ndim else (), True)
    return input / jnp.where(length >= eps, length, jnp.full_like(length, eps))


def _shown(name: str) -> tuple:
    return ("DivBackward0", name, ("CloneBackward0", ("LinalgVectorNormBackward0", name)))


@op(
    grad=("SumBackward1", ("MulBackward0", _shown("x1"), _shown("x2"))), promote="float",
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
    """The p-norm of x1 - x2 + eps along the last dimension. Shape: x1, x2 (*, D), broadcast, result (*)."""
    broadcast_shape(x1.shape, x2.shape)
    apart = to_float(x1 - x2) + eps
    return vector_size(apart, p, (apart.ndim - 1,), keepdim)
