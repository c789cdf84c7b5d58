"""The normal distribution of vectors whose covariance is of low rank, plus a diagonal."""

from __future__ import annotations

import math
from collections.abc import Sequence

from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions import constraints
from funcgrad.distributions.distribution import Distribution, checks_value
from funcgrad.distributions.triangular import half_log_det, squared_distance, times_vector
from funcgrad.distributions.utils import AroundLoc, lazy_property, standard_normal
from funcgrad.linalg import cholesky, solve_triangular

__all__ = ["LowRankMultivariateNormal"]


class LowRankMultivariateNormal(AroundLoc, Distribution):
    """N(loc, W W^T + D), W = cov_factor and D the diagonal matrix of cov_diag.

    Its inverse and determinant come from the small matrix C = I + W^T D^-1 W (Woodbury), so that the cost grows with
    the rank. Shape: loc (*batch, n), cov_factor (*batch, n, rank), cov_diag (*batch, n).
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc: Tensor, cov_factor: Tensor, cov_diag: Tensor, validate_args: bool | None = None) -> None:
        _require_shapes(loc, cov_factor, cov_diag)
        try:
            batch = fg.broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        except RuntimeError as error:
            raise ValueError(
                f"Incompatible batch shapes: loc {loc.shape}, cov_factor {cov_factor.shape}, cov_diag {cov_diag.shape}"
            ) from error
        self.loc, self.cov_diag = loc.expand((*batch, -1)), cov_diag.expand((*batch, -1))
        self.cov_factor = cov_factor.expand((*batch, -1, -1))
        self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag = cov_factor, cov_diag
        scaled = self._scaled_factor()
        self._capacitance_tril = cholesky(_plus_unit(scaled.mT @ scaled))
        super().__init__(batch, loc.shape[-1:], validate_args)

    def _scaled_factor(self) -> Tensor:
        """Return D^(-1/2) W."""
        return self._unbroadcasted_cov_factor / self._unbroadcasted_cov_diag.sqrt().unsqueeze(-1)

    @lazy_property
    def variance(self) -> Tensor:  # type: ignore[override]  # computed once
        """The diagonal of the covariance."""
        variance = self._unbroadcasted_cov_factor.pow(2).sum(-1) + self._unbroadcasted_cov_diag
        return variance.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower triangular factor of the covariance: D^(1/2) times that of I + D^(-1/2) W W^T D^(-1/2)."""
        scaled = self._scaled_factor()
        root = self._unbroadcasted_cov_diag.sqrt().unsqueeze(-1)
        return self._over_batch(root * cholesky(_plus_unit(scaled @ scaled.mT)))

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """W W^T + D."""
        factor = self._unbroadcasted_cov_factor
        return self._over_batch(factor @ factor.mT + fg.diag_embed(self._unbroadcasted_cov_diag))

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """D^-1 - D^-1 W C^-1 W^T D^-1."""
        part = self.solved_factor()
        return self._over_batch(fg.diag_embed(self._unbroadcasted_cov_diag.reciprocal()) - part.mT @ part)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draw loc + W N(0, 1) + D^(1/2) N(0, 1)."""
        shape = self._extended_shape(sample_shape)
        common = standard_normal(shape[:-1] + self.cov_factor.shape[-1:], self.loc.dtype, self.loc.device)
        own = standard_normal(shape, self.loc.dtype, self.loc.device)
        return (
            self.loc + times_vector(self._unbroadcasted_cov_factor, common) + self._unbroadcasted_cov_diag.sqrt() * own
        )

    @checks_value
    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        distance = self.squared_distance(value - self.loc)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + self.log_det() + distance)

    def entropy(self) -> Tensor:
        """Return (n (1 + log(2 pi)) + log det of the covariance) / 2."""
        entropy = 0.5 * (self._event_shape[0] * (1 + math.log(2 * math.pi)) + self.log_det())
        return entropy.expand(self._batch_shape) if self._batch_shape else entropy

    def solved_factor(self) -> Tensor:
        """Return chol(C)^-1 W^T D^-1. Shape: (*, rank, n)."""
        weighted = self._unbroadcasted_cov_factor.mT / self._unbroadcasted_cov_diag.unsqueeze(-2)
        return solve_triangular(self._capacitance_tril, weighted, upper=False)

    def log_det(self) -> Tensor:
        """Return the log-determinant of the covariance: log det C + log det D."""
        return 2 * half_log_det(self._capacitance_tril) + self._unbroadcasted_cov_diag.log().sum(-1)

    def squared_distance(self, x: Tensor) -> Tensor:
        """Return x^T covariance^-1 x."""
        weighted = self._unbroadcasted_cov_factor.mT / self._unbroadcasted_cov_diag.unsqueeze(-2)
        within = squared_distance(self._capacitance_tril, times_vector(weighted, x))
        return (x.pow(2) / self._unbroadcasted_cov_diag).sum(-1) - within

    def _over_batch(self, matrices: Tensor) -> Tensor:
        return matrices.expand(self._batch_shape + matrices.shape[-2:])


def _plus_unit(matrix: Tensor) -> Tensor:
    return matrix + fg.eye(matrix.shape[-1], dtype=matrix.dtype, device=matrix.device)


def _require_shapes(loc: Tensor, cov_factor: Tensor, cov_diag: Tensor) -> None:
    if loc.ndim < 1:
        raise ValueError("loc must be at least one-dimensional.")
    if cov_factor.ndim < 2:
        raise ValueError("cov_factor must be at least two-dimensional, with optional leading batch dimensions")
    event_shape = loc.shape[-1:]
    if cov_factor.shape[-2:-1] != event_shape:
        raise ValueError(f"cov_factor must be a batch of matrices with shape {event_shape[0]} x m")
    if cov_diag.shape[-1:] != event_shape:
        raise ValueError(f"cov_diag must be a batch of vectors with shape {event_shape}")
