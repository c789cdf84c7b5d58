"""torch.ao.nn.intrinsic: layers that are one, in the eyes of quantisation: sequences of known kinds.

>>> ConvReLU2d(nn.Conv2d(1, 2, 3), nn.ReLU())
ConvReLU2d(
  (0): Conv2d(1, 2, kernel_size=(3, 3), stride=(1, 1))
  (1): ReLU()
)
"""

from __future__ import annotations

from typing import Any, ClassVar

from funcgrad import nn
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn.utils.parametrize import type_before_parametrizations

__all__ = [
    "BNReLU2d", "BNReLU3d", "ConvAdd2d", "ConvAddReLU2d", "ConvBn1d", "ConvBn2d", "ConvBn3d", "ConvBnReLU1d",
    "ConvBnReLU2d", "ConvBnReLU3d", "ConvReLU1d", "ConvReLU2d", "ConvReLU3d", "LinearBn1d", "LinearLeakyReLU",
    "LinearReLU", "LinearTanh",
]  # fmt: skip


class _FusedModule(nn.Sequential):
    """What is prepared, and converted, as one."""


class _OfKinds(_FusedModule):
    """Layers of known kinds, in this order. AssertionError for others."""

    kinds: ClassVar[tuple[type, ...]]

    def __init__(self, *modules: nn.Module) -> None:
        if len(modules) != len(self.kinds):
            raise TypeError(f"{type(self).__name__} takes {len(self.kinds)} modules, but {len(modules)} were given")
        found = tuple(map(type_before_parametrizations, modules))
        if found != self.kinds:
            names = [kind.__name__ for kind in found]
            comma = "," * (len(names) > 2)
            raise AssertionError(f"Incorrect types for input modules: {', '.join(names[:-1])}{comma} and {names[-1]}")
        super().__init__(*modules)


class ConvReLU1d(_OfKinds):
    """A convolution over one dimension, and ReLU."""

    kinds = (nn.Conv1d, nn.ReLU)


class ConvReLU2d(_OfKinds):
    """A convolution over two dimensions, and ReLU."""

    kinds = (nn.Conv2d, nn.ReLU)


class ConvReLU3d(_OfKinds):
    """A convolution over three dimensions, and ReLU."""

    kinds = (nn.Conv3d, nn.ReLU)


class LinearReLU(_OfKinds):
    """A linear layer, and ReLU."""

    kinds = (nn.Linear, nn.ReLU)


class ConvBn1d(_OfKinds):
    """A convolution over one dimension, and batch normalization."""

    kinds = (nn.Conv1d, nn.BatchNorm1d)


class ConvBn2d(_OfKinds):
    """A convolution over two dimensions, and batch normalization."""

    kinds = (nn.Conv2d, nn.BatchNorm2d)


class ConvBn3d(_OfKinds):
    """A convolution over three dimensions, and batch normalization."""

    kinds = (nn.Conv3d, nn.BatchNorm3d)


class ConvBnReLU1d(_OfKinds):
    """A convolution over one dimension, batch normalization, and ReLU."""

    kinds = (nn.Conv1d, nn.BatchNorm1d, nn.ReLU)


class ConvBnReLU2d(_OfKinds):
    """A convolution over two dimensions, batch normalization, and ReLU."""

    kinds = (nn.Conv2d, nn.BatchNorm2d, nn.ReLU)


class ConvBnReLU3d(_OfKinds):
    """A convolution over three dimensions, batch normalization, and ReLU."""

    kinds = (nn.Conv3d, nn.BatchNorm3d, nn.ReLU)


class BNReLU2d(_OfKinds):
    """Batch normalization of images, and ReLU."""

    kinds = (nn.BatchNorm2d, nn.ReLU)


class BNReLU3d(_OfKinds):
    """Batch normalization of volumes, and ReLU."""

    kinds = (nn.BatchNorm3d, nn.ReLU)


class LinearBn1d(_OfKinds):
    """A linear layer, and batch normalization."""

    kinds = (nn.Linear, nn.BatchNorm1d)


class LinearLeakyReLU(_OfKinds):
    """A linear layer, and leaky ReLU."""

    kinds = (nn.Linear, nn.LeakyReLU)


class LinearTanh(_OfKinds):
    """A linear layer, and the hyperbolic tangent."""

    kinds = (nn.Linear, nn.Tanh)


class ConvAdd2d(_FusedModule):
    """A convolution, to whose result `add` adds another tensor."""

    def __init__(self, conv: nn.Module, add: Any) -> None:
        super().__init__(conv)
        self.add = add

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:  # type: ignore[override]  # torch's takes two as well
        """Return add(conv(x1), x2)."""
        return self.add(self[0](x1), x2)


class ConvAddReLU2d(_FusedModule):
    """A convolution, to whose result `add` adds another tensor, and ReLU."""

    def __init__(self, conv: nn.Module, add: Any, relu: nn.Module) -> None:
        super().__init__(conv)
        self.add, self.relu = add, relu

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:  # type: ignore[override]  # torch's takes two as well
        """Return relu(add(conv(x1), x2))."""
        return self.relu(self.add(self[0](x1), x2))
