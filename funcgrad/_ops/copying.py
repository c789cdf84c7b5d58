"""Rows: what writing one tensor into another computes."""

from __future__ import annotations

import jax.numpy as jnp

from funcgrad._ops.broadcasting import broadcast_shape
from funcgrad._ops.rearranging import cast
from funcgrad._ops.table import Array, Mask, op


@op(grad="CopyBackwards", names="")
def copy_over(input: Array, src: Mask) -> Array:
    """Return `src` in the shape and dtype of `input`, which no gradient reaches. RuntimeError where it does not fit."""
    shape = broadcast_shape(input.shape, src.shape)
    if shape != input.shape:
        raise RuntimeError(f"output with shape {list(input.shape)} doesn't match the broadcast shape {list(shape)}")
    return cast(jnp.broadcast_to(src, shape), input.dtype)
