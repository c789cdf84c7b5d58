"""The normal distribution of vectors."""

from __future__ import annotations

import math
from collections.abc import Sequence

from funcgrad._base.size import Size
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions import constraints
from funcgrad.distributions.distribution import Distribution, checks_value
from funcgrad.distributions.triangular import (
    GivenMatrix,
    factor_of,
    half_log_det,
    precision_to_scale_tril,
    squared_distance,
    times_vector,
)
from funcgrad.distributions.utils import AroundLoc, _standard_normal

__all__ = ["MultivariateNormal"]


class MultivariateNormal(AroundLoc, GivenMatrix, Distribution):
    """N(loc, covariance) of vectors; exactly one of the three matrices is given.

    Shape: loc (*batch, n), matrices (*batch, n, n); scale_tril L gives the covariance L L^T, and is the cheapest.
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.ndim < 1:
            raise ValueError("loc must be at least one-dimensional.")
        name, matrix = only_matrix(covariance_matrix, precision_matrix, scale_tril)
        batch = Size(fg.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1]))
        vars(self)[name] = matrix.expand((*batch, -1, -1))
        self.loc = loc.expand((*batch, -1))
        super().__init__(batch, self.loc.shape[-1:], validate_args)
        self._unbroadcasted_scale_tril = factor_of(name, matrix)

    @property
    def variance(self) -> Tensor:
        """The diagonal of the covariance."""
        return self._unbroadcasted_scale_tril.pow(2).sum(-1).expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draw loc + L N(0, 1)."""
        noise = _standard_normal(self._extended_shape(sample_shape), self.loc.dtype, self.loc.device)
        return self.loc + times_vector(self._unbroadcasted_scale_tril, noise)

    @checks_value
    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        lower = self._unbroadcasted_scale_tril
        distance = squared_distance(lower, value - self.loc)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + distance) - half_log_det(lower)

    def entropy(self) -> Tensor:
        """Return n (1 + log(2 pi)) / 2 + log det L."""
        constant = 0.5 * self._event_shape[0] * (1 + math.log(2 * math.pi))
        found = constant + half_log_det(self._unbroadcasted_scale_tril)
        return found.expand(self._batch_shape) if self._batch_shape else found


# as scripts import them from torch
_batch_mv, _batch_mahalanobis, _precision_to_scale_tril = times_vector, squared_distance, precision_to_scale_tril


def only_matrix(
    covariance_matrix: Tensor | None, precision_matrix: Tensor | None, scale_tril: Tensor | None
) -> tuple[str, Tensor]:
    """Return name and value of the one matrix that is given. ValueError: none or several are, or it is no matrix."""
    names = ("covariance_matrix", "precision_matrix", "scale_tril")
    given = [
        (n, m) for n, m in zip(names, (covariance_matrix, precision_matrix, scale_tril), strict=True) if m is not None
    ]
    if len(given) != 1:
        raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
    ((name, matrix),) = given
    if matrix.ndim < 2:
        raise ValueError(f"{name} must be at least two-dimensional, with optional leading batch dimensions")
    return name, matrix
