"""Pooling layers: each calls its function, with the options that it was made with."""

from __future__ import annotations

from typing import Any

from funcgrad._tensor.tensor import Tensor
from funcgrad.nn import functional as F
from funcgrad.nn.module import Module
from funcgrad.nn.sizes import ntuple


class _MaxPoolNd(Module):
    """The largest value of each window. A subclass says over how many dimensions."""

    __constants__ = ("kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode")

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def _options(self) -> dict[str, Any]:
        return {
            "kernel_size": self.kernel_size, "stride": self.stride, "padding": self.padding,
            "dilation": self.dilation, "ceil_mode": self.ceil_mode, "return_indices": self.return_indices,
        }  # fmt: skip

    def extra_repr(self) -> str:
        """Return the options."""
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPoolNd):
    """The largest value of each window. Shape: input (N, C, L) or (C, L)."""

    def forward(self, input: Tensor) -> Any:
        """Return the largest values, and their places with `return_indices`."""
        return F.max_pool1d(input, **self._options())


class MaxPool2d(_MaxPoolNd):
    """The largest value of each window. Shape: input (N, C, H, W) or (C, H, W)."""

    def forward(self, input: Tensor) -> Any:
        """Return the largest values, and their places with `return_indices`."""
        return F.max_pool2d(input, **self._options())


class MaxPool3d(_MaxPoolNd):
    """The largest value of each window. Shape: input (N, C, D, H, W) or (C, D, H, W)."""

    def forward(self, input: Tensor) -> Any:
        """Return the largest values, and their places with `return_indices`."""
        return F.max_pool3d(input, **self._options())


class _MaxUnpoolNd(Module):
    """The inverse of max pooling: values back to the places that the indices tell, zeros elsewhere."""

    dimensions: int

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        spread = ntuple(self.dimensions)
        self.kernel_size = spread(kernel_size)
        self.stride = spread(kernel_size if stride is None else stride)
        self.padding = spread(padding)

    def extra_repr(self) -> str:
        """Return the options."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpoolNd):
    """The inverse of MaxPool1d. Shape: input (N, C, L) or (C, L)."""

    dimensions = 1

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        """Return the values at their places."""
        return F.max_unpool1d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool2d(_MaxUnpoolNd):
    """The inverse of MaxPool2d. Shape: input (N, C, H, W) or (C, H, W)."""

    dimensions = 2

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        """Return the values at their places."""
        return F.max_unpool2d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool3d(_MaxUnpoolNd):
    """The inverse of MaxPool3d. Shape: input (N, C, D, H, W) or (C, D, H, W)."""

    dimensions = 3

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        """Return the values at their places."""
        return F.max_unpool3d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class _AvgPoolNd(Module):
    """The mean of each window."""

    __constants__ = ("kernel_size", "stride", "padding", "ceil_mode", "count_include_pad")
    kernel_size: Any
    stride: Any
    padding: Any

    def extra_repr(self) -> str:
        """Return the options."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPoolNd):
    """The mean of each window. Shape: input (N, C, L) or (C, L)."""

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        spread = ntuple(1)
        self.kernel_size, self.stride = spread(kernel_size), spread(kernel_size if stride is None else stride)
        self.padding, self.ceil_mode, self.count_include_pad = spread(padding), ceil_mode, count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        """Return the means."""
        return F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)


class _AvgPoolOverArea(_AvgPoolNd):
    __constants__ = ("kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", "divisor_override")

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.ceil_mode = padding, ceil_mode
        self.count_include_pad, self.divisor_override = count_include_pad, divisor_override

    def _options(self) -> tuple[Any, ...]:
        return (
            self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad, self.divisor_override,
        )  # fmt: skip


