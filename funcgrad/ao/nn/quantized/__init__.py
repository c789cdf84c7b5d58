"""torch.ao.nn.quantized: modules that compute with 8-bit weights, and functions as modules, to be watched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from funcgrad import nn
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn.functional import relu

__all__ = ["FloatFunctional"]


class FloatFunctional(nn.Module):
    """Sums, products and joins whose results are watched, once the model is prepared, by `activation_post_process`."""

    def __init__(self) -> None:
        super().__init__()
        self.activation_post_process = nn.Identity()

    def forward(self, x: Tensor) -> NoReturn:
        """RuntimeError: the functions themselves are called."""
        raise RuntimeError("FloatFunctional is not intended to use the 'forward'. Please use the underlying operation")

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        """Return x + y, watched."""
        return self.activation_post_process(fg.add(x, y))

    def add_scalar(self, x: Tensor, y: float) -> Tensor:
        """Return x + y for a number y, which needs no watching."""
        return fg.add(x, y)

    def mul(self, x: Tensor, y: Tensor) -> Tensor:
        """Return x * y, watched."""
        return self.activation_post_process(fg.mul(x, y))

    def mul_scalar(self, x: Tensor, y: float) -> Tensor:
        """Return x * y for a number y, which needs no watching."""
        return fg.mul(x, y)

    def cat(self, x: Sequence[Tensor], dim: int = 0) -> Tensor:
        """Return tensors joined along one dimension, watched."""
        return self.activation_post_process(fg.cat(x, dim=dim))

    def add_relu(self, x: Tensor, y: Tensor) -> Tensor:
        """Return x + y where that is positive, watched."""
        return self.activation_post_process(relu(fg.add(x, y)))

    def matmul(self, x: Tensor, y: Tensor) -> Tensor:
        """Return x @ y, watched."""
        return self.activation_post_process(fg.matmul(x, y))
