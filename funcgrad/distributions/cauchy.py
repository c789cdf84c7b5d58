"""The Cauchy distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence

from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions import constraints
from funcgrad.distributions.distribution import Distribution, checks_value
from funcgrad.distributions.utils import Parameter, broadcast_all

__all__ = ["Cauchy"]


class Cauchy(Distribution):
    """Density 1 / (pi scale (1 + ((x - loc) / scale)^2)); it has no mean."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Parameter, scale: Parameter, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """NaN."""
        return fg.full_like(self.loc, math.nan)

    @property
    def mode(self) -> Tensor:
        """loc."""
        return self.loc

    @property
    def variance(self) -> Tensor:
        """Infinite."""
        return fg.full_like(self.loc, math.inf)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draw loc + scale times a standard Cauchy number."""
        return self.loc + self.loc.new_empty(self._extended_shape(sample_shape)).cauchy_() * self.scale

    @checks_value
    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        return -math.log(math.pi) - self.scale.log() - (((value - self.loc) / self.scale) ** 2).log1p()

    @checks_value
    def cdf(self, value: Tensor) -> Tensor:
        """Return atan((value - loc) / scale) / pi + 1/2."""
        return fg.atan((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value: Tensor) -> Tensor:
        """Return loc + scale tan(pi (value - 1/2))."""
        return fg.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self) -> Tensor:
        """Return log(4 pi scale)."""
        return math.log(4 * math.pi) + self.scale.log()
