"""What is left of a distribution around 0 when signs are dropped: what HalfNormal and HalfCauchy share."""

from __future__ import annotations

import math

from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions import constraints
from funcgrad.distributions.distribution import Distribution, checks_value
from funcgrad.distributions.transformed_distribution import TransformedDistribution, of_base
from funcgrad.distributions.transforms import AbsTransform


class Folded(TransformedDistribution):
    """|x|, x from a distribution that is symmetric around 0 and has a `scale`."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    scale = of_base("scale")

    def __init__(self, base_distribution: Distribution, validate_args: bool | None = None) -> None:
        super().__init__(base_distribution, AbsTransform(), validate_args)

    @property
    def mode(self) -> Tensor:
        """0."""
        return fg.zeros_like(self.scale)

    @checks_value
    def log_prob(self, value: Tensor) -> Tensor:
        """Return the base's plus log 2; minus infinity below 0."""
        value = fg.as_tensor(value, dtype=self.scale.dtype, device=self.scale.device)
        return fg.where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -math.inf)

    @checks_value
    def cdf(self, value: Tensor) -> Tensor:
        """Return 2 F(value) - 1, F being the base's."""
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, value: Tensor) -> Tensor:
        """Return the base's at (value + 1) / 2."""
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self) -> Tensor:
        """Return the base's less log 2."""
        return self.base_dist.entropy() - math.log(2)
