"""The Gumbel distribution."""

from __future__ import annotations

import math

from funcgrad._base.info import finfo
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions import constraints
from funcgrad.distributions.distribution import checks_value
from funcgrad.distributions.transformed_distribution import TransformedDistribution
from funcgrad.distributions.transforms import AffineTransform, ExpTransform
from funcgrad.distributions.uniform import Uniform
from funcgrad.distributions.utils import Parameter, broadcast_all, euler_constant

__all__ = ["Gumbel"]


class Gumbel(TransformedDistribution):
    """loc - scale log(-log(u)), u uniform."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real

    def __init__(self, loc: Parameter, scale: Parameter, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        info = finfo(self.loc.dtype)
        low, high = fg.full_like(self.loc, info.tiny), fg.full_like(self.loc, 1 - info.eps)
        log = ExpTransform().inv
        negated = AffineTransform(0, -fg.ones_like(self.scale))
        transforms = [log, negated, log, AffineTransform(self.loc, -self.scale)]
        super().__init__(Uniform(low, high, validate_args), transforms, validate_args)

    @checks_value
    def log_prob(self, value: Tensor) -> Tensor:
        """Return y - exp(y) - log(scale), y = (loc - value) / scale."""
        y = (self.loc - value) / self.scale
        return y - y.exp() - self.scale.log()

    @property
    def mean(self) -> Tensor:
        """loc + scale times Euler's constant."""
        return self.loc + self.scale * euler_constant

    @property
    def mode(self) -> Tensor:
        """loc."""
        return self.loc

    @property
    def stddev(self) -> Tensor:
        """pi / sqrt 6 scale."""
        return math.pi / math.sqrt(6) * self.scale

    @property
    def variance(self) -> Tensor:
        """pi^2 / 6 scale^2."""
        return self.stddev.pow(2)

    def entropy(self) -> Tensor:
        """Return log(scale) + 1 + Euler's constant."""
        return self.scale.log() + (1 + euler_constant)
