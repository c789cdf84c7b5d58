"""Rows of Bessel functions of the first and second kind, modified ones, and Airy's: torch.special's, without gradients.

Computed in float64 from integrals of smooth functions, for which sums over a few evenly spaced nodes are exact to
rounding, and from the asymptotic series where arguments are large: no tables of fitted coefficients.
"""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np

from funcgrad._ops.checks import require_width
from funcgrad._ops.table import Array, op

_FAR = 25.0  # from here on 22 terms of Hankel's series are exact to 1e-17
_NODES = (np.arange(32) + 0.5) * math.pi / 64  # of (0, pi / 2)
_ORDERS = np.arange(1, 31)  # J[60](25) is 1e-17


def _mean(values: Array, weights: np.ndarray) -> Array:
    return jnp.sum(values * (weights / _NODES.size), -1)


def _weights_of_first(order: int) -> np.ndarray:
    """J[n](x) is the mean of cos(n t) cos(x sin t) (even n) or sin(n t) sin(x sin t) (odd n)."""
    return np.sin(_NODES) if order else np.ones_like(_NODES)


def _weights_of_second(order: int) -> np.ndarray:
    """The part of Neumann's series for Y[n] that is a sum of J[n + 2 k], k > 0 (Abramowitz and Stegun 9.1.88)."""
    waves = (np.sin if order else np.cos)(np.outer(order + 2 * _ORDERS, _NODES))
    factors = (-1.0) ** _ORDERS * (order + 2 * _ORDERS) / (_ORDERS * (order + _ORDERS))
    return -2 / math.pi * (factors @ waves)


def _near(x: Array, order: int) -> Array:
    phase = x[..., None] * np.sin(_NODES)
    return jnp.sin(phase) if order else jnp.cos(phase)


def _hankel(x: Array, order: int, second: bool) -> Array:
    """sqrt(2 / (pi x)) (P cos(x - phase) - Q sin(x - phase)), or P sin + Q cos for the second kind."""
    terms = [1.0]
    for k in range(1, 22):
        terms.append(terms[-1] * (4 * order**2 - (2 * k - 1) ** 2) / (8 * k))
    signs = [(-1) ** k for k in range(11)]
    squared = 1 / (x * x)
    p = jnp.polyval(np.array([s * t for s, t in zip(signs, terms[0::2], strict=True)])[::-1], squared)
    q = jnp.polyval(np.array([s * t for s, t in zip(signs, terms[1::2], strict=True)])[::-1], squared) / x
    sine, cosine = jnp.sin(x), jnp.cos(x)
    # cos and sin of x - pi / 4, or of x - 3 pi / 4, times sqrt(2)
    turned = (cosine + sine, sine - cosine) if order == 0 else (sine - cosine, -cosine - sine)
    wave = p * turned[1] + q * turned[0] if second else p * turned[0] - q * turned[1]
    return wave / jnp.sqrt(math.pi * x)


def _first_kind(input: Array, order: int) -> Array:
    x = jnp.abs(input.astype(np.float64))
    near = _mean(_near(jnp.minimum(x, _FAR), order), _weights_of_first(order))
    found = jnp.where(x > _FAR, _hankel(jnp.maximum(x, _FAR), order, False), near)
    return (found * jnp.sign(input) if order else found).astype(input.dtype)


def _second_kind(input: Array, order: int) -> Array:
    x = input.astype(np.float64)
    close = jnp.clip(x, np.finfo(np.float64).tiny, _FAR)
    values = _near(close, order)
    logarithm = jnp.log(close / 2) + np.euler_gamma - order
    near = 2 / math.pi * logarithm * _mean(values, _weights_of_first(order)) + _mean(values, _weights_of_second(order))
    if order:
        near = near - 2 / math.pi / close * _mean(_near(close, 0), _weights_of_first(0))
    found = jnp.where(x > _FAR, _hankel(jnp.maximum(x, _FAR), order, True), near)
    return jnp.where(x > 0, found, jnp.where(x == 0, -np.inf, np.nan)).astype(input.dtype)


@op(promote="float", names="special.bessel_j0")
def bessel_j0(input: Array) -> Array:
    """Bessel's function of the first kind, of order 0."""
    require_width("bessel_j0_cpu", input)
    return _first_kind(input, 0)


@op(promote="float", names="special.bessel_j1")
def bessel_j1(input: Array) -> Array:
    """Bessel's function of the first kind, of order 1."""
    require_width("bessel_j1_cpu", input)
    return _first_kind(input, 1)


@op(promote="float", names="special.bessel_y0")
def bessel_y0(input: Array) -> Array:
    """Bessel's function of the second kind, of order 0: -infinity at 0, NaN below."""
    require_width("bessel_y0_cpu", input)
    return _second_kind(input, 0)


@op(promote="float", names="special.bessel_y1")
def bessel_y1(input: Array) -> Array:
    """Bessel's function of the second kind, of order 1: -infinity at 0, NaN below."""
    require_width("bessel_y1_cpu", input)
    return _second_kind(input, 1)


@op(promote="float", names="special.spherical_bessel_j0")
def spherical_bessel_j0(input: Array) -> Array:
    """sin(x) / x, 1 at 0."""
    require_width("spherical_bessel_j0_cpu", input)
    safe = jnp.where((input == 0) | jnp.isinf(input), 1, input)
    return jnp.where(input == 0, 1, jnp.where(jnp.isinf(input), 0, jnp.sin(safe) / safe))


_COUNT = 14  # terms of the power series up to x = 2
_FACTORIALS = np.array([math.factorial(k) for k in range(_COUNT + 1)], np.float64)
_HARMONIC = np.array([sum(1 / j for j in range(1, k + 1)) for k in range(_COUNT + 1)])  # digamma(k + 1) + gamma
_WIDE = np.arange(25) * 0.26  # exp(-v^2) is 1e-17 at its end


