"""The Pareto distribution."""

from __future__ import annotations

from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions import constraints
from funcgrad.distributions.exponential import Exponential
from funcgrad.distributions.transformed_distribution import TransformedDistribution
from funcgrad.distributions.transforms import AffineTransform, ExpTransform
from funcgrad.distributions.utils import Parameter, broadcast_all

__all__ = ["Pareto"]


class Pareto(TransformedDistribution):
    """P(x > value) = (scale / value)^alpha, value >= scale."""

    arg_constraints = {"alpha": constraints.positive, "scale": constraints.positive}

    def __init__(self, scale: Parameter, alpha: Parameter, validate_args: bool | None = None) -> None:
        self.scale, self.alpha = broadcast_all(scale, alpha)
        base = Exponential(self.alpha, validate_args)
        super().__init__(base, [ExpTransform(), AffineTransform(0, self.scale)], validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> constraints.Constraint:
        """From scale on."""
        return constraints.greater_than_eq(self.scale)

    @property
    def mean(self) -> Tensor:
        """alpha scale / (alpha - 1); infinite for alpha <= 1."""
        alpha = self.alpha.clamp(min=1)
        return alpha * self.scale / (alpha - 1)

    @property
    def mode(self) -> Tensor:
        """scale."""
        return self.scale

    @property
    def variance(self) -> Tensor:
        """scale^2 alpha / ((alpha - 1)^2 (alpha - 2)); infinite for alpha <= 2."""
        alpha = self.alpha.clamp(min=2)
        return self.scale.pow(2) * alpha / ((alpha - 1).pow(2) * (alpha - 2))

    def entropy(self) -> Tensor:
        """Return log(scale / alpha) + 1 + 1 / alpha."""
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())
