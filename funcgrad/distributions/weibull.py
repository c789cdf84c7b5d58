"""The Weibull distribution."""

from __future__ import annotations

from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions import constraints
from funcgrad.distributions.exponential import Exponential
from funcgrad.distributions.transformed_distribution import TransformedDistribution
from funcgrad.distributions.transforms import AffineTransform, PowerTransform
from funcgrad.distributions.utils import Parameter, broadcast_all, euler_constant

__all__ = ["Weibull"]


class Weibull(TransformedDistribution):
    """scale x^(1 / concentration), x exponential."""

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive

    def __init__(self, scale: Parameter, concentration: Parameter, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        base = Exponential(fg.ones_like(self.scale), validate_args)
        transforms = [PowerTransform(self.concentration_reciprocal), AffineTransform(0, self.scale)]
        super().__init__(base, transforms, validate_args)

    @property
    def mean(self) -> Tensor:
        """scale Gamma(1 + 1/concentration)."""
        return self.scale * self._moment(1)

    @property
    def mode(self) -> Tensor:
        """scale ((concentration - 1) / concentration)^(1 / concentration)."""
        return self.scale * ((self.concentration - 1) / self.concentration) ** self.concentration_reciprocal

    @property
    def variance(self) -> Tensor:
        """scale^2 (Gamma(1 + 2/concentration) - Gamma(1 + 1/concentration)^2)."""
        return self.scale.pow(2) * (self._moment(2) - self._moment(1).pow(2))

    def entropy(self) -> Tensor:
        """Return Euler's constant (1 - 1/concentration) + log(scale / concentration) + 1."""
        reciprocal = self.concentration_reciprocal
        return euler_constant * (1 - reciprocal) + fg.log(self.scale * reciprocal) + 1

    def _moment(self, order: int) -> Tensor:
        return fg.exp(fg.lgamma(1 + order * self.concentration_reciprocal))
