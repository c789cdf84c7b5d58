"""Rows that ask whether gradients are finite, and rows of a gradient scaler, whose scale follows from that."""

from __future__ import annotations

import functools

import jax.numpy as jnp
import numpy as np

from funcgrad._ops.table import Array, Arrays, op


@op(names="")
def holds_nan(gradients: Arrays) -> Array:
    """Whether each of them holds a NaN. Shape: each (*), result (count,), of bools."""
    return jnp.stack([jnp.isnan(gradient).any() for gradient in gradients])


@op(names="")
def unscaled(gradients: Arrays, scale: Array) -> tuple[Array, ...]:
    """1.0 where a gradient holds an inf or NaN, else 0.0; then gradient / scale, in the gradients' dtypes. scale ()."""
    inverse = (1 / scale.astype(np.float64)).astype(np.float32)
    bad = functools.reduce(jnp.logical_or, [~jnp.isfinite(gradient).all() for gradient in gradients])
    return (bad.astype(np.float32), *[(gradient * inverse).astype(gradient.dtype) for gradient in gradients])


@op(names="")
def next_scale(
    scale: Array, successes: Array, found: Arrays, growth: float, backoff: float, interval: int
) -> tuple[Array, Array]:
    """Return the scale and the count of finite steps after one more: torch's _amp_update_scale_.

    Smaller by `backoff` where any of `found` is not 0, larger by `growth` after `interval` finite steps in a row.
    """
    bad = functools.reduce(jnp.logical_or, [one != 0 for one in found])
    grows = successes + 1 == interval
    grown = scale * np.float32(growth)
    kept = jnp.where(grows & jnp.isfinite(grown), grown, scale)
    count = jnp.where(bad | grows, 0, successes + 1)
    return jnp.where(bad, scale * np.float32(backoff), kept), count.astype(successes.dtype)
