"""The half-Cauchy distribution."""

from __future__ import annotations

import math

from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions.cauchy import Cauchy
from funcgrad.distributions.folded import Folded
from funcgrad.distributions.utils import Parameter

__all__ = ["HalfCauchy"]


class HalfCauchy(Folded):
    """|x|, x from a Cauchy distribution around 0."""

    def __init__(self, scale: Parameter, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0, scale, validate_args=False), validate_args)

    @property
    def mean(self) -> Tensor:
        """Infinite."""
        return fg.full_like(self.scale, math.inf)

    @property
    def variance(self) -> Tensor:
        """Infinite."""
        return self.base_dist.variance