class AvgPool2d(_AvgPoolOverArea):
    """The mean of each window. Shape: input (N, C, H, W) or (C, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        """Return the means."""
        return F.avg_pool2d(input, *self._options())


class AvgPool3d(_AvgPoolOverArea):
    """The mean of each window. Shape: input (N, C, D, H, W) or (C, D, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        """Return the means."""
        return F.avg_pool3d(input, *self._options())


class _FractionalMaxPoolNd(Module):
    """The largest value of windows whose places are drawn at random."""

    __constants__ = ("kernel_size", "return_indices", "output_size", "output_ratio")
    dimensions: int

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        if (kernel_size if isinstance(kernel_size, int) else min(kernel_size)) <= 0:
            raise ValueError(f"kernel_size must be greater than zero, but got {kernel_size}")
        spread, name = ntuple(self.dimensions), type(self).__name__
        self.kernel_size, self.return_indices = spread(kernel_size), return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else spread(output_size)
        self.output_ratio = None if output_ratio is None else spread(output_ratio)
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < ratio < 1 for ratio in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def _options(self) -> tuple[Any, ...]:
        return self.kernel_size, self.output_size, self.output_ratio, self.return_indices, self._random_samples


class FractionalMaxPool2d(_FractionalMaxPoolNd):
    """Fractional max pooling over images. Source: Graham 2014, https://arxiv.org/abs/1412.6071."""

    dimensions = 2

    def forward(self, input: Tensor) -> Any:
        """Return the largest values, and their places with `return_indices`."""
        return F.fractional_max_pool2d(input, *self._options())


class FractionalMaxPool3d(_FractionalMaxPoolNd):
    """Fractional max pooling over volumes. Source: Graham 2014, https://arxiv.org/abs/1412.6071."""

    dimensions = 3

    def forward(self, input: Tensor) -> Any:
        """Return the largest values, and their places with `return_indices`."""
        return F.fractional_max_pool3d(input, *self._options())


class _LPPoolNd(Module):
    """(sum of x ** norm_type) ** (1 / norm_type) over each window."""

    __constants__ = ("norm_type", "kernel_size", "stride", "ceil_mode")

    def __init__(self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> None:
        super().__init__()
        self.norm_type, self.kernel_size, self.stride, self.ceil_mode = norm_type, kernel_size, stride, ceil_mode

    def extra_repr(self) -> str:
        """Return the options."""
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPoolNd):
    """The p-norm of each window. Shape: input (N, C, L) or (C, L)."""

    def forward(self, input: Tensor) -> Tensor:
        """Return the norms."""
        return F.lp_pool1d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool2d(_LPPoolNd):
    """The p-norm of each window. Shape: input (N, C, H, W) or (C, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        """Return the norms."""
        return F.lp_pool2d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool3d(_LPPoolNd):
    """The p-norm of each window. Shape: input (N, C, D, H, W) or (C, D, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        """Return the norms."""
        return F.lp_pool3d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class _AdaptiveMaxPoolNd(Module):
    """The largest value of as many windows as the output has places."""

    __constants__ = ("output_size", "return_indices")

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size, self.return_indices = output_size, return_indices

    def extra_repr(self) -> str:
        """Return the output size."""
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """Max pooling to a given length. Shape: input (N, C, L) or (C, L)."""

    def forward(self, input: Tensor) -> Any:
        """Return the largest values, and their places with `return_indices`."""
        return F.adaptive_max_pool1d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """Max pooling to a given size. Shape: input (N, C, H, W) or (C, H, W)."""

    def forward(self, input: Tensor) -> Any:
        """Return the largest values, and their places with `return_indices`."""
        return F.adaptive_max_pool2d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """Max pooling to a given size. Shape: input (N, C, D, H, W) or (C, D, H, W)."""

    def forward(self, input: Tensor) -> Any:
        """Return the largest values, and their places with `return_indices`."""
        return F.adaptive_max_pool3d(input, self.output_size, self.return_indices)


class _AdaptiveAvgPoolNd(Module):
    """The mean of as many windows as the output has places."""

    __constants__ = ("output_size",)

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def extra_repr(self) -> str:
        """Return the output size."""
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """Mean pooling to a given length. Shape: input (N, C, L) or (C, L)."""

    def forward(self, input: Tensor) -> Tensor:
        """Return the means."""
        return F.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """Mean pooling to a given size. Shape: input (N, C, H, W) or (C, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        """Return the means."""
        return F.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """Mean pooling to a given size. Shape: input (N, C, D, H, W) or (C, D, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        """Return the means."""
        return F.adaptive_avg_pool3d(input, self.output_size)
