"""Dropout layers: in training they set a random part of the input to zero, in evaluation they do nothing."""

from __future__ import annotations

from funcgrad._tensor.tensor import Tensor
from funcgrad.nn import functional as F
from funcgrad.nn.module import Module


class _DropoutNd(Module):
    """Dropout with probability `p`."""

    __constants__ = ("p", "inplace")

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def extra_repr(self) -> str:
        """Return the options."""
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd):
    """Zero elements, and scale the others by 1 / (1 - p). Shape: input (*), result the same."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutNd):
    """Zero whole channels. Shape: input (N, C, L) or (C, L), result the same."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutNd):
    """Zero whole channels. Shape: input (N, C, H, W) or (N, C, L), result the same."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutNd):
    """Zero whole channels. Shape: input (N, C, D, H, W) or (C, D, H, W), result the same."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutNd):
    """Dropout that keeps mean and variance of what SELU gives. Shape: input (*), result the same."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_DropoutNd):
    """AlphaDropout of whole channels. Shape: input (N, C, *), result the same."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.feature_alpha_dropout(input, self.p, self.training)
