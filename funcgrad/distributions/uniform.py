"""The uniform distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence

from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions import constraints
from funcgrad.distributions.distribution import Distribution, checks_value
from funcgrad.distributions.utils import Parameter, broadcast_all
from funcgrad.random.functions import rand

__all__ = ["Uniform"]


class Uniform(Distribution):
    """Equal density on [low, high)."""

    has_rsample = True

    def __init__(self, low: Parameter, high: Parameter, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        super().__init__(self.low.shape, validate_args=validate_args)

    @property
    def arg_constraints(self) -> dict[str, constraints.Constraint]:
        """low < high."""
        return {"low": constraints.less_than(self.high), "high": constraints.greater_than(self.low)}

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> constraints.Constraint:
        """low ... high."""
        return constraints.interval(self.low, self.high)

    @property
    def _length(self) -> Tensor:
        return self.high - self.low

    @property
    def mean(self) -> Tensor:
        """The middle."""
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Tensor:
        """NaN: none is more probable than another."""
        return math.nan * self.high

    @property
    def stddev(self) -> Tensor:
        """The length over sqrt 12."""
        return self._length / 12**0.5

    @property
    def variance(self) -> Tensor:
        """The length squared over 12."""
        return self._length.pow(2) / 12

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draw low + (high - low) u."""
        shape = self._extended_shape(sample_shape)
        return self.low + rand(shape, dtype=self.low.dtype, device=self.low.device) * self._length

    @checks_value
    def log_prob(self, value: Tensor) -> Tensor:
        """Return -log(high - low) inside of [low, high), minus infinity outside."""
        inside = (self.low <= value) & (self.high > value)
        return fg.log(inside.type_as(self.low)) - fg.log(self._length)

    @checks_value
    def cdf(self, value: Tensor) -> Tensor:
        """Return how much of the interval lies below `value`."""
        return ((value - self.low) / self._length).clamp(0, 1)

    def icdf(self, value: Tensor) -> Tensor:
        """Return low + value (high - low)."""
        return value * self._length + self.low

    def entropy(self) -> Tensor:
        """Return log(high - low)."""
        return fg.log(self._length)
