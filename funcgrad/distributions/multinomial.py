"""The multinomial distribution: how often each outcome comes up."""

from __future__ import annotations

import math
from collections.abc import Sequence

from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions import constraints
from funcgrad.distributions.binomial import Binomial
from funcgrad.distributions.categorical import Categorical, OverCategorical
from funcgrad.distributions.distribution import checks_value
from funcgrad.distributions.utils import broadcast_all

__all__ = ["Multinomial"]


class Multinomial(OverCategorical):
    """Counts of k outcomes in `total_count` trials (one int for the whole batch); probabilities as Categorical's.

    NotImplementedError: total_count is no int.
    """

    def __init__(
        self,
        total_count: int = 1,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        categorical = Categorical(probs, logits)
        self._binomial = Binomial(total_count, probs=categorical.probs)
        super().__init__(categorical, validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> constraints.Constraint:
        """Counts that sum to no more than total_count."""
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Tensor:
        """n p."""
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        """n p (1 - p)."""
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draw counts in the dtype of `probs`."""
        outcomes = self._categorical.sample((self.total_count, *sample_shape)).movedim(0, -1)
        counts = outcomes.new_zeros(self._extended_shape(sample_shape))
        return counts.scatter_add(-1, outcomes, fg.ones_like(outcomes)).type_as(self.probs)

    @checks_value
    def log_prob(self, value: Tensor) -> Tensor:
        """Return log(n! / prod(x!) prod(p^x))."""
        logits, value = broadcast_all(self.logits, value)
        logits = logits.masked_fill((value == 0) & (logits == -math.inf), 0)
        ways = fg.lgamma(value.sum(-1) + 1) - fg.lgamma(value + 1).sum(-1)
        return ways + (logits * value).sum(-1)

    def entropy(self) -> Tensor:
        """Return n H(p) - log n! + the sum over all outcomes of E log x!, x being binomial."""
        counts = self._binomial.enumerate_support(expand=False)[1:]
        log_factorials = fg.exp(self._binomial.log_prob(counts)) * fg.lgamma(counts + 1)
        own = self.total_count * self._categorical.entropy() - math.lgamma(self.total_count + 1)
        return own + log_factorials.sum((0, -1))
