"""The Fisher-Snedecor distribution, or F-distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence

from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions import constraints
from funcgrad.distributions.distribution import Distribution, checks_value
from funcgrad.distributions.gamma import Gamma
from funcgrad.distributions.utils import Parameter, broadcast_all, smallest

__all__ = ["FisherSnedecor"]


class FisherSnedecor(Distribution):
    """(Chi2(df1) / df1) / (Chi2(df2) / df2)."""

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, df1: Parameter, df2: Parameter, validate_args: bool | None = None) -> None:
        self.df1, self.df2 = broadcast_all(df1, df2)
        self._gamma1 = Gamma(self.df1 * 0.5, self.df1)
        self._gamma2 = Gamma(self.df2 * 0.5, self.df2)
        super().__init__(self.df1.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """df2 / (df2 - 2); NaN for df2 <= 2."""
        df2 = self.df2.masked_fill(self.df2 <= 2, math.nan)
        return df2 / (df2 - 2)

    @property
    def mode(self) -> Tensor:
        """(df1 - 2) / df1 df2 / (df2 + 2); NaN for df1 <= 2."""
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return mode.masked_fill(self.df1 <= 2, math.nan)

    @property
    def variance(self) -> Tensor:
        """2 df2^2 (df1 + df2 - 2) / (df1 (df2 - 2)^2 (df2 - 4)); NaN for df2 <= 4."""
        df2 = self.df2.masked_fill(self.df2 <= 4, math.nan)
        return 2 * df2.pow(2) * (self.df1 + df2 - 2) / (self.df1 * (df2 - 2).pow(2) * (df2 - 4))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draw the two gamma numbers and divide them."""
        least = smallest(self.df1.dtype)
        over, under = self._gamma1.rsample(sample_shape), self._gamma2.rsample(sample_shape)
        return (over / under.clamp(min=least)).clamp(min=least)

    @checks_value
    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        half1, half2, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        log_beta = half1.lgamma() + half2.lgamma() - (half1 + half2).lgamma()
        powers = half1 * ratio.log() + (half1 - 1) * fg.log(value)
        return powers - (half1 + half2) * fg.log1p(ratio * value) - log_beta
