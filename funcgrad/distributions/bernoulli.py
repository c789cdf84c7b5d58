"""The Bernoulli distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence

from funcgrad._tape.modes import no_grad
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions import constraints
from funcgrad.distributions.distribution import checks_value
from funcgrad.distributions.exp_family import ExponentialFamily
from funcgrad.distributions.given_probs import GivenProbs
from funcgrad.distributions.utils import Parameter, broadcast_all
from funcgrad.nn.functional import binary_cross_entropy_with_logits
from funcgrad.random.functions import bernoulli

__all__ = ["Bernoulli"]


class Bernoulli(GivenProbs, ExponentialFamily):
    """1 with probability `probs` = sigmoid(logits), else 0."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0

    def __init__(
        self, probs: Parameter | None = None, logits: Parameter | None = None, validate_args: bool | None = None
    ) -> None:
        self._give(probs, logits)
        super().__init__(self.param_shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """p."""
        return self.probs

    @property
    def mode(self) -> Tensor:
        """1 or 0; NaN where both are as probable."""
        return (self.probs >= 0.5).to(self.probs).masked_fill(self.probs == 0.5, math.nan)

    @property
    def variance(self) -> Tensor:
        """p (1 - p)."""
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draw zeros and ones in the dtype of the parameter."""
        with no_grad():
            return self._own(bernoulli(self.probs.expand(self._extended_shape(sample_shape))))

    @checks_value
    def log_prob(self, value: Tensor) -> Tensor:
        """Return log p where value is 1, log(1 - p) where it is 0."""
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Tensor:
        """Return -p log p - (1 - p) log(1 - p)."""
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Return 0 and 1 along a new first dimension."""
        return self._enumerated(fg.arange(2, dtype=self._param.dtype, device=self._param.device), expand)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (fg.logit(self.probs),)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        return fg.log1p(fg.exp(x))
