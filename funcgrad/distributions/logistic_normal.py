"""The logistic-normal distribution."""

from __future__ import annotations

from funcgrad.distributions import constraints
from funcgrad.distributions.normal import Normal
from funcgrad.distributions.transformed_distribution import TransformedDistribution, of_base
from funcgrad.distributions.transforms import StickBreakingTransform
from funcgrad.distributions.utils import Parameter

__all__ = ["LogisticNormal"]


class LogisticNormal(TransformedDistribution):
    """k probabilities, from k - 1 normal numbers by StickBreakingTransform. Shape: loc and scale (*batch, k - 1)."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    has_rsample = True
    loc, scale = of_base("base_dist.loc"), of_base("base_dist.scale")

    def __init__(self, loc: Parameter, scale: Parameter, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args)
        base = base if base.batch_shape else base.expand((1,))
        super().__init__(base, StickBreakingTransform(), validate_args)
