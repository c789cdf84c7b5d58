"""Padding layers, by mode and number of dimensions."""

from __future__ import annotations

from typing import Any

from funcgrad._tensor.tensor import Tensor
from funcgrad.nn import functional as F
from funcgrad.nn.module import Module
from funcgrad.nn.sizes import ntuple


class _PadNd(Module):
    """Padding of the last `dimensions` dimensions. A subclass says its mode."""

    __constants__ = ("padding",)
    dimensions: int
    mode: str

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = ntuple(2 * self.dimensions)(padding)

    def forward(self, input: Tensor) -> Tensor:
        """Return the padded input."""
        return F.pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        """Return the sizes."""
        return f"{self.padding}"


class _CircularPadNd(_PadNd):
    mode = "circular"

    def forward(self, input: Tensor) -> Tensor:
        """Return the padded input."""
        if input.dim() not in (self.dimensions + 1, self.dimensions + 2):
            raise ValueError(
                f"expected {self.dimensions + 1}D or {self.dimensions + 2}D input (got {input.dim()}D input)"
            )
        return super().forward(input)


class _ReflectionPadNd(_PadNd):
    mode = "reflect"


class _ReplicationPadNd(_PadNd):
    mode = "replicate"


class _ConstantPadNd(_PadNd):
    __constants__ = ("padding", "value")

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """Return the padded input."""
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        """Return the sizes and the value."""
        return f"padding={self.padding}, value={self.value}"


class _ZeroPadNd(_ConstantPadNd):
    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        """Return the sizes."""
        return f"{self.padding}"


class CircularPad1d(_CircularPadNd):
    """Pad with the values of the other end. Shape: input (N, C, L) or (C, L)."""

    dimensions = 1


class CircularPad2d(_CircularPadNd):
    """Pad with the values of the other end. Shape: input (N, C, H, W) or (C, H, W)."""

    dimensions = 2


class CircularPad3d(_CircularPadNd):
    """Pad with the values of the other end. Shape: input (N, C, D, H, W) or (C, D, H, W)."""

    dimensions = 3


class ReflectionPad1d(_ReflectionPadNd):
    """Pad with the mirror image. Shape: input (N, C, L) or (C, L)."""

    dimensions = 1


class ReflectionPad2d(_ReflectionPadNd):
    """Pad with the mirror image. Shape: input (N, C, H, W) or (C, H, W)."""

    dimensions = 2


class ReflectionPad3d(_ReflectionPadNd):
    """Pad with the mirror image. Shape: input (N, C, D, H, W) or (C, D, H, W)."""

    dimensions = 3


class ReplicationPad1d(_ReplicationPadNd):
    """Pad with the value of the edge. Shape: input (N, C, L) or (C, L)."""

    dimensions = 1


class ReplicationPad2d(_ReplicationPadNd):
    """Pad with the value of the edge. Shape: input (N, C, H, W) or (C, H, W)."""

    dimensions = 2


class ReplicationPad3d(_ReplicationPadNd):
    """Pad with the value of the edge. Shape: input (N, C, D, H, W) or (C, D, H, W)."""

    dimensions = 3


class ConstantPad1d(_ConstantPadNd):
    """Pad with one value. Shape: input (N, C, L) or (C, L)."""

    dimensions = 1


class ConstantPad2d(_ConstantPadNd):
    """Pad with one value. Shape: input (N, C, H, W) or (C, H, W)."""

    dimensions = 2


class ConstantPad3d(_ConstantPadNd):
    """Pad with one value. Shape: input (N, C, D, H, W) or (C, D, H, W)."""

    dimensions = 3


class ZeroPad1d(_ZeroPadNd, ConstantPad1d):
    """Pad with zeros. Shape: input (N, C, L) or (C, L)."""


class ZeroPad2d(_ZeroPadNd, ConstantPad2d):
    """Pad with zeros. Shape: input (N, C, H, W) or (C, H, W)."""


class ZeroPad3d(_ZeroPadNd, ConstantPad3d):
    """Pad with zeros. Shape: input (N, C, D, H, W) or (C, D, H, W)."""
