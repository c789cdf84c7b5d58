"""Rows of orthogonal polynomials: Chebyshev's four kinds (plain and shifted to [0, 1]), Hermite, Laguerre, Legendre.

Each is a recurrence of two terms, p[k + 1] = step(k, x, p[k], p[k - 1]) from p[0] = 1; of negative degree it is 0. The
degrees are a tensor too, so as many steps are made as the largest asks for. No gradients, as in torch.
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


def _polynomial(name: str, input: Array, n: Array, first: Callable[[Array], Array], step: Step) -> Array:
    require_width(f"{name}_cpu", input, n)
    x, degree = broadcast(input, n)
    degree = lax.convert_element_type(jnp.where(jnp.abs(degree) < _MOST, degree, -1), np.int64)
    one = jnp.ones_like(x)

    def advance(k: Array, pair: tuple[Array, Array]) -> tuple[Array, Array]:
        before, now = pair
        later = step(k.astype(x.dtype), x, now, before)
        return jnp.where(k < degree, now, before), jnp.where(k < degree, later, now)

    last = jnp.max(degree, initial=1)
    _, found = lax.fori_loop(jnp.ones_like(last), last, advance, (one, first(x).astype(x.dtype)))
    return jnp.where(degree < 0, 0, jnp.where(degree == 0, one, found))


def _chebyshev(k: Array, x: Array, now: Array, before: Array) -> Array:
    return 2 * x * now - before


def _shifted(k: Array, x: Array, now: Array, before: Array) -> Array:
    return _chebyshev(k, 2 * x - 1, now, before)


@op(promote="float", names="special.chebyshev_polynomial_t")
def chebyshev_polynomial_t(input: Operand, n: Operand) -> Array:
    """Chebyshev's polynomial of the first kind: cos(n arccos(input)). Shape: broadcast."""
    return _polynomial("chebyshev_polynomial_t", input, n, lambda x: x, _chebyshev)


@op(promote="float", names="special.chebyshev_polynomial_u")
def chebyshev_polynomial_u(input: Operand, n: Operand) -> Array:
    """Chebyshev's polynomial of the second kind, which begins with 1 and 2 x. Shape: broadcast."""
    return _polynomial("chebyshev_polynomial_u", input, n, lambda x: 2 * x, _chebyshev)


@op(promote="float", names="special.chebyshev_polynomial_v")
def chebyshev_polynomial_v(input: Operand, n: Operand) -> Array:
    """Chebyshev's polynomial of the third kind, which begins with 1 and 2 x - 1. Shape: broadcast."""
    return _polynomial("chebyshev_polynomial_v", input, n, lambda x: 2 * x - 1, _chebyshev)


@op(promote="float", names="special.chebyshev_polynomial_w")
def chebyshev_polynomial_w(input: Operand, n: Operand) -> Array:
    """Chebyshev's polynomial of the fourth kind, which begins with 1 and 2 x + 1. Shape: broadcast."""
    return _polynomial("chebyshev_polynomial_w", input, n, lambda x: 2 * x + 1, _chebyshev)


@op(promote="float", names="special.shifted_chebyshev_polynomial_t")
def shifted_chebyshev_polynomial_t(input: Operand, n: Operand) -> Array:
    """Chebyshev's polynomial of the first kind at 2 x - 1. Shape: broadcast."""
    return _polynomial("shifted_chebyshev_polynomial_t", input, n, lambda x: 2 * x - 1, _shifted)


@op(promote="float", names="special.shifted_chebyshev_polynomial_u")
def shifted_chebyshev_polynomial_u(input: Operand, n: Operand) -> Array:
    """Chebyshev's polynomial of the second kind at 2 x - 1. Shape: broadcast."""
    return _polynomial("shifted_chebyshev_polynomial_u", input, n, lambda x: 4 * x - 2, _shifted)


@op(promote="float", names="special.shifted_chebyshev_polynomial_v")
def shifted_chebyshev_polynomial_v(input: Operand, n: Operand) -> Array:
    """Chebyshev's polynomial of the third kind at 2 x - 1. Shape: broadcast."""
    return _polynomial("shifted_chebyshev_polynomial_v", input, n, lambda x: 4 * x - 3, _shifted)


@op(promote="float", names="special.shifted_chebyshev_polynomial_w")
def shifted_chebyshev_polynomial_w(input: Operand, n: Operand) -> Array:
    """Chebyshev's polynomial of the fourth kind at 2 x - 1. Shape: broadcast."""
    return _polynomial("shifted_chebyshev_polynomial_w", input, n, lambda x: 4 * x - 1, _shifted)


@op(promote="float", names="special.hermite_polynomial_h")
def hermite_polynomial_h(input: Operand, n: Operand) -> Array:
    """The physicists' Hermite polynomial, which begins with 1 and 2 x. Shape: broadcast."""
    return _polynomial(
        "hermite_polynomial_h", input, n, lambda x: 2 * x, lambda k, x, now, before: 2 * x * now - 2 * k * before
    )


@op(promote="float", names="special.hermite_polynomial_he")
def hermite_polynomial_he(input: Operand, n: Operand) -> Array:
    """The probabilists' Hermite polynomial, which begins with 1 and x. Shape: broadcast."""
    return _polynomial("hermite_polynomial_he", input, n, lambda x: x, lambda k, x, now, before: x * now - k * before)


@op(promote="float", names="special.laguerre_polynomial_l")
def laguerre_polynomial_l(input: Operand, n: Operand) -> Array:
    """Laguerre's polynomial, which begins with 1 and 1 - x. Shape: broadcast."""

    def step(k: Array, x: Array, now: Array, before: Array) -> Array:
        return ((2 * k + 1 - x) * now - k * before) / (k + 1)

    return _polynomial("laguerre_polynomial_l", input, n, lambda x: 1 - x, step)


@op(promote="float", names="special.legendre_polynomial_p")
def legendre_polynomial_p(input: Operand, n: Operand) -> Array:
    """Legendre's polynomial, which begins with 1 and x. Shape: broadcast."""

    def step(k: Array, x: Array, now: Array, before: Array) -> Array:
        return ((2 * k + 1) * x * now - k * before) / (k + 1)

    return _polynomial("legendre_polynomial_p", input, n, lambda x: x, step)
