"""The continuous Bernoulli distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence

from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions import constraints
from funcgrad.distributions.distribution import checks_value, holds
from funcgrad.distributions.exp_family import ExponentialFamily
from funcgrad.distributions.given_probs import GivenProbs
from funcgrad.distributions.utils import (
    Parameter,
    broadcast_all,
    clamp_probs,
    lazy_property,
    logits_to_probs,
)
from funcgrad.nn.functional import binary_cross_entropy_with_logits
from funcgrad.random.functions import rand
from funcgrad.special import expm1

__all__ = ["ContinuousBernoulli"]


class ContinuousBernoulli(GivenProbs, ExponentialFamily):
    """Density p^x (1 - p)^(1 - x) up to a constant, x in [0, 1] (Loaiza-Ganem and Cunningham 2019).

    Near p = 1/2, inside of `lims`, its formulas divide zero by zero: their Taylor series stand in.
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(
        self,
        probs: Parameter | None = None,
        logits: Parameter | None = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        self._give(probs, logits)
        self._lims = lims
        if logits is None:
            if validate_args is not None and not holds(constraints.unit_interval.check(self.probs)):
                raise ValueError("The parameter probs has invalid values")  # clamped below they would all be valid
            vars(self)["probs"] = clamp_probs(self.probs)
        super().__init__(self.param_shape, validate_args=validate_args)

    @lazy_property
    def probs(self) -> Tensor:
        """p, a rounding error away from 0 and 1."""
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    @property
    def mean(self) -> Tensor:
        """p / (2p - 1) + 1 / log((1 - p) / p)."""
        p, x = self._stable_probs(), self.probs - 0.5
        taylor = 0.5 + (1 / 3 + 16 / 45 * x.pow(2)) * x
        return self._where_stable(p / (2 * p - 1) + 1 / _log_odds_against(p), taylor)

    @property
    def variance(self) -> Tensor:
        """p (p - 1) / (1 - 2p)^2 + 1 / log((1 - p) / p)^2."""
        p, square = self._stable_probs(), (self.probs - 0.5).pow(2)
        taylor = 1 / 12 - (1 / 15 - 128 / 945 * square) * square
        return self._where_stable(p * (p - 1) / (1 - 2 * p).pow(2) + 1 / _log_odds_against(p).pow(2), taylor)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draw by icdf."""
        shape = self._extended_shape(sample_shape)
        return self.icdf(rand(shape, dtype=self.probs.dtype, device=self.probs.device))

    @checks_value
    def log_prob(self, value: Tensor) -> Tensor:
        """Return x log p + (1 - x) log(1 - p) + log C(p)."""
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none") + self._cont_bern_log_norm()

    @checks_value
    def cdf(self, value: Tensor) -> Tensor:
        """Return (p^x (1 - p)^(1 - x) + p - 1) / (2p - 1)."""
        p = self._stable_probs()
        inner = self._where_stable((p.pow(value) * (1 - p).pow(1 - value) + p - 1) / (2 * p - 1), value)
        return fg.where(value <= 0, 0, fg.where(value >= 1, 1, inner))

    def icdf(self, value: Tensor) -> Tensor:
        """Return the inverse of cdf."""
        p = self._stable_probs()
        curved = (fg.log1p(-p + value * (2 * p - 1)) - fg.log1p(-p)) / -_log_odds_against(p)
        return self._where_stable(curved, value)

    def entropy(self) -> Tensor:
        """Return -E log_prob(x)."""
        return self.mean * _log_odds_against(self.probs) - self._cont_bern_log_norm() - fg.log1p(-self.probs)

    def _cont_bern_log_norm(self) -> Tensor:
        """Return log C(p), C(p) = 2 atanh(1 - 2p) / (1 - 2p)."""
        p, square = self._stable_probs(), (self.probs - 0.5).pow(2)
        taylor = math.log(2) + (4 / 3 + 104 / 45 * square) * square
        return self._where_stable(fg.log(_log_odds_against(p).abs()) - fg.log((1 - 2 * p).abs()), taylor)

    def _is_stable(self) -> Tensor:
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _stable_probs(self) -> Tensor:
        return fg.where(self._is_stable(), self.probs, self._lims[0])

    def _where_stable(self, formula: Tensor, taylor: Tensor) -> Tensor:
        return fg.where(self._is_stable(), formula, taylor)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.logits,)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        """Return log((exp(x) - 1) / x)."""
        low, high = self._lims
        is_stable = (x <= low - 0.5) | (x > high - 0.5)
        safe = fg.where(is_stable, x, low - 0.5)
        taylor = 0.5 * x + x.pow(2) / 24 - x.pow(4) / 2880
        return fg.where(is_stable, fg.log(expm1(safe).abs()) - fg.log(safe.abs()), taylor)


def _log_odds_against(p: Tensor) -> Tensor:
    return fg.log1p(-p) - fg.log(p)
