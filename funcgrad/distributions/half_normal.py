"""The half-normal distribution."""

from __future__ import annotations

import math

from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions.folded import Folded
from funcgrad.distributions.normal import Normal
from funcgrad.distributions.utils import Parameter

__all__ = ["HalfNormal"]


class HalfNormal(Folded):
    """|x|, x from N(0, scale^2)."""

    def __init__(self, scale: Parameter, validate_args: bool | None = None) -> None:
        super().__init__(Normal(0, scale, validate_args=False), validate_args)

    @property
    def mean(self) -> Tensor:
        """scale sqrt(2 / pi)."""
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Tensor:
        """scale^2 (1 - 2 / pi)."""
        return self.scale.pow(2) * (1 - 2 / math.pi)