def _modified(input: Array, order: int, scaled: bool) -> Array:
    """exp(x) K[n](x): below 2 the power series, else the integral of exp(-v^2) cosh(n t) / sqrt(1 + v^2 / (2 x)).

    There v = sqrt(2 x) sinh(t / 2), of the integral of exp(-x cosh(t)) cosh(n t).
    """
    x = input.astype(np.float64)
    large = jnp.maximum(x, 2.0)[..., None]
    halved = np.where(_WIDE == 0, 0.5, 1.0) * np.exp(-(_WIDE**2)) * 0.26
    shares = _WIDE**2 / large
    values = halved * (1 + shares if order else 1.0) / jnp.sqrt(1 + shares / 2)
    far = jnp.sqrt(2 / large[..., 0]) * jnp.sum(values, -1)
    small = jnp.clip(x, np.finfo(np.float64).tiny, 2.0)
    near = _power_series(small, order)
    if scaled:
        found = jnp.where(x > 2, far, near * jnp.exp(small))
    else:
        found = jnp.where(x > 2, far * jnp.exp(-jnp.maximum(x, 2.0)), near)
    return jnp.where(x > 0, found, jnp.where(x == 0, np.inf, np.nan)).astype(input.dtype)


def _power_series(x: Array, order: int) -> Array:
    """Abramowitz and Stegun 9.6.11 to 9.6.13."""
    square = x * x / 4
    weights = 1 / (_FACTORIALS[:_COUNT] * _FACTORIALS[order : order + _COUNT])
    means = (_HARMONIC[:_COUNT] + _HARMONIC[order : order + _COUNT]) / 2
    first = jnp.polyval(weights[::-1], square)
    rest = jnp.polyval((weights * means)[::-1], square)
    logarithm = jnp.log(x / 2) + np.euler_gamma
    return 1 / x + x / 2 * (logarithm * first - rest) if order else rest - logarithm * first


@op(promote="float", names="special.modified_bessel_k0")
def modified_bessel_k0(input: Array) -> Array:
    """The modified Bessel function of the second kind, of order 0: infinity at 0, NaN below."""
    require_width("modified_bessel_k0_cpu", input)
    return _modified(input, 0, False)


@op(promote="float", names="special.modified_bessel_k1")
def modified_bessel_k1(input: Array) -> Array:
    """The modified Bessel function of the second kind, of order 1: infinity at 0, NaN below."""
    require_width("modified_bessel_k1_cpu", input)
    return _modified(input, 1, False)


@op(promote="float", names="special.scaled_modified_bessel_k0")
def scaled_modified_bessel_k0(input: Array) -> Array:
    """exp(x) times the modified Bessel function of the second kind, of order 0."""
    require_width("scaled_modified_bessel_k0_cpu", input)
    return _modified(input, 0, True)


@op(promote="float", names="special.scaled_modified_bessel_k1")
def scaled_modified_bessel_k1(input: Array) -> Array:
    """exp(x) times the modified Bessel function of the second kind, of order 1."""
    require_width("scaled_modified_bessel_k1_cpu", input)
    return _modified(input, 1, True)


_STEP = 0.14
_ALONG = np.arange(50) * _STEP
_RIGHT = np.where(_ALONG == 0, 0.5, 1.0) * np.exp(-(_ALONG**2)) * _STEP / math.pi
_LEFT = (
    2 * np.where(_ALONG == 0, 0.5, 1.0) * np.exp(1j * math.pi / 3 - np.exp(1j * math.pi / 6) * _ALONG**2)
    * _STEP / math.pi
)  # fmt: skip


@op(promote="float", names="special.airy_ai")
def airy_ai(input: Array) -> Array:
    """Airy's function Ai, which solves y'' = x y and falls to 0 on the right."""
    require_width("airy_ai_x_cpu", input)
    x = input.astype(np.float64)
    size = jnp.maximum(jnp.abs(x), 1.0)
    # exp(-zeta) / pi times the integral of exp(-sqrt(z) t^2) cos(t^3 / 3) over t > 0 (DLMF 9.5.7), t = s / |z|^(1/4)
    waves = jnp.cos(_ALONG**3 / (3 * size**0.75)[..., None])
    zeta, scale = 2 / 3 * size**1.5, size**-0.25
    right = jnp.exp(-zeta) * scale * jnp.sum(waves * _RIGHT, -1)
    # on the left twice the real part of exp(i pi / 3) Ai(|x| exp(i pi / 3)), whose zeta is imaginary
    real, imaginary = jnp.sum(waves * _LEFT.real, -1), jnp.sum(waves * _LEFT.imag, -1)
    left = scale * (real * jnp.cos(zeta) + imaginary * jnp.sin(zeta))
    found = jnp.where(x > 1, right, jnp.where(x < -1, left, _airy_series(jnp.clip(x, -1.0, 1.0))))
    return jnp.where(jnp.isinf(x), np.nan, found).astype(input.dtype)


def _airy_series(x: Array) -> Array:
    """Ai(0) times the solution that begins with 1, plus Ai'(0) times the one that begins with x."""
    falling, steep = [3 ** (-2 / 3) / math.gamma(2 / 3)], [-(3 ** (-1 / 3)) / math.gamma(1 / 3)]
    for k in range(1, 12):
        falling.append(falling[-1] / ((3 * k - 1) * 3 * k))
        steep.append(steep[-1] / (3 * k * (3 * k + 1)))
    cube = x**3
    return jnp.polyval(np.array(falling[::-1]), cube) + x * jnp.polyval(np.array(steep[::-1]), cube)
