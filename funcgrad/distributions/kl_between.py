"""KL divergences between distributions of different kinds: KL(p || q) = -H(p) - E_p[log q(x)].

What E_p[log q] takes of p are a few expectations (of x, x^2, log x, exp(-x / s)), so one formula for each q serves
all p. Where p reaches outside of q's support the divergence is infinite.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import singledispatch
from typing import Any

from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions.bernoulli import Bernoulli
from funcgrad.distributions.beta import Beta
from funcgrad.distributions.binomial import Binomial
from funcgrad.distributions.continuous_bernoulli import ContinuousBernoulli
from funcgrad.distributions.distribution import Distribution
from funcgrad.distributions.exponential import Exponential
from funcgrad.distributions.gamma import Gamma
from funcgrad.distributions.gumbel import Gumbel
from funcgrad.distributions.kl import register_kl
from funcgrad.distributions.laplace import Laplace
from funcgrad.distributions.normal import Normal
from funcgrad.distributions.pareto import Pareto
from funcgrad.distributions.poisson import Poisson
from funcgrad.distributions.uniform import Uniform
from funcgrad.distributions.utils import euler_constant

Expectation = Callable[[Any, Any], Tensor]


@singledispatch
def _mean_log(p: Any) -> Tensor:
    """Return E log x."""
    raise NotImplementedError(f"E log x of {type(p).__name__}")


@_mean_log.register
def _(p: Beta) -> Tensor:
    return p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma()


@_mean_log.register
def _(p: Exponential) -> Tensor:
    return -euler_constant - p.rate.log()


@_mean_log.register
def _(p: Gamma) -> Tensor:
    return p.concentration.digamma() - p.rate.log()


@_mean_log.register
def _(p: Pareto) -> Tensor:
    return p.scale.log() + p.alpha.reciprocal()


@_mean_log.register
def _(p: Uniform) -> Tensor:
    return (fg.xlogy(p.high, p.high) - fg.xlogy(p.low, p.low)) / p._length - 1


@singledispatch
def _mean_decay(p: Any, scale: Tensor) -> Tensor:
    """Return E exp(-x / scale)."""
    raise NotImplementedError(f"E exp(-x / scale) of {type(p).__name__}")


@_mean_decay.register
def _(p: Exponential, scale: Tensor) -> Tensor:
    return p.rate * scale / (p.rate * scale + 1)


@_mean_decay.register
def _(p: Gamma, scale: Tensor) -> Tensor:
    return (1 + (p.rate * scale).reciprocal()).pow(-p.concentration)


@_mean_decay.register
def _(p: Normal, scale: Tensor) -> Tensor:
    return fg.exp(0.5 * (p.scale / scale).pow(2) - p.loc / scale)


@_mean_decay.register
def _(p: Uniform, scale: Tensor) -> Tensor:
    return scale / p._length * (fg.exp(-p.low / scale) - fg.exp(-p.high / scale))


def _log_normal_density(p: Any, q: Normal) -> Tensor:
    square = p.variance + (p.mean - q.loc).pow(2)
    return -0.5 * (square / q.variance + fg.log(2 * math.pi * q.variance))


def _log_exponential_density(p: Any, q: Exponential) -> Tensor:
    return q.rate.log() - q.rate * p.mean


def _log_gamma_density(p: Any, q: Gamma) -> Tensor:
    powers = q.concentration * q.rate.log() + (q.concentration - 1) * _mean_log(p)
    return powers - q.concentration.lgamma() - q.rate * p.mean


def _log_gumbel_density(p: Any, q: Gumbel) -> Tensor:
    decay = fg.exp(q.loc / q.scale) * _mean_decay(p, q.scale)
    return (q.loc - p.mean) / q.scale - decay - q.scale.log()


def _log_laplace_density(p: Normal, q: Laplace) -> Tensor:
    offset = p.loc - q.loc
    scaled = offset / p.scale
    distance = math.sqrt(2 / math.pi) * p.scale * fg.exp(-0.5 * scaled.pow(2)) + offset * fg.erf(scaled / math.sqrt(2))
    return -distance / q.scale - (2 * q.scale).log()


def _log_uniform_density(p: Any, q: Uniform) -> Tensor:
    return -q._length.log()


def _log_beta_density(p: Uniform, q: Beta) -> Tensor:
    from_above = _mean_log(Uniform(1 - p.high, 1 - p.low, validate_args=False))
    powers = (q.concentration1 - 1) * _mean_log(p) + (q.concentration0 - 1) * from_above
    return powers - q._log_normalizer(q.concentration1, q.concentration0)


def _log_continuous_bernoulli_density(p: Any, q: ContinuousBernoulli) -> Tensor:
    return p.mean * q.logits + fg.log1p(-q.probs) + q._cont_bern_log_norm()


def _log_pareto_density(p: Uniform, q: Pareto) -> Tensor:
    return q.alpha.log() + q.alpha * q.scale.log() - (q.alpha + 1) * _mean_log(p)


def _log_poisson_probability(p: Bernoulli, q: Poisson) -> Tensor:
    return p.probs * q.rate.log() - q.rate


def _expected(of_q: Expectation, is_outside: Expectation | None = None) -> Expectation:
    def divergence(p: Any, q: Any) -> Tensor:
        finite = -p.entropy() - of_q(p, q)
        return finite if is_outside is None else fg.where(is_outside(p, q), math.inf, finite)

    return divergence


def _infinite(p: Distribution, q: Distribution) -> Tensor:
    shape = fg.broadcast_shapes(p.batch_shape, q.batch_shape)
    return fg.full(shape, math.inf, dtype=p.mean.dtype, device=p.mean.device)


def _unit_interval_leaves(p: Any, q: Uniform) -> Tensor:
    return (q.low > 0) | (q.high < 1)


def _unit_interval_touches(p: Any, q: Uniform) -> Tensor:
    return (q.low >= 0) | (q.high <= 1)  # torch counts equal borders as outside here, and below


def _leaves_unit_interval(p: Uniform, q: Any) -> Tensor:
    return (p.low < 0) | (p.high > 1)


def _touches_unit_interval(p: Uniform, q: Any) -> Tensor:
    return (p.low <= 0) | (p.high >= 1)


def _below_zero(p: Uniform, q: Any) -> Tensor:
    return p.low < 0


def _below_scale(p: Uniform, q: Pareto) -> Tensor:
    return p.low < q.scale


_EXPECTED: dict[tuple[type, type], Expectation] = {
    (Bernoulli, Poisson): _expected(_log_poisson_probability),
    (Beta, ContinuousBernoulli): _expected(_log_continuous_bernoulli_density),
    (Beta, Exponential): _expected(_log_exponential_density),
    (Beta, Gamma): _expected(_log_gamma_density),
    (Beta, Normal): _expected(_log_normal_density),
    (Beta, Uniform): _expected(_log_uniform_density, _unit_interval_leaves),
    (ContinuousBernoulli, Exponential): _expected(_log_exponential_density),
    (ContinuousBernoulli, Normal): _expected(_log_normal_density),
    (ContinuousBernoulli, Uniform): _expected(_log_uniform_density, _unit_interval_touches),
    (Exponential, Gamma): _expected(_log_gamma_density),
    (Exponential, Gumbel): _expected(_log_gumbel_density),
    (Exponential, Normal): _expected(_log_normal_density),
    (Gamma, Exponential): _expected(_log_exponential_density),
    (Gamma, Gumbel): _expected(_log_gumbel_density),
    (Gamma, Normal): _expected(_log_normal_density),
    (Gumbel, Normal): _expected(_log_normal_density),
    (Laplace, Normal): _expected(_log_normal_density),
    (Normal, Gumbel): _expected(_log_gumbel_density),
    (Normal, Laplace): _expected(_log_laplace_density),
    (Pareto, Exponential): _expected(_log_exponential_density),
    (Pareto, Gamma): _expected(_log_gamma_density),
    (Pareto, Normal): _expected(_log_normal_density),
    (Uniform, Beta): _expected(_log_beta_density, _leaves_unit_interval),
    (Uniform, ContinuousBernoulli): _expected(_log_continuous_bernoulli_density, _touches_unit_interval),
    (Uniform, Exponential): _expected(_log_exponential_density, _below_zero),
    (Uniform, Gamma): _expected(_log_gamma_density, _below_zero),
    (Uniform, Gumbel): _expected(_log_gumbel_density),
    (Uniform, Normal): _expected(_log_normal_density),
    (Uniform, Pareto): _expected(_log_pareto_density, _below_scale),
}
_OUTSIDE: dict[type, tuple[type, ...]] = {
    Beta: (Pareto,),
    ContinuousBernoulli: (Pareto,),
    Exponential: (Beta, ContinuousBernoulli, Pareto, Uniform),
    Gamma: (Beta, ContinuousBernoulli, Pareto, Uniform),
    Gumbel: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Laplace: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Normal: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Pareto: (Beta, ContinuousBernoulli, Uniform),
    Poisson: (Bernoulli, Binomial),
}

for (_p, _q), _divergence in _EXPECTED.items():
    register_kl(_p, _q)(_divergence)
for _p, _others in _OUTSIDE.items():
    for _q in _others:
        register_kl(_p, _q)(_infinite)
