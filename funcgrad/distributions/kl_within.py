"""KL divergences between two distributions of one kind, each in the form that does not cancel when they are near."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Sequence
from typing import Any

from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions.bernoulli import Bernoulli
from funcgrad.distributions.beta import Beta
from funcgrad.distributions.binomial import Binomial
from funcgrad.distributions.categorical import Categorical
from funcgrad.distributions.cauchy import Cauchy
from funcgrad.distributions.continuous_bernoulli import ContinuousBernoulli
from funcgrad.distributions.dirichlet import Dirichlet
from funcgrad.distributions.distribution import holds
from funcgrad.distributions.exponential import Exponential
from funcgrad.distributions.gamma import Gamma
from funcgrad.distributions.geometric import Geometric
from funcgrad.distributions.gumbel import Gumbel
from funcgrad.distributions.half_normal import HalfNormal
from funcgrad.distributions.kl import kl_divergence, register_kl
from funcgrad.distributions.laplace import Laplace
from funcgrad.distributions.lowrank_multivariate_normal import LowRankMultivariateNormal
from funcgrad.distributions.multivariate_normal import MultivariateNormal
from funcgrad.distributions.normal import Normal
from funcgrad.distributions.one_hot_categorical import OneHotCategorical
from funcgrad.distributions.pareto import Pareto
from funcgrad.distributions.poisson import Poisson
from funcgrad.distributions.triangular import half_log_det, squared_distance, squared_norm
from funcgrad.distributions.uniform import Uniform
from funcgrad.distributions.utils import euler_constant
from funcgrad.linalg import solve_triangular
from funcgrad.nn.functional import softplus


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Bernoulli, q: Bernoulli) -> Tensor:
    ones = _share(p.probs, q.probs == 0, softplus(-q.logits) - softplus(-p.logits))
    return ones + _share(1 - p.probs, q.probs == 1, softplus(q.logits) - softplus(p.logits))


@register_kl(Categorical, Categorical)
def _categorical(p: Categorical, q: Categorical) -> Tensor:
    return _share(p.probs, q.probs == 0, p.logits - q.logits).sum(-1)


def _share(p: Tensor, is_impossible: Tensor, log_ratio: Tensor) -> Tensor:
    """Return p log(p / q) of one outcome: infinite where q is 0, but 0 where p is."""
    return fg.where(p == 0, 0, fg.where(is_impossible, math.inf, p * log_ratio))


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p: OneHotCategorical, q: OneHotCategorical) -> Tensor:
    return _categorical(p._categorical, q._categorical)


@register_kl(Binomial, Binomial)
def _binomial(p: Binomial, q: Binomial) -> Tensor:
    if not holds(p.total_count >= q.total_count):
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is not implemented")
    per_trial = p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    return fg.where(p.total_count > q.total_count, math.inf, p.total_count * per_trial)


@register_kl(Geometric, Geometric)
def _geometric(p: Geometric, q: Geometric) -> Tensor:
    return -p.entropy() - fg.log1p(-q.probs) / p.probs - q.logits


@register_kl(Poisson, Poisson)
def _poisson(p: Poisson, q: Poisson) -> Tensor:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p: ContinuousBernoulli, q: ContinuousBernoulli) -> Tensor:
    normalizers = p._cont_bern_log_norm() + fg.log1p(-p.probs) - q._cont_bern_log_norm() - fg.log1p(-q.probs)
    return p.mean * (p.logits - q.logits) + normalizers


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Dirichlet, q: Dirichlet) -> Tensor:
    a, b = p.concentration, q.concentration
    mean_logs = a.digamma() - a.sum(-1, keepdim=True).digamma()
    return q._log_normalizer(b) - p._log_normalizer(a) + ((a - b) * mean_logs).sum(-1)


@register_kl(Beta, Beta)
def _beta(p: Beta, q: Beta) -> Tensor:
    return _dirichlet(p._dirichlet, q._dirichlet)


@register_kl(Exponential, Exponential)
def _exponential(p: Exponential, q: Exponential) -> Tensor:
    ratio = q.rate / p.rate
    return ratio - 1 - ratio.log()


@register_kl(Gamma, Gamma)
def _gamma(p: Gamma, q: Gamma) -> Tensor:
    a, b = p.concentration, q.concentration
    shapes = fg.lgamma(b) - fg.lgamma(a) + (a - b) * fg.digamma(a)
    return shapes + b * (p.rate / q.rate).log() + (q.rate - p.rate) * (a / p.rate)


@register_kl(Gumbel, Gumbel)
def _gumbel(p: Gumbel, q: Gumbel) -> Tensor:
    ratio, offset = p.scale / q.scale, (p.loc - q.loc) / q.scale
    tail = fg.exp((1 + ratio).lgamma() - offset)
    return offset - ratio.log() + ratio * euler_constant + tail - (1 + euler_constant)


@register_kl(Laplace, Laplace)
def _laplace(p: Laplace, q: Laplace) -> Tensor:
    ratio, distance = p.scale / q.scale, (p.loc - q.loc).abs()
    return distance / q.scale + ratio * fg.exp(-distance / p.scale) - ratio.log() - 1


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Cauchy, q: Cauchy) -> Tensor:
    """Source: Chyzak and Nielsen 2019, https://arxiv.org/abs/1905.10965."""
    return ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log() - (4 * p.scale * q.scale).log()


