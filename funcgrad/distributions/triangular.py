"""Linear algebra on batches of lower triangular factors, for the distributions that have a covariance matrix."""

from __future__ import annotations

from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions.utils import lazy_property
from funcgrad.linalg import cholesky, solve_triangular


class GivenMatrix:
    """What is given one of `covariance_matrix`, `precision_matrix` and `scale_tril`, and computes the others.

    A subclass sets `_unbroadcasted_scale_tril`, the factor L of the covariance L L^T, and has `batch_shape`.
    """

    _unbroadcasted_scale_tril: Tensor
    _batch_shape: tuple[int, ...]

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower triangular factor L of the covariance L L^T."""
        return self._over_batch(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """L L^T."""
        lower = self._unbroadcasted_scale_tril
        return self._over_batch(lower @ lower.mT)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        return self._over_batch(fg.cholesky_inverse(self._unbroadcasted_scale_tril))

    def _over_batch(self, matrices: Tensor) -> Tensor:
        return matrices.expand(tuple(self._batch_shape) + matrices.shape[-2:])


def factor_of(name: str, matrix: Tensor) -> Tensor:
    """Return the lower triangular factor of the covariance, given under one of GivenMatrix's names."""
    if name == "scale_tril":
        return matrix
    return cholesky(matrix) if name == "covariance_matrix" else precision_to_scale_tril(matrix)


def precision_to_scale_tril(precision: Tensor) -> Tensor:
    """Return L with L L^T = precision^-1, from the Cholesky factor of the matrix turned by 180 degrees."""
    turned = cholesky(precision.flip((-2, -1)))
    unit = fg.eye(precision.shape[-1], dtype=precision.dtype, device=precision.device)
    return solve_triangular(turned.flip((-2, -1)).mT, unit, upper=False)


def times_vector(matrix: Tensor, vector: Tensor) -> Tensor:
    """Return matrix @ vector for batches of both. Shape: (*, n, m), (*, m), result (*, n)."""
    return (matrix @ vector.unsqueeze(-1)).squeeze(-1)


def squared_distance(lower: Tensor, x: Tensor) -> Tensor:
    """Return x^T (L L^T)^-1 x. Shape: lower (*batch, n, n), x (*more, *batch, n), result (*more, *batch).

    The dimensions that only x has become columns of one triangular solve.
    """
    more = x.ndim + 1 - lower.ndim
    columns = x.reshape((-1, *x.shape[more:])).movedim(0, -1)
    squares = solve_triangular(lower, columns, upper=False).pow(2).sum(-2).movedim(-1, 0)
    return squares.reshape(x.shape[:more] + squares.shape[1:])


def half_log_det(lower: Tensor) -> Tensor:
    """Return log det L, half of log det L L^T."""
    return lower.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def squared_norm(matrix: Tensor) -> Tensor:
    """Return trace(M M^T). Shape: matrix (*, n, m), result (*)."""
    return matrix.pow(2).sum((-2, -1))
