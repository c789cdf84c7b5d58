"""Sines and cosines of many float32 numbers on a CPU, for which XLA calls a function of one number each time.

A number is brought to at most pi / 4 by taking off quarter turns, in parts of so few bits that products with them are
exact; there two short polynomials do, and all of it is done for many numbers at once.

Source: Cody and Waite 1980, Software Manual for the Elementary Functions; the polynomials are those of Cephes' sinf.
"""

from __future__ import annotations

import math
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._ops.backends import on_cpu
from funcgrad._ops.table import Array

_MANY = 1 << 18  # numbers: fewer are not slow, and numpy, which runs instructions of that many, has sines of its own
_MOST = 8192.0  # beyond, quarter turns have more than 13 bits
_BITS = 11


def _parts(number: float, count: int) -> list[np.float32]:
    """Return numbers of few bits each, but for the last, that add up to this one."""
    parts = []
    for _ in range(count - 1):
        unit = 2.0 ** (math.frexp(number)[1] - _BITS)
        parts.append(np.float32(math.floor(number / unit) * unit))
        number -= float(parts[-1])
    return [*parts, np.float32(number)]


_QUARTER = _parts(math.pi / 2, 4)
_SINE = np.array([-1.6666654611e-1, 8.3321608736e-3, -1.9515295891e-4], np.float32)
_COSINE = np.array([4.166664568298827e-2, -1.388731625493765e-3, 2.443315711809948e-5], np.float32)


def sine(x: Array) -> Array:
    """Return sin(x)."""
    return _turned(x, 0) if _are_many(x) else lax.sin(x)


def cosine(x: Array) -> Array:
    """Return cos(x)."""
    return _turned(x, 1) if _are_many(x) else lax.cos(x)


def _are_many(x: Array) -> bool:
    sizes = [size for size in x.shape if isinstance(size, int)]  # others are lengths that are open
    return x.dtype == np.float32 and on_cpu() and len(sizes) == x.ndim and math.prod(sizes) >= _MANY


@partial(jax.custom_jvp, nondiff_argnums=(1,))
def _turned(x: Array, quarters: int) -> Array:
    """Return the sine of x and so many quarter turns more."""
    one_by_one = (lax.sin, lax.cos, lambda x: -lax.sin(x), lambda x: -lax.cos(x))[quarters % 4]
    return lax.cond((jnp.abs(x) <= _MOST).all(), partial(_by_polynomials, quarters=quarters), one_by_one, x)


@_turned.defjvp
def _turned_jvp(quarters: int, primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    return _turned(*primals, quarters), tangents[0] * _turned(*primals, quarters + 1)


def _by_polynomials(x: Array, quarters: int) -> Array:
    turns = lax.round(x * np.float32(2 / math.pi), lax.RoundingMethod.TO_NEAREST_EVEN)
    for part in _QUARTER:
        x = x - turns * part
    place, square = turns.astype(np.int32) + np.int32(quarters), x * x
    sine = x + x * square * _polynomial(_SINE, square)
    cosine = 1 - square / 2 + square * square * _polynomial(_COSINE, square)
    found = jnp.where(place & 1 == 1, cosine, sine)
    return jnp.where(place & 2 == 2, -found, found)


def _polynomial(coefficients: np.ndarray, x: Array) -> Array:
    total = coefficients[-1]
    for coefficient in coefficients[-2::-1]:
        total = coefficient + x * total
    return total
