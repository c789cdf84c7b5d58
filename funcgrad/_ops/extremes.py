"""Where the largest or the smallest element first is: two plain reductions, faster on a CPU than XLA's argmax.

`python -m tests.benchmarks.ops --workloads max-0 max-1`: 0.6 ms each, in place of 4.3 and 3.1. Nor do they depend on
JAX's x64 switch, for which lax.argmax asks when it is lowered.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._ops.table import Array

_NOWHERE = np.int32(np.iinfo(np.int32).max)


def place_of_largest(input: Array, dim: int) -> Array:
    """Return the first place of the largest along `dim`, kept, int32. NaN is largest."""
    return _place(input, jnp.max(input, dim, keepdims=True), dim) if input.ndim else jnp.zeros((), np.int32)


def place_of_smallest(input: Array, dim: int) -> Array:
    """Return the first place of the smallest along `dim`, kept, int32. NaN is smallest."""
    return _place(input, jnp.min(input, dim, keepdims=True), dim) if input.ndim else jnp.zeros((), np.int32)


def _place(input: Array, extreme: Array, dim: int) -> Array:
    hits = (input == extreme) | (input != input)
    places = lax.broadcasted_iota(np.int32, input.shape, dim % input.ndim)
    return jnp.min(jnp.where(hits, places, _NOWHERE), dim, keepdims=True)
