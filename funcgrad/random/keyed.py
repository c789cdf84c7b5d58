"""The same distributions on the device: each op takes a key and returns its sample and the next key, in one program.

The numbers are JAX's (threefry), the distributions torch's. Parameters: the key, tensors, numbers, statics.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax, random
from jax.scipy.special import ndtri

from funcgrad._ops.extremes import place_of_largest
from funcgrad._ops.table import Array, Dims, DType, Scalar
from funcgrad.random.sampling import largest_integer

Drawn = tuple[Array, Array]


def uniform(key: Array, low: Scalar, high: Scalar, shape: Dims, dtype: DType) -> Drawn:
    """Draw from [low, high)."""
    use, following = _split(key)
    drawn, kind = _real_draw(_uniform, use, shape, dtype)
    return _joined(drawn * _as(high - low, kind) + _as(low, kind), dtype), following


def normal(key: Array, mean: Scalar, std: Scalar, shape: Dims, dtype: DType) -> Drawn:
    """Draw from N(mean, std^2); the parts of a complex number share the variance."""
    use, following = _split(key)
    drawn, kind = _real_draw(_normal, use, shape, dtype)
    spread = std / np.sqrt(2) if dtype.is_complex else std
    return _joined(drawn * _as(spread, kind) + _as(mean, kind), dtype), following


def log_normal(key: Array, mean: Scalar, std: Scalar, shape: Dims, dtype: DType) -> Drawn:
    """Draw exp(x), x from N(mean, std^2)."""
    drawn, following = normal(key, mean, std, shape, dtype)
    return jnp.exp(drawn), following


def integers(key: Array, low: Scalar, high: Scalar, shape: Dims, dtype: DType) -> Drawn:
    """Draw from low ... high - 1, computed modulo 2^64; low = high means all 64 bits."""
    use, following = _split(key)
    first = _word(low)
    span = _word(high) - first
    bits = _bits64(use, shape)
    drawn = jnp.where(span == 0, bits, lax.rem(bits, jnp.broadcast_to(jnp.maximum(span, 1), shape)))
    return (drawn + first).astype(np.int64).astype(dtype.numpy), following


def integers_of_dtype(key: Array, shape: Dims, dtype: DType) -> Drawn:
    """Draw from all that the dtype can hold from 0 on; floats up to 2^digits."""
    return integers(key, 0, largest_integer(dtype.numpy) + 1, shape, dtype)


def permutation(key: Array, shape: Dims, dtype: DType) -> Drawn:
    """Shuffle 0 ... n - 1. Shape: shape is (n,)."""
    use, following = _split(key)
    return random.permutation(use, shape[0]).astype(dtype.numpy), following


def bernoulli(key: Array, p: Scalar, shape: Dims, dtype: DType) -> Drawn:
    """Draw 1 with probability p, else 0."""
    use, following = _split(key)
    return (random.uniform(use, shape, np.float32) < p).astype(dtype.numpy), following


def bernoulli_each(key: Array, p: Array, shape: Dims, dtype: DType) -> Drawn:
    """Draw 1 with each element's own probability, else 0."""
    use, following = _split(key)
    return (_uniform(use, shape, p.dtype) < p).astype(dtype.numpy), following


def exponential(key: Array, rate: Scalar, shape: Dims, dtype: DType) -> Drawn:
    """Draw from the exponential distribution of this rate."""
    use, following = _split(key)
    drawn = random.exponential(use, shape, dtype.numpy)
    return drawn / _as(rate, dtype.numpy), following


def cauchy(key: Array, median: Scalar, sigma: Scalar, shape: Dims, dtype: DType) -> Drawn:
    """Draw median + sigma tan(pi (u - 1/2))."""
    use, following = _split(key)
    drawn = random.cauchy(use, shape, dtype.numpy)
    return drawn * _as(sigma, dtype.numpy) + _as(median, dtype.numpy), following


