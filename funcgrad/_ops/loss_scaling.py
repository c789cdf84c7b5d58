"""Rows that ask whether gradients are finite, and rows of a gradient scaler, whose scale follows from that."""

from __future__ import annotations

import functools

import jax.numpy as jnp
import numpy as np

from funcgrad._ops.table import Array, Arrays, op

_BITS = 63  # that a whole number has besides its sign


@op(names="")
def nan_found(before: Array | None, gradients: Arrays) -> Array:
    """Which pull-back was the first that returned a NaN, and where: before is what came of those before this one.

    Shape: before and result (3,), of whole numbers: how many were searched, the number of the first that had any, and a
    bit for each of its gradients, set where that has one (0: none had). gradients: each (*). It is the same instruction
    for every pull-back of so many gradients, so that a loop, each turn of which has one, carries the three numbers.
    """
    is_nan = jnp.stack([jnp.isnan(gradient).any() for gradient in gradients]).astype(np.int64)
    here = is_nan[:_BITS] @ np.array([1 << place for place in range(min(len(gradients), _BITS))])
    count, first, where = (np.int64(0), np.int64(0), np.int64(0)) if before is None else before
    is_first = where == 0
    return jnp.stack([count + 1, jnp.where(is_first, count, first), jnp.where(is_first, here, where)])


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
