"""The Kumaraswamy distribution."""

from __future__ import annotations

import math

from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions import constraints
from funcgrad.distributions.transformed_distribution import TransformedDistribution
from funcgrad.distributions.transforms import AffineTransform, PowerTransform
from funcgrad.distributions.uniform import Uniform
from funcgrad.distributions.utils import Parameter, broadcast_all, euler_constant

__all__ = ["Kumaraswamy"]


class Kumaraswamy(TransformedDistribution):
    """P(x <= value) = 1 - (1 - value^a)^b, a = concentration1 and b = concentration0: like Beta, in closed form."""

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1: Parameter, concentration0: Parameter, validate_args: bool | None = None) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        base = Uniform(fg.zeros_like(self.concentration0), fg.ones_like(self.concentration0), validate_args)
        transforms = [
            PowerTransform(self.concentration0.reciprocal()),
            AffineTransform(1.0, -1.0),
            PowerTransform(self.concentration1.reciprocal()),
        ]
        super().__init__(base, transforms, validate_args)

    @property
    def mean(self) -> Tensor:
        """b B(1 + 1/a, b)."""
        return self._moment(1)

    @property
    def mode(self) -> Tensor:
        """((a - 1) / (a b - 1))^(1 / a) as torch computes it; NaN where a or b is below 1."""
        a, b = self.concentration1, self.concentration0
        log_mode = b.reciprocal() * (-b).log1p() - (-b * a).log1p()
        return log_mode.masked_fill((b < 1) | (a < 1), math.nan).exp()

    @property
    def variance(self) -> Tensor:
        """b B(1 + 2/a, b) less the mean squared."""
        return self._moment(2) - self.mean.pow(2)

    def entropy(self) -> Tensor:
        """Return 1 - 1/b + (1 - 1/a) (digamma(b + 1) + Euler's constant) - log(a b)."""
        a, b = self.concentration1, self.concentration0
        harmonic = fg.digamma(b + 1) + euler_constant
        return (1 - b.reciprocal()) + (1 - a.reciprocal()) * harmonic - fg.log(a) - fg.log(b)

    def _moment(self, order: int) -> Tensor:
        b, first = self.concentration0, 1 + order / self.concentration1
        return b * fg.exp(fg.lgamma(first) + fg.lgamma(b) - fg.lgamma(first + b))
