"""The Lewandowski-Kurowicka-Joe distribution of correlation matrices, through their Cholesky factors."""

from __future__ import annotations

import math
from collections.abc import Sequence

from funcgrad._tape.modes import no_grad
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions import constraints
from funcgrad.distributions.beta import Beta
from funcgrad.distributions.distribution import Distribution, checks_value
from funcgrad.distributions.utils import Parameter, broadcast_all, smallest
from funcgrad.random.functions import randn

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """Lower triangular factors L of dim x dim correlation matrices, det(L L^T)^(concentration - 1) their density.

    concentration 1 makes all correlation matrices equally probable. ValueError: dim < 2.
    Source: Lewandowski, Kurowicka, Joe 2009, section 3.2 (the onion method).
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim: int, concentration: Parameter = 1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        like = {"dtype": self.concentration.dtype, "device": self.concentration.device}
        row = fg.arange(-1, dim - 1, **like).clamp(min=0)
        marginal = self.concentration + 0.5 * (dim - 2)
        self._beta = Beta(row + 0.5, marginal.unsqueeze(-1) - 0.5 * row)
        super().__init__(self.concentration.shape, (dim, dim), validate_args)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draw for each row its length outside of the diagonal, then its direction."""
        with no_grad():
            squared = self._beta.sample(sample_shape).unsqueeze(-1)
            shape = self._extended_shape(sample_shape)
            normal = randn(shape, dtype=squared.dtype, device=squared.device).tril(-1)
            length = normal.norm(dim=-1, keepdim=True)
            below = squared.sqrt() * normal / length.masked_fill(length == 0, 1)
            least = smallest(below.dtype)
            return below + (1 - below.pow(2).sum(-1)).clamp(min=least).sqrt().diag_embed()

    @checks_value
    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density: powers of the diagonal, normalised."""
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        row = fg.arange(2, self.dim + 1, device=self.concentration.device)
        powers = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - row
        rows = self.dim - 1
        alpha = self.concentration + 0.5 * rows
        normalizer = 0.5 * rows * math.log(math.pi) + fg.mvlgamma(alpha - 0.5, p=rows) - fg.lgamma(alpha) * rows
        return (powers * diagonal.log()).sum(-1) - normalizer
