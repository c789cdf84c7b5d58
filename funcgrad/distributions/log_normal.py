"""The log-normal distribution."""

from __future__ import annotations

from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions import constraints
from funcgrad.distributions.normal import Normal
from funcgrad.distributions.transformed_distribution import TransformedDistribution, of_base
from funcgrad.distributions.transforms import ExpTransform
from funcgrad.distributions.utils import Parameter

__all__ = ["LogNormal"]


class LogNormal(TransformedDistribution):
    """exp(x), x from N(loc, scale^2)."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.positive
    has_rsample = True
    loc, scale = of_base("loc"), of_base("scale")

    def __init__(self, loc: Parameter, scale: Parameter, validate_args: bool | None = None) -> None:
        super().__init__(Normal(loc, scale, validate_args), ExpTransform(), validate_args)

    @property
    def mean(self) -> Tensor:
        """exp(loc + scale^2 / 2)."""
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def mode(self) -> Tensor:
        """exp(loc - scale^2)."""
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self) -> Tensor:
        """(exp(scale^2) - 1) exp(2 loc + scale^2)."""
        square = self.scale.pow(2)
        return square.expm1() * (2 * self.loc + square).exp()

    def entropy(self) -> Tensor:
        """Return the normal distribution's, plus loc."""
        return self.base_dist.entropy() + self.loc
