"""A distribution whose last batch dimensions count as part of one event."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions import constraints
from funcgrad.distributions.distribution import Distribution
from funcgrad.distributions.utils import sum_rightmost

__all__ = ["Independent"]


class Independent(Distribution):
    """`base_distribution` with its last `reinterpreted_batch_ndims` batch dimensions taken as event dimensions.

    Log-probabilities and entropies are summed over them: Independent(Normal(mean, std), 1) is a normal distribution of
    vectors with a diagonal covariance. ValueError: it has fewer batch dimensions.
    """

    arg_constraints: Any = {}

    def __init__(
        self, base_distribution: Any, reinterpreted_batch_ndims: int, validate_args: bool | None = None
    ) -> None:
        batch_shape = base_distribution.batch_shape
        if reinterpreted_batch_ndims > len(batch_shape):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), "
                f"actual {reinterpreted_batch_ndims} vs {len(batch_shape)}"
            )
        self.base_dist: Any = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        kept = len(batch_shape) - reinterpreted_batch_ndims
        super().__init__(batch_shape[:kept], batch_shape[kept:] + base_distribution.event_shape, validate_args)

    @property
    def has_rsample(self) -> bool:
        """Whether the base has."""
        return self.base_dist.has_rsample

    @property
    def has_enumerate_support(self) -> bool:
        """Whether the base has, and no dimension is reinterpreted."""
        return self.reinterpreted_batch_ndims == 0 and self.base_dist.has_enumerate_support

    @constraints.dependent_property
    def support(self) -> Any:
        """The base's, for all reinterpreted dimensions."""
        support = self.base_dist.support
        count = self.reinterpreted_batch_ndims
        return constraints.independent(support, count) if count else support

    @property
    def mean(self) -> Tensor:
        """The base's."""
        return self.base_dist.mean

    @property
    def mode(self) -> Tensor:
        """The base's."""
        return self.base_dist.mode

    @property
    def variance(self) -> Tensor:
        """The base's."""
        return self.base_dist.variance

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draw from the base."""
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draw from the base."""
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the base's, summed over the reinterpreted dimensions."""
        return sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Tensor:
        """Return the base's, summed over the reinterpreted dimensions."""
        return sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Return the base's. NotImplementedError: a dimension is reinterpreted, so events are combinations."""
        if self.reinterpreted_batch_ndims > 0:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_dist}, {self.reinterpreted_batch_ndims})"
