"""The gamma distribution."""

from __future__ import annotations

from collections.abc import Sequence

from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions import constraints
from funcgrad.distributions.distribution import checks_value
from funcgrad.distributions.exp_family import ExponentialFamily
from funcgrad.distributions.utils import Parameter, broadcast_all, smallest
from funcgrad.random.functions import _standard_gamma
from funcgrad.special import gammainc

__all__ = ["Gamma"]


class Gamma(ExponentialFamily):
    """Density rate^a x^(a - 1) exp(-rate x) / Gamma(a), a being the concentration."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, concentration: Parameter, rate: Parameter, validate_args: bool | None = None) -> None:
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """a / rate."""
        return self.concentration / self.rate

    @property
    def mode(self) -> Tensor:
        """(a - 1) / rate, at least 0."""
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Tensor:
        """a / rate^2."""
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draw positive numbers; the gradient to the concentration is implicit (Figurnov et al. 2018)."""
        shape = self._extended_shape(sample_shape)
        drawn = _standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        return raised(drawn, smallest(drawn.dtype))

    @checks_value
    def _log_density(self, value: Tensor) -> Tensor:
        log_scaled = fg.xlogy(self.concentration, self.rate) + fg.xlogy(self.concentration - 1, value)
        return log_scaled - self.rate * value - fg.lgamma(self.concentration)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density at a tensor, or at a number."""
        return self._log_density(fg.as_tensor(value, dtype=self.rate.dtype, device=self.rate.device))

    @checks_value
    def cdf(self, value: Tensor) -> Tensor:
        """Return the regularised incomplete gamma function P(a, rate value)."""
        return gammainc(self.concentration, self.rate * value)

    def entropy(self) -> Tensor:
        """Return a - log(rate) + log Gamma(a) + (1 - a) digamma(a)."""
        a = self.concentration
        return a - fg.log(self.rate) + fg.lgamma(a) + (1 - a) * fg.digamma(a)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:
        return fg.lgamma(x + 1) + (x + 1) * fg.log(-y.reciprocal())


def raised(drawn: Tensor, least: float) -> Tensor:
    """Return `drawn` with at least `least`; the gradient does not see that."""
    drawn.detach().clamp_(min=least)
    return drawn
