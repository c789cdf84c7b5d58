"""The generalised Pareto distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence

from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions import constraints
from funcgrad.distributions.distribution import Distribution, checks_value
from funcgrad.distributions.utils import Parameter, broadcast_all
from funcgrad.random.functions import rand

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    """P(x > loc + scale z) = (1 + c z)^(-1/c), c being the concentration; exp(-z) for c = 0."""

    arg_constraints = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }
    has_rsample = True

    def __init__(
        self, loc: Parameter, scale: Parameter, concentration: Parameter, validate_args: bool | None = None
    ) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> constraints.Constraint:
        """From loc; to loc - scale / c where c is negative."""
        upper = fg.where(self.concentration < 0, self.loc - self.scale / self.concentration, math.inf)
        return constraints.interval(self.loc, upper)

    @property
    def mean(self) -> Tensor:
        """loc + scale / (1 - c); NaN for c >= 1."""
        valid = self.concentration < 1
        concentration = fg.where(valid, self.concentration, 0.5)
        return fg.where(valid, self.loc + self.scale / (1 - concentration), math.nan)

    @property
    def mode(self) -> Tensor:
        """loc."""
        return self.loc

    @property
    def variance(self) -> Tensor:
        """scale^2 / ((1 - c)^2 (1 - 2c)); NaN for c >= 1/2."""
        valid = self.concentration < 0.5
        concentration = fg.where(valid, self.concentration, 0.25)
        return fg.where(valid, self.scale**2 / ((1 - concentration) ** 2 * (1 - 2 * concentration)), math.nan)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draw by icdf."""
        shape = self._extended_shape(sample_shape)
        return self.icdf(rand(shape, dtype=self.loc.dtype, device=self.loc.device))

    @checks_value
    def log_prob(self, value: Tensor) -> Tensor:
        """Return -log(scale) - (1 + 1/c) log(1 + c z)."""
        z, is_zero, concentration = self._parts(value)
        power = 1 / concentration + 1
        decay = fg.where(power == 0, 0, power * fg.log1p(concentration * z))
        return -self.scale.log() - fg.where(is_zero, z, decay)

    @checks_value
    def log_survival_function(self, value: Tensor) -> Tensor:
        """Return log P(x > value)."""
        z, is_zero, concentration = self._parts(value)
        return fg.where(is_zero, -z, -fg.log1p(concentration * z) / concentration)

    def log_cdf(self, value: Tensor) -> Tensor:
        """Return log P(x <= value)."""
        return fg.log1p(-fg.exp(self.log_survival_function(value)))

    def cdf(self, value: Tensor) -> Tensor:
        """Return P(x <= value)."""
        return fg.exp(self.log_cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        """Return loc + scale ((1 - value)^-c - 1) / c."""
        log_left = fg.log1p(-value)
        _, is_zero, concentration = self._parts(value)
        curved = self.loc + self.scale / concentration * fg.expm1(-concentration * log_left)
        return fg.where(is_zero, self.loc - self.scale * log_left, curved)

    def entropy(self) -> Tensor:
        """Return log(scale) + c + 1."""
        return fg.log(self.scale) + self.concentration + 1

    def _parts(self, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return z, where the concentration is as good as zero, and a concentration that can be divided by."""
        is_zero = fg.isclose(self.concentration, fg.zeros_like(self.concentration))
        return (value - self.loc) / self.scale, is_zero, fg.where(is_zero, 1, self.concentration)
