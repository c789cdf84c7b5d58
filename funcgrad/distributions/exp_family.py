"""Exponential families: exp(<natural parameters, statistics> - log normaliser); entropy follows from the normaliser."""

from __future__ import annotations

from typing import Any

from funcgrad._tensor.tensor import Tensor
from funcgrad.autograd import grad
from funcgrad.distributions.distribution import Distribution
from funcgrad.distributions.utils import Unwritten

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """A family with densities exp(<t(x), theta> - F(theta) + k(x)).

    A subclass writes `_natural_params` (theta, a tuple), `_log_normalizer` (F) and `_mean_carrier_measure` (the mean
    of k), and is given the entropy.
    """

    _natural_params: Any = Unwritten("its natural parameters")
    _log_normalizer: Any = Unwritten("its log normaliser")
    _mean_carrier_measure: Any = Unwritten("the mean of its carrier measure")

    def entropy(self) -> Tensor:
        """Return F(theta) - <theta, dF/dtheta> - E k: the mean of the statistics is the normaliser's gradient."""
        carrier = self._mean_carrier_measure
        parameters, normalizer, means = normalizer_and_means(self)
        entropy = normalizer - carrier
        for parameter, mean in zip(parameters, means, strict=True):
            entropy = entropy - (parameter * mean).reshape((*self._batch_shape, -1)).sum(-1)
        return entropy


def normalizer_and_means(family: ExponentialFamily) -> tuple[list[Tensor], Tensor, tuple[Tensor, ...]]:
    """Return detached natural parameters, the log normaliser there, and its gradients: the means of the statistics."""
    parameters = [p.detach().requires_grad_() for p in family._natural_params]
    normalizer = family._log_normalizer(*parameters)
    return parameters, normalizer, grad(normalizer.sum(), parameters, create_graph=True)