def geometric(key: Array, p: Scalar, shape: Dims, dtype: DType) -> Drawn:
    """Draw how many trials it takes until the first success."""
    use, following = _split(key)
    drawn = random.exponential(use, shape, np.float32)  # -log(u)
    return jnp.ceil(-drawn / jnp.log1p(-_as(p, np.float32))).astype(dtype.numpy), following


def poisson(key: Array, rates: Array, shape: Dims, dtype: DType) -> Drawn:
    """Draw from Poisson(rate) for each rate."""
    use, following = _split(key)
    return random.poisson(use, rates.astype(np.float32), shape).astype(dtype.numpy), following


def binomial(key: Array, counts: Array, probabilities: Array, shape: Dims, dtype: DType) -> Drawn:
    """Draw the number of successes for each count and probability."""
    use, following = _split(key)
    return random.binomial(use, counts, probabilities, shape).astype(dtype.numpy), following


def standard_gamma(key: Array, shapes: Array, shape: Dims, dtype: DType) -> Drawn:
    """Draw from Gamma(shape, 1) for each shape."""
    use, following = _split(key)
    return random.gamma(use, shapes, shape, dtype.numpy), following


def dirichlet(key: Array, shapes: Array, shape: Dims, dtype: DType) -> Drawn:
    """Draw from Dirichlet(shapes) along the last axis."""
    use, following = _split(key)
    return random.dirichlet(use, shapes, shape[:-1], dtype.numpy), following


def multinomial(key: Array, weights: Array, count: int, replacement: bool) -> Drawn:
    """Draw `count` places from each row of `weights`. Shape: weights (rows, places), result (rows, count)."""
    use, following = _split(key)
    scores = jnp.log(weights.astype(np.float32))
    if replacement:
        noise = random.gumbel(use, (count, *weights.shape), np.float32)
        drawn = place_of_largest(scores + noise, -1)[..., 0].T
    else:
        drawn = lax.top_k(scores + random.gumbel(use, weights.shape, np.float32), count)[1]
    return drawn.astype(np.int64), following


def _split(key: Array) -> tuple[Array, Array]:
    """Return a key to draw with and the raw words of the generator's next key."""
    following, use = random.split(random.wrap_key_data(key, impl="threefry2x32"))
    return use, random.key_data(following)


def _bits64(key: Array, shape: Dims) -> Array:
    """Return 64 random bits each.

    Two draws of 32: JAX's own of 64 is cut short where a user's jit lowers it, as x64 is off there.
    """
    words = random.bits(key, (*shape, 2), np.uint32).astype(np.uint64)
    return (words[..., 0] << np.uint64(32)) | words[..., 1]


def _uniform(key: Array, shape: Dims, kind: Any) -> Array:
    """Draw from [0, 1)."""
    if kind != np.float64:
        return random.uniform(key, shape, kind)
    return (_bits64(key, shape) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _normal(key: Array, shape: Dims, kind: Any) -> Array:
    """Draw from N(0, 1)."""
    if kind != np.float64:
        return random.normal(key, shape, kind)
    words = (_bits64(key, shape) >> np.uint64(12)).astype(np.float64)
    return ndtri((words + 0.5) * 2.0**-52)  # never 0 or 1, which have no finite quantile


def _real_draw(draw: Callable[..., Array], use: Array, shape: Dims, dtype: DType) -> tuple[Array, np.dtype[Any]]:
    kind = dtype.to_real().numpy
    return draw(use, (*shape, 2) if dtype.is_complex else shape, kind), kind


def _joined(drawn: Array, dtype: DType) -> Array:
    return lax.complex(drawn[..., 0], drawn[..., 1]) if dtype.is_complex else drawn


def _as(number: Scalar, kind: Any) -> Array:
    return jnp.asarray(number, kind)


def _word(number: Scalar) -> Array:
    return jnp.asarray(np.uint64(number % 2**64)) if isinstance(number, int) else number.astype(np.uint64)
