"""The inverse gamma distribution."""

from __future__ import annotations

import math

from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions import constraints
from funcgrad.distributions.gamma import Gamma
from funcgrad.distributions.transformed_distribution import TransformedDistribution, of_base
from funcgrad.distributions.transforms import PowerTransform
from funcgrad.distributions.utils import Parameter

__all__ = ["InverseGamma"]


class InverseGamma(TransformedDistribution):
    """1 / x, x from Gamma(concentration, rate)."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True
    concentration, rate = of_base("concentration"), of_base("rate")

    def __init__(self, concentration: Parameter, rate: Parameter, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args)
        super().__init__(base, PowerTransform(-base.rate.new_ones(())), validate_args)

    @property
    def mean(self) -> Tensor:
        """rate / (a - 1); infinite for a <= 1."""
        return fg.where(self.concentration > 1, self.rate / (self.concentration - 1), math.inf)

    @property
    def mode(self) -> Tensor:
        """rate / (a + 1)."""
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Tensor:
        """rate^2 / ((a - 1)^2 (a - 2)); infinite for a <= 2."""
        a = self.concentration
        return fg.where(a > 2, self.rate.square() / ((a - 1).square() * (a - 2)), math.inf)

    def entropy(self) -> Tensor:
        """Return a + log(rate) + log Gamma(a) - (1 + a) digamma(a)."""
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()
