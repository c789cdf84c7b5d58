"""The Dirichlet distribution."""

from __future__ import annotations

from collections.abc import Sequence

from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions import constraints
from funcgrad.distributions.distribution import checks_value
from funcgrad.distributions.exp_family import ExponentialFamily
from funcgrad.nn.functional import one_hot
from funcgrad.random.functions import _sample_dirichlet

__all__ = ["Dirichlet"]


class Dirichlet(ExponentialFamily):
    """Probabilities of k outcomes, of density prod(x^(a - 1)) up to a constant. Shape: concentration a (*batch, k)."""

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.ndim < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args)

    @property
    def _total(self) -> Tensor:
        return self.concentration.sum(-1, keepdim=True)

    @property
    def mean(self) -> Tensor:
        """a / sum(a)."""
        return self.concentration / self._total

    @property
    def mode(self) -> Tensor:
        """(a - 1) / sum(a - 1), none negative; where all a < 1 the corner of the largest."""
        excess = (self.concentration - 1).clamp(min=0)
        inner = excess / excess.sum(-1, keepdim=True)
        corner = one_hot(inner.argmax(-1), inner.shape[-1]).to(inner)
        return fg.where((self.concentration < 1).all(-1, keepdim=True), corner, inner)

    @property
    def variance(self) -> Tensor:
        """m (1 - m) / (sum(a) + 1), m being the mean."""
        total = self._total
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draw probabilities; the gradient to the concentration is implicit (Figurnov et al. 2018)."""
        return _sample_dirichlet(self.concentration.expand(self._extended_shape(sample_shape)))

    @checks_value
    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        return fg.xlogy(self.concentration - 1, value).sum(-1) - self._log_normalizer(self.concentration)

    def entropy(self) -> Tensor:
        """Return log B(a) + (sum(a) - k) digamma(sum(a)) - sum((a - 1) digamma(a))."""
        a, total = self.concentration, self.concentration.sum(-1)
        own = ((a - 1) * fg.digamma(a)).sum(-1)
        return self._log_normalizer(a) + (total - a.shape[-1]) * fg.digamma(total) - own

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.concentration,)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        return x.lgamma().sum(-1) - fg.lgamma(x.sum(-1))
