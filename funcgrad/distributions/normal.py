"""The normal distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence

from funcgrad._tape.modes import no_grad
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions import constraints
from funcgrad.distributions.distribution import checks_value
from funcgrad.distributions.exp_family import ExponentialFamily
from funcgrad.distributions.utils import AroundLoc, Parameter, broadcast_all, standard_normal
from funcgrad.random.functions import normal

__all__ = ["Normal"]


class Normal(AroundLoc, ExponentialFamily):
    """N(loc, scale^2).

    >>> encoded = Normal(mean, log_std.exp())
    >>> z = encoded.rsample()
    >>> kl = kl_divergence(encoded, Normal(0, 1)).sum(-1)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, loc: Parameter, scale: Parameter, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def stddev(self) -> Tensor:
        """scale."""
        return self.scale

    @property
    def variance(self) -> Tensor:
        """scale^2."""
        return self.scale.pow(2)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draw without history."""
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return self._own(normal(self.loc.expand(shape), self.scale.expand(shape)))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draw loc + scale * N(0, 1)."""
        noise = standard_normal(self._extended_shape(sample_shape), self.loc.dtype, self.loc.device)
        return self._own(self.loc + noise * self.scale)

    @checks_value
    def log_prob(self, value: Tensor) -> Tensor:
        """Return -(value - loc)^2 / (2 scale^2) - log(scale) - log(sqrt(2 pi))."""
        return -((value - self.loc) ** 2) / (2 * self.variance) - self.scale.log() - math.log(math.sqrt(2 * math.pi))

    @checks_value
    def cdf(self, value: Tensor) -> Tensor:
        """Return (1 + erf((value - loc) / (scale sqrt 2))) / 2."""
        return 0.5 * (1 + fg.erf((value - self.loc) * self.scale.reciprocal() / math.sqrt(2)))

    def icdf(self, value: Tensor) -> Tensor:
        """Return loc + scale sqrt 2 erfinv(2 value - 1)."""
        return self.loc + self.scale * fg.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self) -> Tensor:
        """Return (1 + log(2 pi)) / 2 + log(scale)."""
        return 0.5 + 0.5 * math.log(2 * math.pi) + fg.log(self.scale)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return self.loc / self.variance, -0.5 * self.variance.reciprocal()

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:
        return -0.25 * x.pow(2) / y + 0.5 * fg.log(-math.pi / y)
