"""The relaxed Bernoulli distribution: numbers in (0, 1) in place of zeros and ones, with gradients."""

from __future__ import annotations

from collections.abc import Sequence

from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions import constraints
from funcgrad.distributions.distribution import checks_value
from funcgrad.distributions.given_probs import GivenProbs
from funcgrad.distributions.transformed_distribution import TransformedDistribution, of_base
from funcgrad.distributions.transforms import SigmoidTransform
from funcgrad.distributions.utils import Parameter, broadcast_all, probs_to_logits
from funcgrad.random.functions import rand

__all__ = ["LogitRelaxedBernoulli", "RelaxedBernoulli"]


class LogitRelaxedBernoulli(GivenProbs):
    """The log-odds of RelaxedBernoulli: (logit(probs) + logistic noise) / temperature."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real
    has_rsample = True

    def __init__(
        self,
        temperature: Tensor,
        probs: Parameter | None = None,
        logits: Parameter | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self._temperature = temperature  # broadcasts with any batch, so `expand` leaves it alone
        self._give(probs, logits)
        super().__init__(self.param_shape, validate_args=validate_args)

    @property
    def temperature(self) -> Tensor:
        """The lower, the nearer to discrete."""
        return self._temperature

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draw; gradients reach the parameter and the temperature."""
        shape = self._extended_shape(sample_shape)
        uniform = rand(shape, dtype=self.probs.dtype, device=self.probs.device)
        return (
            probs_to_logits(uniform, is_binary=True) + probs_to_logits(self.probs.expand(shape), is_binary=True)
        ) / self.temperature

    @checks_value
    def log_prob(self, value: Tensor) -> Tensor:
        """Return log(temperature) + d - 2 log(1 + exp(d)), d = logits - temperature value."""
        logits, value = broadcast_all(self.logits, value)
        diff = logits - value * self.temperature
        return self.temperature.log() + diff - 2 * diff.exp().log1p()


class RelaxedBernoulli(TransformedDistribution):
    """sigmoid of LogitRelaxedBernoulli: nearer to 0 and 1 the lower the temperature (Maddison et al. 2016)."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    temperature, probs, logits = of_base("temperature"), of_base("probs"), of_base("logits")

    def __init__(
        self,
        temperature: Tensor,
        probs: Parameter | None = None,
        logits: Parameter | None = None,
        validate_args: bool | None = None,
    ) -> None:
        super().__init__(LogitRelaxedBernoulli(temperature, probs, logits), SigmoidTransform(), validate_args)
