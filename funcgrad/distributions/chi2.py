"""The chi-squared distribution."""

from __future__ import annotations

from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions import constraints
from funcgrad.distributions.gamma import Gamma
from funcgrad.distributions.utils import Parameter

__all__ = ["Chi2"]


class Chi2(Gamma):
    """The sum of `df` squared standard normal numbers: Gamma(df / 2, 1 / 2)."""

    arg_constraints = {"df": constraints.positive}

    def __init__(self, df: Parameter, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    @property
    def df(self) -> Tensor:
        """Degrees of freedom."""
        return self.concentration * 2
