"""Where the largest or the smallest element first is, whatever JAX's x64 switch says when it is lowered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._ops.table import Array


def place_of_largest(input: Array, dim: int) -> Array:
    """Return the first place of the largest along `dim`, kept, int32: XLA's int64 argmax is slower. NaN is largest."""
    return _place(lax.argmax, jnp.max, input, dim)


def place_of_smallest(input: Array, dim: int) -> Array:
    """Return the first place of the smallest along `dim`, kept, int32. NaN is smallest."""
    return _place(lax.argmin, jnp.min, input, dim)


def _place(find: Callable[..., Array], extreme: Callable[..., Any], input: Array, dim: int) -> Array:
    """Find a place.

    Numbers of 64 bits by two reductions: inside a user's own `jax.jit`, where x64 is off when the program is lowered,
    lax.argmax would take them for 32 bits and fail.
    """
    if input.ndim == 0:
        return jnp.zeros((), np.int32)
    dim = dim % input.ndim
    if input.dtype.itemsize < 8:
        return jnp.expand_dims(find(input.astype(np.uint8) if input.dtype == np.bool_ else input, dim, np.int32), dim)
    hits = (input == extreme(input, dim, keepdims=True)) | (input != input)
    places = lax.broadcasted_iota(np.int32, input.shape, dim)
    return jnp.min(jnp.where(hits, places, np.int32(input.shape[dim])), dim, keepdims=True)
