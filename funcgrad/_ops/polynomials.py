"""Rows of orthogonal polynomials: Chebyshev's four kinds (plain and shifted to [0, 1]), Hermite, Laguerre, Legendre.

Each is a recurrence of two terms, p[k + 1] = step(k, x, p[k], p[k - 1]) from p[0] = 1; of negative degree it is 0. The
degrees are a tensor too, so as many steps are made as the largest asks for, of the elements that torch has no formula
for: Chebyshev's of higher degrees between -1 and 1 are cosines there. No gradients, as in torch.
"""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._ops.broadcasting import broadcast
from funcgrad._ops.checks import require_width
from funcgrad._ops.table import Array, Operand, op

_MOST = 2.0**63  # a degree that no int64 holds counts as negative, as C's cast makes it
Step = Callable[[Array, Array, Array, Array], Array]
Known = Callable[[Array, Array], tuple[Array, Array]]  # (x, degree) -> where a formula holds, and what it gives


def _polynomial(name: str, input: Array, n: Array, first: Callable[[Array], Array], step: Step, known: Known) -> Array:
    require_width(f"{name}_cpu", input, n)
    x, degree = broadcast(input, n)
    degree = lax.convert_element_type(jnp.where(jnp.abs(degree) < _MOST, degree, -1), np.int64)
    is_known, formula = known(x, degree)
    steps = jnp.where(is_known, 0, degree)
    one = jnp.ones_like(x)

    def goes_on(state: tuple[Array, Array, Array]) -> Array:
        k, _, now = state
        return jnp.any((k < steps) & ~jnp.isnan(now))

    def advance(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        k, before, now = state
        later = step(k.astype(x.dtype), x, now, before)
        return k + 1, jnp.where(k < steps, now, before), jnp.where(k < steps, later, now)

    start = (jnp.ones((), np.int64), one, first(x).astype(x.dtype))
    found = lax.while_loop(goes_on, advance, start)[2]
    found = jnp.where(is_known, formula.astype(x.dtype), jnp.where(degree == 0, one, found))
    return jnp.where(degree < 0, 0, found)


def _signs(degree: Array, size: Array | int) -> Array:
    """Return `size` with the sign that a polynomial of this degree has at -1."""
    return jnp.where(degree % 2 == 0, size, -size)


def _cosines(x: Array, degree: Array) -> Array:
    return jnp.cos(degree.astype(x.dtype) * jnp.arccos(x))


def _sines(x: Array, degree: Array) -> Array:
    angle, count = jnp.arccos(x), (degree + 1).astype(x.dtype)
    return jnp.where(jnp.sin(angle) != 0, jnp.sin(count * angle) / jnp.sin(angle), count * jnp.cos(count * angle) / x)


def _half_cosines(x: Array, degree: Array) -> Array:
    angle, count = jnp.arccos(x), degree.astype(x.dtype) + 0.5
    found = jnp.cos(count * angle) / jnp.cos(angle / 2)
    return jnp.where(jnp.sin(angle / 2) != 1, found, _signs(degree, 2 * degree + 1).astype(x.dtype))


def _half_sines(x: Array, degree: Array) -> Array:
    angle, count = jnp.arccos(x), degree.astype(x.dtype) + 0.5
    found = jnp.sin(count * angle) / jnp.sin(angle / 2)
    at_end = jnp.where(x > 0, 2 * degree + 1, _signs(degree, 1)).astype(x.dtype)
    return jnp.where(jnp.cos(angle / 2) != 1, found, at_end)


def _one(degree: Array) -> Array:
    return jnp.ones_like(degree)


def _next(degree: Array) -> Array:
    return degree + 1


def _odd(degree: Array) -> Array:
    return 2 * degree + 1


def _of_chebyshev(
    inside: Callable[[Array, Array], Array], above: int, right: Callable[[Array], Array],
    left: Callable[[Array], Array], is_shifted: bool = False,
) -> Known:  # fmt: skip
    """Return what is known of a kind: within (-1, 1) above a degree, and at 1 and, but for its sign, at -1."""

    def known(x: Array, degree: Array) -> tuple[Array, Array]:
        x = 2 * x - 1 if is_shifted else x
        is_inside = jnp.abs(x) < 1
        formula = inside(jnp.where(is_inside, x, 0.5), degree)
        ends = jnp.where(x > 0, right(degree), _signs(degree, left(degree))).astype(x.dtype)
        return (jnp.abs(x) == 1) | (is_inside & (degree > above)), jnp.where(is_inside, formula, ends)

    return known


def _too_high(x: Array, degree: Array) -> tuple[Array, Array]:
    """Hermite's polynomials of degrees that torch does not compute."""
    return degree > (512 if x.dtype == np.float64 else 128), jnp.full_like(x, np.nan)


def _at_zero(x: Array, degree: Array) -> tuple[Array, Array]:
    return x == 0, jnp.ones_like(x)


def _at_ends(x: Array, degree: Array) -> tuple[Array, Array]:
    return jnp.abs(x) == 1, jnp.where(x > 0, 1, _signs(degree, 1)).astype(x.dtype)


def _chebyshev(k: Array, x: Array, now: Array, before: Array) -> Array:
    return 2 * x * now - before


def _shifted(k: Array, x: Array, now: Array, before: Array) -> Array:
    return _chebyshev(k, 2 * x - 1, now, before)


_KIND_T = _of_chebyshev(_cosines, 6, _one, _one)
_KIND_U = _of_chebyshev(_sines, 8, _next, _next)
_KIND_V = _of_chebyshev(_half_cosines, 8, _one, _odd)
_KIND_W = _of_chebyshev(_half_sines, 8, _odd, _one)
_SHIFTED_T = _of_chebyshev(_cosines, 6, _one, _one, is_shifted=True)
_SHIFTED_U = _of_chebyshev(_sines, 6, _next, _next, is_shifted=True)
_SHIFTED_V = _of_chebyshev(_half_cosines, 6, _one, _odd, is_shifted=True)
_SHIFTED_W = _of_chebyshev(_half_sines, 4, _odd, _one, is_shifted=True)


@op(promote="float", names="special.chebyshev_polynomial_t")
def chebyshev_polynomial_t(input: Operand, n: Operand) -> Array:
    """Chebyshev's polynomial of the first kind: cos(n arccos(input)). Shape: broadcast."""
    return _polynomial("chebyshev_polynomial_t", input, n, lambda x: x, _chebyshev, _KIND_T)


@op(promote="float", names="special.chebyshev_polynomial_u")
def chebyshev_polynomial_u(input: Operand, n: Operand) -> Array:
    """Chebyshev's polynomial of the second kind, which begins with 1 and 2 x. Shape: broadcast."""
    return _polynomial("chebyshev_polynomial_u", input, n, lambda x: 2 * x, _chebyshev, _KIND_U)


@op(promote="float", names="special.chebyshev_polynomial_v")
def chebyshev_polynomial_v(input: Operand, n: Operand) -> Array:
    """Chebyshev's polynomial of the third kind, which begins with 1 and 2 x - 1. Shape: broadcast."""
    return _polynomial("chebyshev_polynomial_v", input, n, lambda x: 2 * x - 1, _chebyshev, _KIND_V)


@op(promote="float", names="special.chebyshev_polynomial_w")
def chebyshev_polynomial_w(input: Operand, n: Operand) -> Array:
    """Chebyshev's polynomial of the fourth kind, which begins with 1 and 2 x + 1. Shape: broadcast."""
    return _polynomial("chebyshev_polynomial_w", input, n, lambda x: 2 * x + 1, _chebyshev, _KIND_W)


@op(promote="float", names="special.shifted_chebyshev_polynomial_t")
def shifted_chebyshev_polynomial_t(input: Operand, n: Operand) -> Array:
    """Chebyshev's polynomial of the first kind at 2 x - 1. Shape: broadcast."""
    return _polynomial("shifted_chebyshev_polynomial_t", input, n, lambda x: 2 * x - 1, _shifted, _SHIFTED_T)


@op(promote="float", names="special.shifted_chebyshev_polynomial_u")
def shifted_chebyshev_polynomial_u(input: Operand, n: Operand) -> Array:
    """Chebyshev's polynomial of the second kind at 2 x - 1. Shape: broadcast."""
    return _polynomial("shifted_chebyshev_polynomial_u", input, n, lambda x: 4 * x - 2, _shifted, _SHIFTED_U)


@op(promote="float", names="special.shifted_chebyshev_polynomial_v")
def shifted_chebyshev_polynomial_v(input: Operand, n: Operand) -> Array:
    """Chebyshev's polynomial of the third kind at 2 x - 1. Shape: broadcast."""
    return _polynomial("shifted_chebyshev_polynomial_v", input, n, lambda x: 4 * x - 3, _shifted, _SHIFTED_V)


@op(promote="float", names="special.shifted_chebyshev_polynomial_w")
def shifted_chebyshev_polynomial_w(input: Operand, n: Operand) -> Array:
    """Chebyshev's polynomial of the fourth kind at 2 x - 1. Shape: broadcast."""
    return _polynomial("shifted_chebyshev_polynomial_w", input, n, lambda x: 4 * x - 1, _shifted, _SHIFTED_W)


@op(promote="float", names="special.hermite_polynomial_h")
def hermite_polynomial_h(input: Operand, n: Operand) -> Array:
    """The physicists' Hermite polynomial, which begins with 1 and 2 x. Shape: broadcast."""
    return _polynomial(
        "hermite_polynomial_h", input, n, lambda x: 2 * x, lambda k, x, now, before: 2 * x * now - 2 * k * before,
        _too_high,
    )  # fmt: skip


@op(promote="float", names="special.hermite_polynomial_he")
def hermite_polynomial_he(input: Operand, n: Operand) -> Array:
    """The probabilists' Hermite polynomial, which begins with 1 and x. Shape: broadcast."""
    return _polynomial(
        "hermite_polynomial_he", input, n, lambda x: x, lambda k, x, now, before: x * now - k * before, _too_high
    )


@op(promote="float", names="special.laguerre_polynomial_l")
def laguerre_polynomial_l(input: Operand, n: Operand) -> Array:
    """Laguerre's polynomial, which begins with 1 and 1 - x. Shape: broadcast."""

    def step(k: Array, x: Array, now: Array, before: Array) -> Array:
        return ((2 * k + (1 - x)) * now - k * before) / (k + 1)

    return _polynomial("laguerre_polynomial_l", input, n, lambda x: 1 - x, step, _at_zero)


@op(promote="float", names="special.legendre_polynomial_p")
def legendre_polynomial_p(input: Operand, n: Operand) -> Array:
    """Legendre's polynomial, which begins with 1 and x. Shape: broadcast."""

    def step(k: Array, x: Array, now: Array, before: Array) -> Array:
        return ((2 * k + 1) * x * now - k * before) / (k + 1)

    return _polynomial("legendre_polynomial_p", input, n, lambda x: x, step, _at_ends)
