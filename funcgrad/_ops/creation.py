"""Rows without tensor inputs: constants that a program makes for itself."""

from __future__ import annotations

import jax.numpy as jnp

from funcgrad._ops.rearranging import cast
from funcgrad._ops.table import Array, Dims, DType, Scalar, op


@op(names="")
def full(fill_value: Scalar, size: Dims, dtype: DType) -> Array:
    """Return one number everywhere. Shape: result (*size)."""
    return jnp.broadcast_to(cast(jnp.asarray(fill_value), dtype.numpy), size)
