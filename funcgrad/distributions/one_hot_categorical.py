"""The categorical distribution over one-hot vectors."""

from __future__ import annotations

from collections.abc import Sequence

from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions import constraints
from funcgrad.distributions.categorical import Categorical, OverCategorical
from funcgrad.distributions.distribution import checks_value
from funcgrad.nn.functional import one_hot

__all__ = ["OneHotCategorical", "OneHotCategoricalStraightThrough"]


class OneHotCategorical(OverCategorical):
    """One-hot vectors of length k; parameters as Categorical's."""

    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(
        self, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None
    ) -> None:
        super().__init__(Categorical(probs, logits), validate_args)

    @property
    def mean(self) -> Tensor:
        """The probabilities."""
        return self.probs

    @property
    def mode(self) -> Tensor:
        """The most probable vector."""
        return self._one_hot(self.probs.argmax(-1))

    @property
    def variance(self) -> Tensor:
        """p (1 - p)."""
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draw vectors in the dtype of `probs`."""
        return self._one_hot(self._categorical.sample(sample_shape))

    @checks_value
    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the vectors' probabilities."""
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self) -> Tensor:
        """Return -sum(p log p)."""
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Return all vectors along a new first dimension."""
        (count,) = self._event_shape
        values = fg.eye(count, dtype=self._param.dtype, device=self._param.device)
        values = values.reshape((count,) + (1,) * len(self._batch_shape) + (count,))
        return values.expand((count, *self._batch_shape, count)) if expand else values

    def _one_hot(self, outcomes: Tensor) -> Tensor:
        return one_hot(outcomes, self._event_shape[0]).to(self.probs)


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """OneHotCategorical whose samples pass their gradient straight to the probabilities (Bengio et al. 2013)."""

    has_rsample = True

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draw vectors whose gradient goes to `probs` as it is."""
        return self.sample(sample_shape) + (self.probs - self.probs.detach())
