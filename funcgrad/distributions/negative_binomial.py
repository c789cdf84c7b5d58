"""The negative binomial distribution."""

from __future__ import annotations

from collections.abc import Sequence

from funcgrad._tape.modes import no_grad
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions import constraints
from funcgrad.distributions.distribution import checks_value
from funcgrad.distributions.gamma import Gamma
from funcgrad.distributions.given_probs import GivenProbs
from funcgrad.distributions.utils import Parameter, lazy_property
from funcgrad.nn.functional import logsigmoid
from funcgrad.random.functions import poisson

__all__ = ["NegativeBinomial"]


class NegativeBinomial(GivenProbs):
    """The number of successes of probability `probs` before `total_count` failures (any number >= 0)."""

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    def __init__(
        self,
        total_count: Parameter,
        probs: Parameter | None = None,
        logits: Parameter | None = None,
        validate_args: bool | None = None,
    ) -> None:
        (self.total_count,) = self._give(probs, logits, total_count)
        super().__init__(self.param_shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """n p / (1 - p)."""
        return self.total_count * fg.exp(self.logits)

    @property
    def mode(self) -> Tensor:
        """floor((n - 1) p / (1 - p)), at least 0."""
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0)

    @property
    def variance(self) -> Tensor:
        """n p / (1 - p)^2."""
        return self.mean / fg.sigmoid(-self.logits)

    @lazy_property
    def _gamma(self) -> Gamma:
        return Gamma(self.total_count, fg.exp(-self.logits), validate_args=False)  # total_count may be 0

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draw from Poisson(rate), the rate from a gamma distribution."""
        with no_grad():
            return poisson(self._gamma.sample(sample_shape))

    @checks_value
    def log_prob(self, value: Tensor) -> Tensor:
        """Return log(Gamma(n + x) / (x! Gamma(n)) p^x (1 - p)^n); 0 for x = n = 0."""
        lost = -fg.lgamma(self.total_count + value) + fg.lgamma(value + 1) + fg.lgamma(self.total_count)
        lost = lost.masked_fill(self.total_count + value == 0, 0)
        return self.total_count * logsigmoid(-self.logits) + value * logsigmoid(self.logits) - lost
