"""Convolutions and transposed convolutions over one, two and three dimensions, and their lazy forms."""

from __future__ import annotations

import math
from typing import Any

from funcgrad._base.warning import warn
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn import functional as F
from funcgrad.nn import init
from funcgrad.nn.lazy import LazyModuleMixin
from funcgrad.nn.module import Module
from funcgrad.nn.parameter import Parameter, UninitializedParameter, empty_parameter
from funcgrad.nn.sizes import ntuple

_PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Module):
    """What all convolutions share. A subclass says how many dimensions, and calls its function."""

    __constants__ = (
        "stride", "padding", "dilation", "groups", "padding_mode", "output_padding", "in_channels", "out_channels",
        "kernel_size",
    )  # fmt: skip
    bias: Parameter | None
    weight: Parameter

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: str | tuple[int, ...],
        dilation: tuple[int, ...],
        transposed: bool,
        output_padding: tuple[int, ...],
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        _check_sizes(in_channels, out_channels, groups, stride, padding, padding_mode)
        self.in_channels, self.out_channels, self.kernel_size = in_channels, out_channels, kernel_size
        self.stride, self.padding, self.dilation = stride, padding, dilation
        self.transposed, self.output_padding, self.groups = transposed, output_padding, groups
        self.padding_mode = padding_mode
        self._reversed_padding_repeated_twice = _both_sides(padding, kernel_size, dilation)
        self._make_parameters(bias, device, dtype)

    def _make_parameters(self, bias: bool, device: Any, dtype: Any) -> None:
        self.weight = empty_parameter(self._weight_shape(), device, dtype)
        if bias:
            self.bias = empty_parameter(self.out_channels, device, dtype)
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def _weight_shape(self) -> tuple[int, ...]:
        rows, columns = self.out_channels, self.in_channels
        if self.transposed:
            rows, columns = columns, rows
        return (rows, columns // self.groups, *self.kernel_size)

    def reset_parameters(self) -> None:
        """Draw weight and bias from U(-k, k), k = (inputs of one output) ** -0.5."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in = init.fan_in_and_out(self.weight)[0]
            if fan_in != 0:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        """Return the options that are not the default."""
        parts = [f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"]
        count = len(self.kernel_size)
        if self.padding != (0,) * count:
            parts.append(f"padding={self.padding}")
        if self.dilation != (1,) * count:
            parts.append(f"dilation={self.dilation}")
        if self.output_padding != (0,) * count:
            parts.append(f"output_padding={self.output_padding}")
        if self.groups != 1:
            parts.append(f"groups={self.groups}")
        if self.bias is None:
            parts.append("bias=False")
        if self.padding_mode != "zeros":
            parts.append(f"padding_mode={self.padding_mode}")
        return ", ".join(parts)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("padding_mode", "zeros")


class _Conv(_ConvNd):
    """A convolution over `dimensions` dimensions."""

    dimensions: int

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        spread = ntuple(self.dimensions)
        super().__init__(
            in_channels, out_channels, spread(kernel_size), spread(stride),
            padding if isinstance(padding, str) else spread(padding), spread(dilation),
            False, spread(0), groups, bias, padding_mode, device, dtype,
        )  # fmt: skip

    def forward(self, input: Tensor) -> Tensor:
        """Return the convolution of `input` with the weight. Shape: input (N, C, *) or (C, *)."""
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        convolve = getattr(F, f"conv{self.dimensions}d")
        padding: Any = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            padding = 0
        return convolve(input, weight, bias, self.stride, padding, self.dilation, self.groups)


class Conv1d(_Conv):
    """A convolution along one dimension. Shape: input (N, C, L) or (C, L)."""

    dimensions = 1


class Conv2d(_Conv):
    """A convolution over images. Shape: input (N, C, H, W) or (C, H, W)."""

    dimensions = 2


class Conv3d(_Conv):
    """A convolution over volumes. Shape: input (N, C, D, H, W) or (C, D, H, W)."""

    dimensions = 3


class _ConvTransposeNd(_ConvNd):
    """A transposed convolution over `dimensions` dimensions."""

    dimensions: int

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        spread = ntuple(self.dimensions)
        super().__init__(
            in_channels, out_channels, spread(kernel_size), spread(stride), spread(padding), spread(dilation),
            True, spread(output_padding), groups, bias, padding_mode, device, dtype,
        )  # fmt: skip

    def forward(self, input: Tensor, output_size: Any = None) -> Tensor:
        """Return the transposed convolution; `output_size` chooses among the sizes that the stride leaves open."""
        convolve = getattr(F, f"conv_transpose{self.dimensions}d")
        extra = self._output_padding(input, output_size)
        return convolve(input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation)

    def _output_padding(self, input: Tensor, output_size: Any) -> tuple[int, ...]:
        """Return what to add at the end of each dimension so that the result has `output_size`."""
        if output_size is None:
            return self.output_padding
        count = self.dimensions
        batch_dims = input.dim() - count
        given = list(output_size)
        if len(given) == batch_dims + count:
            given = given[batch_dims:]
        if len(given) != count:
            raise ValueError(
                f"ConvTranspose{count}D: for {input.dim()}D input, output_size must have {count} or "
                f"{batch_dims + count} elements (got {len(given)})"
            )
        smallest = [
            (length - 1) * stride - 2 * int(padding) + dilation * (kernel - 1) + 1
            for length, stride, padding, dilation, kernel in zip(
                input.shape[batch_dims:], self.stride, self.padding, self.dilation, self.kernel_size, strict=True
            )
        ]
        largest = [size + stride - 1 for size, stride in zip(smallest, self.stride, strict=True)]
        if any(not low <= size <= high for low, size, high in zip(smallest, given, largest, strict=True)):
            raise ValueError(
                f"requested an output size of {output_size}, but valid sizes range from {smallest} to {largest} "
                f"(for an input of {input.shape[batch_dims:]})"
            )
        return tuple(size - low for size, low in zip(given, smallest, strict=True))


class _ConvTransposeMixin(_ConvTransposeNd):
    """The older name of the base of transposed convolutions, which registries of layers look for."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warn("`_ConvTransposeMixin` is a deprecated internal class. Please consider using public APIs.", FutureWarning)
        super(_ConvTransposeNd, self).__init__(*args, **kwargs)  # whose arguments are those of torch's base


class ConvTranspose1d(_ConvTransposeNd):
    """A transposed convolution along one dimension. Shape: input (N, C, L) or (C, L)."""

    dimensions = 1


class ConvTranspose2d(_ConvTransposeNd):
    """A transposed convolution over images. Shape: input (N, C, H, W) or (C, H, W)."""

    dimensions = 2


class ConvTranspose3d(_ConvTransposeNd):
    """A transposed convolution over volumes. Shape: input (N, C, D, H, W) or (C, D, H, W)."""

    dimensions = 3


class _LazyConv(LazyModuleMixin):
    """A convolution that learns `in_channels` from its first input."""

    def __init__(self, out_channels: int, kernel_size: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(0, 0, kernel_size, *args, **kwargs)
        self.out_channels = out_channels

    def _make_parameters(self, bias: bool, device: Any, dtype: Any) -> None:
        module: Any = self
        module.weight = UninitializedParameter(device=device, dtype=dtype)
        module.register_parameter("bias", UninitializedParameter(device=device, dtype=dtype) if bias else None)

    def initialize_parameters(self, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """Make the parameters for inputs of this shape."""
        module: Any = self
        if not module.has_uninitialized_params():
            return
        count = module.dimensions
        if input.dim() not in (count + 1, count + 2):
            raise RuntimeError(
                f"Expected {count + 1}D (unbatched) or {count + 2}D (batched) input to {type(self).__name__}, "
                f"but got input of size: {input.shape}"
            )
        module.in_channels = input.shape[-count - 1]
        if module.in_channels % module.groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        module.weight.materialize(module._weight_shape())
        if module.bias is not None:
            module.bias.materialize((self.out_channels,))
        module.reset_parameters()


class LazyConv1d(_LazyConv, Conv1d):
    """A Conv1d that learns `in_channels` from its first input."""

    cls_to_become = Conv1d


class LazyConv2d(_LazyConv, Conv2d):
    """A Conv2d that learns `in_channels` from its first input."""

    cls_to_become = Conv2d


class LazyConv3d(_LazyConv, Conv3d):
    """A Conv3d that learns `in_channels` from its first input."""

    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyConv, ConvTranspose1d):
    """A ConvTranspose1d that learns `in_channels` from its first input."""

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConv, ConvTranspose2d):
    """A ConvTranspose2d that learns `in_channels` from its first input."""

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConv, ConvTranspose3d):
    """A ConvTranspose3d that learns `in_channels` from its first input."""

    cls_to_become = ConvTranspose3d


