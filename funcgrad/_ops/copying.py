"""Rows: what writing one tensor into another computes."""

from __future__ import annotations

import jax.numpy as jnp

from funcgrad._ops.rearranging import cast
from funcgrad._ops.table import Array, Mask, op


@op(grad="CopyBackwards", names="")
def copy_over(input: Array, src: Mask) -> Array:
    """Return `src` in the shape and dtype of `input`, which no gradient reaches. RuntimeError where it does not fit."""
    try:
        spread = jnp.broadcast_to(src, input.shape)
    except ValueError:
        raise RuntimeError(
            f"The expanded size of the tensor {list(input.shape)} does not fit the source of size {list(src.shape)}"
        ) from None
    return cast(spread, input.dtype)
