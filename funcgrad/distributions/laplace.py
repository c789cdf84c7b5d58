"""The Laplace distribution."""

from __future__ import annotations

from collections.abc import Sequence

from funcgrad._base.info import finfo
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions import constraints
from funcgrad.distributions.distribution import Distribution, checks_value
from funcgrad.distributions.utils import AroundLoc, Parameter, broadcast_all

__all__ = ["Laplace"]


class Laplace(AroundLoc, Distribution):
    """Density exp(-|x - loc| / scale) / (2 scale)."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Parameter, scale: Parameter, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def variance(self) -> Tensor:
        """2 scale^2."""
        return 2 * self.scale.pow(2)

    @property
    def stddev(self) -> Tensor:
        """sqrt 2 scale."""
        return 2**0.5 * self.scale

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draw by the inverse of cdf, from a uniform number in (-1, 1)."""
        shape = self._extended_shape(sample_shape)
        uniform = self.loc.new_empty(shape).uniform_(finfo(self.loc.dtype).eps - 1, 1)
        return self.loc - self.scale * uniform.sign() * fg.log1p(-uniform.abs())

    @checks_value
    def log_prob(self, value: Tensor) -> Tensor:
        """Return -|value - loc| / scale - log(2 scale)."""
        return -fg.log(2 * self.scale) - (value - self.loc).abs() / self.scale

    @checks_value
    def cdf(self, value: Tensor) -> Tensor:
        """Return exp(-d) / 2 below loc, 1 - exp(-d) / 2 above, d being the distance in scales."""
        offset = value - self.loc
        return 0.5 - 0.5 * offset.sign() * fg.expm1(-offset.abs() / self.scale)

    def icdf(self, value: Tensor) -> Tensor:
        """Return the inverse of cdf."""
        offset = value - 0.5
        return self.loc - self.scale * offset.sign() * fg.log1p(-2 * offset.abs())

    def entropy(self) -> Tensor:
        """Return 1 + log(2 scale)."""
        return 1 + fg.log(2 * self.scale)
