"""The binomial distribution."""

from __future__ import annotations

from collections.abc import Sequence

from funcgrad._tape.modes import no_grad
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions import constraints
from funcgrad.distributions.distribution import checks_value
from funcgrad.distributions.given_probs import GivenProbs
from funcgrad.distributions.utils import Parameter
from funcgrad.nn.functional import softplus
from funcgrad.random.functions import binomial

__all__ = ["Binomial"]


class Binomial(GivenProbs):
    """The number of successes in `total_count` trials of probability `probs`."""

    arg_constraints = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True

    def __init__(
        self,
        total_count: Parameter = 1,
        probs: Parameter | None = None,
        logits: Parameter | None = None,
        validate_args: bool | None = None,
    ) -> None:
        (self.total_count,) = self._give(probs, logits, total_count)
        super().__init__(self.param_shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> constraints.Constraint:
        """0 ... total_count."""
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        """n p."""
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        """floor((n + 1) p), at most n."""
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Tensor:
        """n p (1 - p)."""
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draw numbers of successes in the dtype of the parameter."""
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return binomial(self.total_count.expand(shape), self.probs.expand(shape))

    @checks_value
    def log_prob(self, value: Tensor) -> Tensor:
        """Return log(n! / (x! (n - x)!) p^x (1 - p)^(n - x)), which is x logit - n softplus(logit) + log(n over x)."""
        orders = log_factorial(value) + log_factorial(self.total_count - value)
        normalizer = self.total_count * softplus(self.logits) - log_factorial(self.total_count)
        return value * self.logits - orders - normalizer

    def entropy(self) -> Tensor:
        """Return the sum over all counts. NotImplementedError: total_count differs within the batch."""
        log_prob = self.log_prob(self._counts("entropy", expand=False))
        return -(fg.exp(log_prob) * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Return 0 ... total_count along a new first dimension. NotImplementedError: it differs within the batch."""
        return self._counts("enumerate_support", expand)

    def _counts(self, method: str, expand: bool) -> Tensor:
        largest = int(self.total_count.max())
        if int(self.total_count.min()) != largest:
            raise NotImplementedError(f"Inhomogeneous total count not supported by `{method}`.")
        values = fg.arange(1 + largest, dtype=self._param.dtype, device=self._param.device)
        return self._enumerated(values, expand)


def log_factorial(count: Tensor) -> Tensor:
    """Return log(count!)."""
    return fg.lgamma(count + 1)
