"""The Wishart distribution of positive definite matrices."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

from funcgrad._base.info import finfo
from funcgrad._base.size import Size
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions import constraints
from funcgrad.distributions.chi2 import Chi2
from funcgrad.distributions.distribution import checks_value, holds
from funcgrad.distributions.exp_family import ExponentialFamily
from funcgrad.distributions.multivariate_normal import only_matrix
from funcgrad.distributions.triangular import GivenMatrix, factor_of, half_log_det
from funcgrad.linalg import slogdet
from funcgrad.random.functions import randn

__all__ = ["Wishart"]

_TRIES = 10  # a singular sample is drawn again so often


class Wishart(GivenMatrix, ExponentialFamily):
    """The sum of `df` outer products x x^T, x from N(0, covariance); df > n - 1 need not be an integer.

    Exactly one of the three matrices is given. Shape: df (*batch), matrices (*batch, n, n).
    """

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(
        self,
        df: Any,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        name, matrix = only_matrix(covariance_matrix, precision_matrix, scale_tril)
        df = df if isinstance(df, Tensor) else fg.tensor(df, dtype=matrix.dtype, device=matrix.device)
        batch = Size(fg.broadcast_shapes(matrix.shape[:-2], df.shape))
        size = matrix.shape[-1]
        self.df = df.expand(batch)
        _require_df(self.df, size)
        vars(self)[name] = matrix.expand((*batch, -1, -1))
        super().__init__(batch, matrix.shape[-2:], validate_args)
        self._unbroadcasted_scale_tril = factor_of(name, matrix)
        self._chi2 = Chi2(self.df.unsqueeze(-1) - fg.arange(size, dtype=matrix.dtype, device=matrix.device))

    @property
    def arg_constraints(self) -> dict[str, Any]:
        """df above n - 1, matrices positive definite."""
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self.event_shape[-1] - 1),
        }

    @property
    def _size(self) -> int:
        return self._event_shape[-1]

    @property
    def mean(self) -> Tensor:
        """df times the covariance."""
        return self.df[..., None, None] * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        """(df - n - 1) times the covariance; NaN where that factor is not positive."""
        factor = self.df - self._size - 1
        return factor.masked_fill(factor <= 0, math.nan)[..., None, None] * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        """df (v_ij^2 + v_ii v_jj), v being the covariance."""
        diagonal = self.covariance_matrix.diagonal(dim1=-2, dim2=-1)
        products = diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2)
        return self.df[..., None, None] * (self.covariance_matrix.pow(2) + products)

    def rsample(self, sample_shape: Sequence[int] = (), max_try_correction: int = _TRIES) -> Tensor:
        """Draw by Bartlett's decomposition; what rounding made singular is drawn again, with a warning."""
        sample = self._bartlett_sampling(sample_shape)
        for _ in range(max_try_correction):
            valid = self.support.check(sample)
            if holds(valid):
                break
            warnings.warn("Singular sample detected.", stacklevel=2)
            sample = fg.where(valid[..., None, None], sample, self._bartlett_sampling(sample_shape))
        return sample

    def _bartlett_sampling(self, sample_shape: Sequence[int]) -> Tensor:
        """Return L A A^T L^T: A has roots of chi-squared numbers on its diagonal and normal ones below."""
        roots = self._chi2.rsample(sample_shape).sqrt()
        roots = roots.clamp(min=finfo(roots.dtype).eps)
        below = randn(self._extended_shape(sample_shape), dtype=roots.dtype, device=roots.device).tril(-1)
        factor = self._unbroadcasted_scale_tril @ (below + roots.diag_embed())
        return factor @ factor.mT

    @checks_value
    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        lower, size = self._unbroadcasted_scale_tril, self._size
        trace = fg.cholesky_solve(value, lower).diagonal(dim1=-2, dim2=-1).sum(-1)
        determinants = (self.df - size - 1) / 2 * slogdet(value).logabsdet
        scale = self.df * (size * math.log(2) / 2 + half_log_det(lower))
        return determinants - trace / 2 - scale - fg.mvlgamma(self.df / 2, p=size)

    def entropy(self) -> Tensor:
        """Return the entropy, with the multivariate gamma function and its logarithmic derivative."""
        size, half = self._size, self.df / 2
        scale = (size + 1) * (size * math.log(2) / 2 + half_log_det(self._unbroadcasted_scale_tril))
        steps = fg.arange(size, dtype=half.dtype, device=half.device) / 2
        digammas = fg.digamma(half.unsqueeze(-1) - steps).sum(-1)
        return scale + fg.mvlgamma(half, p=size) - (self.df - size - 1) / 2 * digammas + self.df * size / 2

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return -self.precision_matrix / 2, (self.df - self._size - 1) / 2

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:
        half, size = y + (self._size + 1) / 2, self._size
        return half * (size * math.log(2) - slogdet(-2 * x).logabsdet) + fg.mvlgamma(half, p=size)


def _require_df(df: Tensor, size: int) -> None:
    if not holds(df > size - 1):
        raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {size - 1}.")
    if not holds(df >= size):
        warnings.warn(
            "Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < ndim.",
            stacklevel=3,
        )
