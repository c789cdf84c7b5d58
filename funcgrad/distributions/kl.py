"""Kullback-Leibler divergences: the table of pairs, how a pair is found in it, and what holds for whole families."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions.distribution import Distribution
from funcgrad.distributions.exp_family import ExponentialFamily, normalizer_and_means
from funcgrad.distributions.independent import Independent
from funcgrad.distributions.transformed_distribution import TransformedDistribution
from funcgrad.distributions.utils import sum_rightmost

__all__ = ["kl_divergence", "register_kl"]

Divergence = Callable[[Any, Any], Tensor]

_KL_REGISTRY: dict[tuple[type, type], Divergence] = {}
_KL_MEMOIZE: dict[tuple[type, type], Divergence | None] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Divergence], Divergence]:
    """Return a decorator that enters a function (p, q) -> KL(p || q) for these classes and their subclasses.

    The classes may be bases of a library that do not derive from Distribution. TypeError: no classes.
    """
    for name, given in (("type_p", type_p), ("type_q", type_q)):
        if not isinstance(given, type):
            raise TypeError(f"Expected {name} to be a Distribution subclass but got {given}")

    def enter(divergence: Divergence) -> Divergence:
        _KL_REGISTRY[type_p, type_q] = divergence
        _KL_MEMOIZE.clear()
        return divergence

    return enter


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """Return KL(p || q) = E_p[log p(x) - log q(x)]. Shape: both batch shapes, broadcast.

    NotImplementedError: no function is entered for this pair.

    >>> kl_divergence(Normal(mean, std), Normal(0, 1)).sum(-1)
    """
    pair = type(p), type(q)
    if pair not in _KL_MEMOIZE:
        _KL_MEMOIZE[pair] = _most_specific(*pair)
    divergence = _KL_MEMOIZE[pair]
    if divergence is None:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}"
        )
    return divergence(p, q)


def _most_specific(type_p: type, type_q: type) -> Divergence | None:
    """Return the entry nearest to both classes; a warning where p's nearest and q's nearest are two."""
    entries = [(p, q) for p, q in _KL_REGISTRY if issubclass(type_p, p) and issubclass(type_q, q)]
    if not entries:
        return None
    steps_p, steps_q = type_p.__mro__.index, type_q.__mro__.index
    by_p = min(entries, key=lambda pair: (steps_p(pair[0]), steps_q(pair[1])))
    by_q = min(entries, key=lambda pair: (steps_q(pair[1]), steps_p(pair[0])))
    if _KL_REGISTRY[by_p] is not _KL_REGISTRY[by_q]:
        warnings.warn(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). "
            f"Please register_kl({by_p[0].__name__}, {by_q[1].__name__})",
            RuntimeWarning,
            stacklevel=3,
        )
    return _KL_REGISTRY[by_p]


@register_kl(ExponentialFamily, ExponentialFamily)
def _within_family(p: ExponentialFamily, q: ExponentialFamily) -> Tensor:
    """Return the Bregman divergence of the log normaliser between the natural parameters."""
    if type(p) is not type(q):
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families cannot be computed using Bregman "
            "divergences"
        )
    own, normalizer, means = normalizer_and_means(p)
    others = q._natural_params
    divergence = q._log_normalizer(*others) - normalizer
    for mine, other, mean in zip(own, others, means, strict=True):
        divergence = divergence - sum_rightmost((other - mine) * mean, len(q.event_shape))
    return divergence


@register_kl(TransformedDistribution, TransformedDistribution)
def _of_bases(p: TransformedDistribution, q: TransformedDistribution) -> Tensor:
    """Return the bases': the same bijection on both sides changes nothing."""
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError("KL between transformed distributions needs equal transforms and event shapes")
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Independent, Independent)
def _of_independent(p: Independent, q: Independent) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("KL between Independent distributions needs equal reinterpreted_batch_ndims")
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)
