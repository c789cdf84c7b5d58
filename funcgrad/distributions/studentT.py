"""Student's t-distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence

from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions import constraints
from funcgrad.distributions.chi2 import Chi2
from funcgrad.distributions.distribution import Distribution, checks_value
from funcgrad.distributions.utils import Parameter, broadcast_all, standard_normal

__all__ = ["StudentT"]


class StudentT(Distribution):
    """loc + scale N(0, 1) / sqrt(Chi2(df) / df)."""

    arg_constraints = {
        "df": constraints.positive,
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.real
    has_rsample = True

    def __init__(
        self, df: Parameter, loc: Parameter = 0.0, scale: Parameter = 1.0, validate_args: bool | None = None
    ) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(self.df.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """loc; NaN for df <= 1."""
        return self.loc.masked_fill(self.df <= 1, math.nan)

    @property
    def mode(self) -> Tensor:
        """loc."""
        return self.loc

    @property
    def variance(self) -> Tensor:
        """scale^2 df / (df - 2); infinite for df <= 2, NaN for df <= 1."""
        is_finite = self.df > 2
        df = fg.where(is_finite, self.df, 3)
        variance = fg.where(is_finite, self.scale.pow(2) * df / (df - 2), math.inf)
        return variance.masked_fill(self.df <= 1, math.nan)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draw a normal number, then a chi-squared one."""
        normal = standard_normal(self._extended_shape(sample_shape), self.df.dtype, self.df.device)
        return self.loc + self.scale * normal * fg.rsqrt(self._chi2.rsample(sample_shape) / self.df)

    @checks_value
    def log_prob(self, value: Tensor) -> Tensor:
        """Return -(df + 1) / 2 log(1 + y^2 / df) - log(scale sqrt(df) B(1/2, df/2)), y = (value - loc) / scale."""
        y = (value - self.loc) / self.scale
        kernel = -0.5 * (self.df + 1) * fg.log1p(y**2 / self.df)
        return kernel - self.scale.log() - 0.5 * self.df.log() - self._log_beta()

    def entropy(self) -> Tensor:
        """Return (df + 1) / 2 (digamma((df + 1) / 2) - digamma(df / 2)) + log(scale sqrt(df) B(1/2, df/2))."""
        upper, lower = 0.5 * (self.df + 1), 0.5 * self.df
        spread = upper * (fg.digamma(upper) - fg.digamma(lower))
        return self.scale.log() + spread + 0.5 * self.df.log() + self._log_beta()

    def _log_beta(self) -> Tensor:
        return math.lgamma(0.5) + fg.lgamma(0.5 * self.df) - fg.lgamma(0.5 * (self.df + 1))
