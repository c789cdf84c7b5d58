"""Rows: norms of many gradients together, and scaling all of them, each one instruction whatever their number."""

from __future__ import annotations

import math

import jax.numpy as jnp

from funcgrad._ops.checks import wide
from funcgrad._ops.table import Array, Arrays, Scalar, op


@op(names="")
def total_norm(tensors: Arrays, norm_type: float = 2.0) -> Array:
    """The p-norm of all elements of all tensors as one vector. Shape: each (*), result (), in their widest dtype."""
    kind = jnp.result_type(*(tensor.real.dtype for tensor in tensors))
    sizes = [jnp.abs(wide(tensor)) for tensor in tensors]
    if norm_type == math.inf:
        return jnp.max(jnp.stack([jnp.max(size, initial=0) for size in sizes])).astype(kind)
    if norm_type == -math.inf:
        return jnp.min(jnp.stack([jnp.min(size) for size in sizes])).astype(kind)
    if norm_type == 0:
        return jnp.sum(jnp.stack([jnp.any(size != 0) for size in sizes]).astype(kind))
    if norm_type == 2:
        return jnp.sqrt(sum(jnp.sum(jnp.square(size)) for size in sizes)).astype(kind)
    return (sum(jnp.sum(size**norm_type) for size in sizes) ** (1 / norm_type)).astype(kind)


@op(names="")
def scaled_to_norm(norm: Array, max_norm: Scalar, tensors: Arrays) -> tuple[Array, ...]:
    """Each tensor times min(1, max_norm / (norm + 1e-6)). Shape: norm (), tensors and results each (*)."""
    scale = jnp.minimum(max_norm / (norm + 1e-6), 1.0)
    return tuple(tensor * scale.astype(tensor.real.dtype) for tensor in tensors)


@op(names="")
def all_clamped(limit: Scalar, tensors: Arrays) -> tuple[Array, ...]:
    """Each element moved into [-limit, limit]. Shape: each (*), results the same."""
    return tuple(jnp.clip(tensor, -limit, limit).astype(tensor.dtype) for tensor in tensors)
