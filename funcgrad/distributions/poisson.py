"""The Poisson distribution."""

from __future__ import annotations

from collections.abc import Sequence

from funcgrad._tape.modes import no_grad
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions import constraints
from funcgrad.distributions.distribution import checks_value
from funcgrad.distributions.exp_family import ExponentialFamily
from funcgrad.distributions.utils import Parameter, broadcast_all
from funcgrad.random.functions import poisson

__all__ = ["Poisson"]


class Poisson(ExponentialFamily):
    """Counts x with probability rate^x exp(-rate) / x!."""

    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate: Parameter, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """rate."""
        return self.rate

    @property
    def mode(self) -> Tensor:
        """floor(rate)."""
        return self.rate.floor()

    @property
    def variance(self) -> Tensor:
        """rate."""
        return self.rate

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draw counts in the dtype of rate."""
        with no_grad():
            return poisson(self.rate.expand(self._extended_shape(sample_shape)))

    @checks_value
    def log_prob(self, value: Tensor) -> Tensor:
        """Return value log(rate) - rate - log(value!)."""
        rate, value = broadcast_all(self.rate, value)
        return value.xlogy(rate) - rate - (value + 1).lgamma()

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (fg.log(self.rate),)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        return fg.exp(x)
