"""The relaxed categorical distribution, or Gumbel-softmax: probabilities for one-hot vectors, with gradients."""

from __future__ import annotations

import math
from collections.abc import Sequence

from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions import constraints
from funcgrad.distributions.categorical import Categorical, OverCategorical
from funcgrad.distributions.distribution import checks_value
from funcgrad.distributions.transformed_distribution import TransformedDistribution, of_base
from funcgrad.distributions.transforms import ExpTransform
from funcgrad.distributions.utils import broadcast_all, clamp_probs
from funcgrad.random.functions import rand

__all__ = ["ExpRelaxedCategorical", "RelaxedOneHotCategorical"]


class ExpRelaxedCategorical(OverCategorical):
    """The logarithm of RelaxedOneHotCategorical: log_softmax((logits + Gumbel noise) / temperature)."""

    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        temperature: Tensor,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self._temperature = temperature  # broadcasts with any batch, so `expand` leaves it alone
        super().__init__(Categorical(probs, logits), validate_args)

    @property
    def temperature(self) -> Tensor:
        """The lower, the nearer to discrete."""
        return self._temperature

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draw; gradients reach the parameter and the temperature."""
        shape = self._extended_shape(sample_shape)
        uniform = clamp_probs(rand(shape, dtype=self.logits.dtype, device=self.logits.device))
        return _normalized((self.logits - (-uniform.log()).log()) / self.temperature)

    @checks_value
    def log_prob(self, value: Tensor) -> Tensor:
        """Return log((k - 1)! temperature^(k - 1) prod(softmax(logits - temperature value)))."""
        count = self.param_shape[-1]
        logits, value = broadcast_all(self.logits, value)
        scores = _normalized(logits - value * self.temperature).sum(-1)
        return scores + math.lgamma(count) + (count - 1) * self.temperature.log()


class RelaxedOneHotCategorical(TransformedDistribution):
    """exp of ExpRelaxedCategorical: nearer to one-hot the lower the temperature (Maddison et al., Jang et al. 2016)."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex
    has_rsample = True
    temperature, probs, logits = of_base("temperature"), of_base("probs"), of_base("logits")

    def __init__(
        self,
        temperature: Tensor,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args)


def _normalized(scores: Tensor) -> Tensor:
    return scores - scores.logsumexp(-1, keepdim=True)