def _check_sizes(
    in_channels: int,
    out_channels: int,
    groups: int,
    stride: tuple[int, ...],
    padding: str | tuple[int, ...],
    padding_mode: str,
) -> None:
    if groups <= 0:
        raise ValueError("groups must be a positive integer")
    if in_channels % groups != 0:
        raise ValueError("in_channels must be divisible by groups")
    if out_channels % groups != 0:
        raise ValueError("out_channels must be divisible by groups")
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            raise ValueError(f"Invalid padding string {padding!r}, should be one of {{'same', 'valid'}}")
        if padding == "same" and any(step != 1 for step in stride):
            raise ValueError("padding='same' is not supported for strided convolutions")
    if padding_mode not in _PADDING_MODES:
        raise ValueError(f"padding_mode must be one of {set(_PADDING_MODES)}, but got padding_mode='{padding_mode}'")


def _both_sides(padding: str | tuple[int, ...], kernel_size: tuple[int, ...], dilation: tuple[int, ...]) -> list[int]:
    """Return the padding as `F.pad` takes it: last dimension first, before and after."""
    if padding == "valid":
        return [0] * (2 * len(kernel_size))
    sides = []
    for place in reversed(range(min(len(kernel_size), len(dilation)))):
        if padding == "same":
            total = dilation[place] * (kernel_size[place] - 1)
            sides += [total // 2, total - total // 2]
        else:
            sides += [int(padding[place])] * 2
    return sides