@register_kl(Normal, Normal)
def _normal(p: Normal, q: Normal) -> Tensor:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: HalfNormal, q: HalfNormal) -> Tensor:
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Pareto, Pareto)
def _pareto(p: Pareto, q: Pareto) -> Tensor:
    ratio = q.alpha / p.alpha
    divergence = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return fg.where(p.scale < q.scale, math.inf, divergence)


@register_kl(Uniform, Uniform)
def _uniform(p: Uniform, q: Uniform) -> Tensor:
    return fg.where((q.low > p.low) | (q.high < p.high), math.inf, (q._length / p._length).log())


@register_kl(MultivariateNormal, MultivariateNormal)
@register_kl(MultivariateNormal, LowRankMultivariateNormal)
@register_kl(LowRankMultivariateNormal, MultivariateNormal)
@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _multivariate_normal(p: Any, q: Any) -> Tensor:
    """Return (log det Q - log det P + trace(Q^-1 P) + d^T Q^-1 d - n) / 2; P and Q: covariances, d = q.loc - p.loc.

    Of two factored covariances the logarithms are halved apart, as torch does.
    """
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two (Low Rank) Multivariate Normals with different event shapes cannot be computed"
        )
    distance = _distance(q, q.loc - p.loc)
    if isinstance(p, MultivariateNormal) and isinstance(q, MultivariateNormal):
        halves = half_log_det(q._unbroadcasted_scale_tril) - half_log_det(p._unbroadcasted_scale_tril)
        return halves + 0.5 * (_trace_of_ratio(p, q) + distance - p.event_shape[0])
    log_dets = _log_det(q) - _log_det(p)
    return 0.5 * (log_dets + _trace_of_ratio(p, q) + distance - p.event_shape[0])


def _log_det(normal: Any) -> Tensor:
    if isinstance(normal, MultivariateNormal):
        return 2 * half_log_det(normal._unbroadcasted_scale_tril)
    return normal.log_det()


def _distance(normal: Any, offset: Tensor) -> Tensor:
    if isinstance(normal, MultivariateNormal):
        return squared_distance(normal._unbroadcasted_scale_tril, offset)
    return normal.squared_distance(offset)


def _trace_of_ratio(p: Any, q: Any) -> Tensor:
    """Return trace(Q^-1 P), the sum over the factors F of P = sum(F F^T) of trace(F^T Q^-1 F)."""
    if isinstance(p, MultivariateNormal):
        factors = [p._unbroadcasted_scale_tril]
    else:
        factors = [p._unbroadcasted_cov_factor, fg.diag_embed(p._unbroadcasted_cov_diag.sqrt())]
    if isinstance(q, MultivariateNormal):
        lower = q._unbroadcasted_scale_tril
        return _total([squared_norm(solve_triangular(lower, factor, upper=False)) for factor in factors])
    scale, part = q._unbroadcasted_cov_diag.rsqrt().unsqueeze(-1), q.solved_factor()
    return _total([squared_norm(factor * scale) - squared_norm(part @ factor) for factor in factors])


def _total(parts: Sequence[Tensor]) -> Tensor:
    return functools.reduce(operator.add, parts)
