"""The exponential distribution."""

from __future__ import annotations

from collections.abc import Sequence

from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions import constraints
from funcgrad.distributions.distribution import checks_value
from funcgrad.distributions.exp_family import ExponentialFamily
from funcgrad.distributions.utils import Parameter, broadcast_all

__all__ = ["Exponential"]


class Exponential(ExponentialFamily):
    """Density rate exp(-rate x), x >= 0."""

    arg_constraints = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, rate: Parameter, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """1 / rate."""
        return self.rate.reciprocal()

    @property
    def mode(self) -> Tensor:
        """0."""
        return fg.zeros_like(self.rate)

    @property
    def stddev(self) -> Tensor:
        """1 / rate."""
        return self.rate.reciprocal()

    @property
    def variance(self) -> Tensor:
        """1 / rate^2."""
        return self.rate.pow(-2)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draw a standard exponential number over rate."""
        return self.rate.new_empty(self._extended_shape(sample_shape)).exponential_() / self.rate

    @checks_value
    def log_prob(self, value: Tensor) -> Tensor:
        """Return log(rate) - rate value."""
        return self.rate.log() - self.rate * value

    @checks_value
    def cdf(self, value: Tensor) -> Tensor:
        """Return 1 - exp(-rate value)."""
        return 1 - fg.exp(-self.rate * value)

    def icdf(self, value: Tensor) -> Tensor:
        """Return -log(1 - value) / rate."""
        return -fg.log1p(-value) / self.rate

    def entropy(self) -> Tensor:
        """Return 1 - log(rate)."""
        return 1 - fg.log(self.rate)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (-self.rate,)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        return -fg.log(-x)
