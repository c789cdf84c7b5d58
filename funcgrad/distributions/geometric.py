"""The geometric distribution."""

from __future__ import annotations

from collections.abc import Sequence

from funcgrad._tape.modes import no_grad
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions import constraints
from funcgrad.distributions.distribution import checks_value, holds
from funcgrad.distributions.given_probs import GivenProbs
from funcgrad.distributions.utils import Parameter, broadcast_all, smallest
from funcgrad.nn.functional import binary_cross_entropy_with_logits

__all__ = ["Geometric"]


class Geometric(GivenProbs):
    """The number of failures before the first success, each trial of probability `probs` > 0."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer

    def __init__(
        self, probs: Parameter | None = None, logits: Parameter | None = None, validate_args: bool | None = None
    ) -> None:
        self._give(probs, logits)
        super().__init__(self.param_shape, validate_args=validate_args)
        if self._validate_args and probs is not None and not holds(valid := self.probs > 0):
            raise ValueError(
                f"Expected parameter probs ({type(self.probs).__name__} of shape {tuple(self.probs.shape)}) of "
                f"distribution {self!r} to be positive but found invalid values:\n{self.probs[~valid]}"
            )

    @property
    def mean(self) -> Tensor:
        """1/p - 1."""
        return 1 / self.probs - 1

    @property
    def mode(self) -> Tensor:
        """0."""
        return fg.zeros_like(self.probs)

    @property
    def variance(self) -> Tensor:
        """(1/p - 1) / p."""
        return (1 / self.probs - 1) / self.probs

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draw floor(log(u) / log(1 - p)) in the dtype of the parameter."""
        with no_grad():
            uniform = self.probs.new_empty(self._extended_shape(sample_shape)).uniform_(smallest(self.probs.dtype), 1)
            return (uniform.log() / (-self.probs).log1p()).floor()

    @checks_value
    def log_prob(self, value: Tensor) -> Tensor:
        """Return value log(1 - p) + log p."""
        value, probs = broadcast_all(value, self.probs)
        failing = probs.masked_fill((probs == 1) & (value == 0), 0)
        return value * (-failing).log1p() + self.probs.log()

    def entropy(self) -> Tensor:
        """Return that of one trial, times how many there are in the mean."""
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs
