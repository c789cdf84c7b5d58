"""How a sample moves when its distribution's parameter does: implicit gradients of gamma and Dirichlet samples.

A sample x of a distribution function F(x; a) is held at its quantile: dx/da = -(dF/da) / density (Figurnov, Mohamed,
Mnih 2018, https://arxiv.org/abs/1805.08498).
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy.special import digamma

from funcgrad._ops.table import Array, Mask, Op

_STEPS = np.linspace(-4.0, 4.0, 128)  # double exponential quadrature on (0, inf): relative errors below 1e-9
_NODES = np.exp(_STEPS - np.exp(-_STEPS))
_WEIGHTS = _NODES * (1 + np.exp(-_STEPS)) * (_STEPS[1] - _STEPS[0])


@jax.custom_jvp
def _gamma_path(concentration: Array, drawn: Array) -> Array:
    return drawn


@_gamma_path.defjvp
def _gamma_jvp(primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Array, Array]:
    concentration, drawn = primals
    wide = jnp.promote_types(drawn.dtype, np.float32)
    slope = lax.random_gamma_grad(concentration.astype(wide), drawn.astype(wide))  # type: ignore[call-issue]  # its decorator
    return drawn, slope.astype(drawn.dtype) * tangents[0]


@jax.custom_jvp
def _dirichlet_path(concentration: Array, drawn: Array) -> Array:
    return drawn


@_dirichlet_path.defjvp
def _dirichlet_jvp(primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Array, Array]:
    """Move one number along its own marginal, a beta distribution; the others shrink or grow in proportion."""
    concentration, drawn = primals
    rest = concentration.sum(-1, keepdims=True) - concentration
    moved = dirichlet_slope(drawn, concentration, rest) * tangents[0]
    return drawn, moved - drawn * moved.sum(-1, keepdims=True)


def dirichlet_slope(x: Array, a: Array, b: Array) -> Array:
    """Return dx/da / (1 - x) of a Beta(a, b) sample x.

    It is an integral of t^(a - 1) (1 - t)^(b - 1) (log t - E log t) from 0 to x, or from x to 1 where x is above the
    mean; t = x exp(-s / a), or 1 - t = (1 - x) exp(-s / b), makes it smooth on (0, inf).
    """
    kind = x.dtype
    x, a, b = (jnp.expand_dims(v.astype(np.float64), -1) for v in (x, a, b))
    x = jnp.clip(x, np.finfo(np.float32).tiny, 1 - np.finfo(np.float64).epsneg)
    mean_log = digamma(a) - digamma(a + b)
    is_low = x * (a + b) <= a
    own, other = jnp.where(is_low, a, b), jnp.where(is_low, b, a)  # exponents at the end of t, and at the far one
    near = jnp.where(is_low, x, 1 - x)
    scale = 1 + jnp.sqrt(own)
    s = scale * _NODES
    part = near * jnp.exp(-s / own)
    log_density = (other - 1) * (jnp.log1p(-part) - jnp.log1p(-near)) - s
    log_t = jnp.where(is_low, jnp.log(near) - s / own, jnp.log1p(-part))
    integral = (jnp.exp(log_density) * (log_t - mean_log) * _WEIGHTS * scale).sum(-1, keepdims=True) / own
    return jnp.squeeze(jnp.where(is_low, -x / (1 - x) * integral, integral), -1).astype(kind)


def _gamma_drawn(concentration: Array, drawn: Mask) -> Array:
    return _gamma_path(concentration, drawn)


def _dirichlet_drawn(concentration: Array, drawn: Mask) -> Array:
    return _dirichlet_path(concentration, drawn)


GAMMA_DRAWN = Op(_gamma_drawn, grad="StandardGammaBackward0")
DIRICHLET_DRAWN = Op(_dirichlet_drawn, grad="_DirichletBackward")
