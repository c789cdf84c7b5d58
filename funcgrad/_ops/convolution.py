"""Rows: convolutions and their transposes in one to three dimensions, lowered for speed on the CPU too.

Layouts are torch's: input (N, C, *) or (C, *), weight (O, C / groups, *), transposed (C, O / groups, *).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from funcgrad._ops.broadcasting import stretched
from funcgrad._ops.checks import no_kernel, require_same_type, require_scalar_type, spread
from funcgrad._ops.correlation import correlate, spread_out
from funcgrad._ops.table import Array, Dims, op


def _convolution_grad(shapes: tuple, statics: tuple) -> tuple:
    batched = len(shapes[0]) == len(shapes[1])
    if batched:
        return ("ConvolutionBackward0", "input", "weight", "bias")
    return ("SqueezeBackward1", ("ConvolutionBackward0", ("UnsqueezeBackward0", "input"), "weight", "bias"))


@op(grad=_convolution_grad, names="conv1d nn.functional.conv1d")
def conv1d(
    input: Array,
    weight: Array,
    bias: Array | None = None,
    stride: Dims = (1,),
    padding: str | Dims = (0,),
    dilation: Dims = (1,),
    groups: int = 1,
) -> Array:
    """Slide each of O kernels over the input and sum the products.

    Shape: input (N, C, L) or (C, L), weight (O, C / groups, K), bias (O,), result (N, O, L').
    RuntimeError where channels, groups, dtypes or sizes do not fit. padding: numbers, "same" or "valid".
    """
    return _convolution("conv1d", 1, input, weight, bias, stride, padding, dilation, groups)


@op(grad=_convolution_grad, names="conv2d nn.functional.conv2d")
def conv2d(
    input: Array,
    weight: Array,
    bias: Array | None = None,
    stride: Dims = (1,),
    padding: str | Dims = (0,),
    dilation: Dims = (1,),
    groups: int = 1,
) -> Array:
    """Slide each of O kernels over the image and sum the products.

    Shape: input (N, C, H, W) or (C, H, W), weight (O, C / groups, KH, KW), bias (O,), result (N, O, H', W').
    RuntimeError where channels, groups, dtypes or sizes do not fit. padding: numbers, "same" or "valid".
    """
    return _convolution("conv2d", 2, input, weight, bias, stride, padding, dilation, groups)


@op(grad=_convolution_grad, names="conv3d nn.functional.conv3d")
def conv3d(
    input: Array,
    weight: Array,
    bias: Array | None = None,
    stride: Dims = (1,),
    padding: str | Dims = (0,),
    dilation: Dims = (1,),
    groups: int = 1,
) -> Array:
    """Slide each of O kernels over the volume and sum the products.

    Shape: input (N, C, D, H, W) or (C, D, H, W), weight (O, C / groups, KD, KH, KW), bias (O,),
    result (N, O, D', H', W').
    RuntimeError where channels, groups, dtypes or sizes do not fit. padding: numbers, "same" or "valid".
    """
    return _convolution("conv3d", 3, input, weight, bias, stride, padding, dilation, groups)


@op(grad=_convolution_grad, names="conv_transpose1d nn.functional.conv_transpose1d")
def conv_transpose1d(
    input: Array,
    weight: Array,
    bias: Array | None = None,
    stride: Dims = (1,),
    padding: Dims = (0,),
    output_padding: Dims = (0,),
    groups: int = 1,
    dilation: Dims = (1,),
) -> Array:
    """The gradient of conv1d with respect to its input, as an operation.

    Shape: input (N, C, L) or (C, L), weight (C, O / groups, K), bias (O,), result (N, O, L') where
    L' = (L - 1) stride - 2 padding + dilation (K - 1) + output_padding + 1.
    """
    return _transposed("conv_transpose1d", 1, input, weight, bias, stride, padding, output_padding, groups, dilation)


@op(grad=_convolution_grad, names="conv_transpose2d nn.functional.conv_transpose2d")
def conv_transpose2d(
    input: Array,
    weight: Array,
    bias: Array | None = None,
    stride: Dims = (1,),
    padding: Dims = (0,),
    output_padding: Dims = (0,),
    groups: int = 1,
    dilation: Dims = (1,),
) -> Array:
    """The gradient of conv2d with respect to its input, as an operation.

    Shape: input (N, C, H, W) or (C, H, W), weight (C, O / groups, KH, KW), bias (O,), result (N, O, H', W'),
    H' as L' in conv_transpose1d.
    """
    return _transposed("conv_transpose2d", 2, input, weight, bias, stride, padding, output_padding, groups, dilation)


@op(grad=_convolution_grad, names="conv_transpose3d nn.functional.conv_transpose3d")
def conv_transpose3d(
    input: Array,
    weight: Array,
    bias: Array | None = None,
    stride: Dims = (1,),
    padding: Dims = (0,),
    output_padding: Dims = (0,),
    groups: int = 1,
    dilation: Dims = (1,),
) -> Array:
    """The gradient of conv3d with respect to its input, as an operation.

    Shape: input (N, C, D, H, W) or (C, D, H, W), weight (C, O / groups, KD, KH, KW), bias (O,),
    result (N, O, D', H', W'), D' as L' in conv_transpose1d.
    """
    return _transposed("conv_transpose3d", 3, input, weight, bias, stride, padding, output_padding, groups, dilation)


def _convolution(
    name: str, count: int, input: Array, weight: Array, bias: Array | None, stride: Dims, padding: str | Dims,
    dilation: Dims, groups: int,
) -> Array:  # fmt: skip
    _check_counts(weight, stride=stride, padding=padding, dilation=dilation)
    batched = _batched(name, count, input, weight, () if isinstance(padding, str) else stride)
    steps, gaps = _spread_steps(count, stride, dilation, input)
    _check_groups(weight, groups)
    if not isinstance(padding, str):
        _numbers(padding, count)
    if weight.shape[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, "
            f"but got weight of size [{list(weight.shape)}] instead"
        )
    _check_channels(batched, weight, bias, groups, weight.shape[0], weight.shape[1] * groups, "")
    _check_kernel_size(weight.shape[2:])
    pads = _pads(padding, count, steps, gaps, weight.shape[2:])
    _check_kernel_fits(batched.shape[2:], weight.shape[2:], pads, gaps)
    result = _plus_bias(correlate(batched, weight, steps, pads, gaps, groups), bias)
    return result if batched is input else result[0]


def _transposed(
    name: str, count: int, input: Array, weight: Array, bias: Array | None, stride: Dims, padding: Dims,
    output_padding: Dims, groups: int, dilation: Dims,
) -> Array:  # fmt: skip
    _check_counts(weight, stride=stride, padding=padding, dilation=dilation)
    batched = _batched(name, count, input, weight, stride)
    steps, gaps = _spread_steps(count, stride, dilation, input)
    _check_groups(weight, groups)
    _numbers(padding, count)
    extra = spread(output_padding, count, "output_padding")
    _check_channels(batched, weight, bias, groups, weight.shape[1] * groups, weight.shape[0], "transposed=1, ")
    _check_kernel_size(weight.shape[2:])
    for d in range(count):
        if extra[d] >= max(steps[d], gaps[d]):
            raise RuntimeError(
                "output padding must be smaller than either stride or dilation, but got "
                f"{' '.join(_by_axis(output_padding=extra, stride=steps, dilation=gaps))}"
            )
    pads = tuple((p, p) for p in _numbers(padding, count))
    sizes = tuple(
        (n - 1) * s - 2 * p[0] + g * (k - 1) + e + 1
        for n, s, p, g, k, e in zip(batched.shape[2:], steps, pads, gaps, weight.shape[2:], extra, strict=True)
    )
    if min(sizes) < 1:
        raise RuntimeError(
            f"Given input size per channel: {list(batched.shape[1:])}. "
            f"Calculated output size per channel: {list(sizes)}. "
            "Output size is too small"
        )
    result = _plus_bias(spread_out(batched, weight, steps, pads, gaps, groups, sizes), bias)
    return result if batched is input else result[0]


def _check_counts(weight: Array, **given: str | Dims) -> None:
    """Raise RuntimeError where numbers are not as many as the kernel has dimensions."""
    count = max(weight.ndim - 2, 1)
    for name, numbers in given.items():
        if not isinstance(numbers, (str, int)) and len(numbers) not in (1, count):
            raise RuntimeError(
                f"expected {name} to be a single integer value or a list of {count} values to match the convolution "
                f"dimensions, but got {name}={list(numbers)}"
            )


def _batched(name: str, count: int, input: Array, weight: Array, stride: Dims) -> Array:
    if input.ndim not in (count + 1, count + 2):
        raise RuntimeError(
            f"Expected {count + 1}D (unbatched) or {count + 2}D (batched) input to {name}, "
            f"but got input of size: {list(input.shape)}"
        )
    if weight.ndim < 3:
        raise RuntimeError("weight should have at least three dimensions")
    if weight.ndim != count + 2:
        if stride:  # of a padding by name torch looks at the dimensions first
            _check_counts(weight, stride=spread(stride, count, "stride"))
        raise RuntimeError(
            f"Expected {weight.ndim}-dimensional input for {weight.ndim}-dimensional weight {list(weight.shape)}, "
            f"but got {input.ndim}-dimensional input of size {list(input.shape)} instead"
        )
    return input if input.ndim == count + 2 else input[None]


def _spread_steps(count: int, stride: Dims, dilation: Dims, input: Array) -> tuple[Dims, Dims]:
    steps, gaps = spread(stride, count, "stride"), spread(dilation, count, "dilation")
    if min(steps) < 1:
        raise RuntimeError("non-positive stride is not supported")
    if min(gaps) < 0:
        raise RuntimeError("dilation should be greater than zero")
    if min(gaps) < 1 and input.dtype == np.float32:  # each of torch's kernels has words of its own
        raise RuntimeError("non-positive dilation is not supported")
    if min(gaps) < 1:
        raise RuntimeError(f"dilation should be greater than zero, but got {[1, *gaps] if count == 1 else list(gaps)}")
    return steps, gaps


def _numbers(padding: Dims, count: int) -> Dims:
    numbers = spread(padding, count, "padding")
    if min(numbers) < 0:
        raise RuntimeError("negative padding is not supported")
    return numbers


def _pads(padding: str | Dims, count: int, steps: Dims, gaps: Dims, kernel: Dims) -> tuple[tuple[int, int], ...]:
    if padding == "valid":
        return ((0, 0),) * count
    if padding == "same":
        if max(steps) > 1:
            raise RuntimeError("padding='same' is not supported for strided convolutions")
        totals = [g * (k - 1) for g, k in zip(gaps, kernel, strict=True)]
        return tuple((t // 2, t - t // 2) for t in totals)
    if isinstance(padding, str):
        raise RuntimeError(f"Invalid padding string: {padding!r}")
    return tuple((p, p) for p in _numbers(padding, count))


def _by_axis(**given: Dims) -> Iterator[str]:
    """Yield each number with its name and axis; of one dimension the height is that of an image of one line."""
    for name, numbers in given.items():
        shown = (0 if name == "output_padding" else 1, *numbers) if len(numbers) == 1 else numbers
        axes = ("depth", "height", "width")[-len(shown) :]
        yield from (f"{name}_{axis}: {number}" for axis, number in zip(axes, shown, strict=True))


def _check_groups(weight: Array, groups: int) -> None:
    if groups < 1:
        raise RuntimeError("non-positive groups is not supported")
    if weight.shape[0] < groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, "
            f"but got weight of size {list(weight.shape)} instead"
        )


def _check_channels(
    input: Array, weight: Array, bias: Array | None, groups: int, outputs: int, inputs: int, transposed: str
) -> None:
    if input.shape[1] != inputs:
        raise RuntimeError(
            f"Given {transposed or f'groups={groups}, '}weight of size {list(weight.shape)}, "
            f"expected input{list(input.shape)} to have {inputs} channels, but got {input.shape[1]} channels instead"
        )
    if transposed and inputs % groups:
        raise RuntimeError(
            f"Given transposed=1, groups={groups}, expected weight to be divisible by {groups} at dimension 0, "
            f"but got weight of size {list(weight.shape)} instead"
        )
    if bias is not None and bias.shape != (outputs,):
        raise RuntimeError(
            f"Given {transposed}weight of size {list(weight.shape)}, expected bias to be 1-dimensional with {outputs} "
            f"elements, but got bias of size {list(bias.shape)} instead"
        )
    if transposed:
        require_scalar_type(input, weight)
    require_same_type(input, bias)
    if input.dtype == bool:
        raise no_kernel("compute_columns3d" if input.ndim == 5 else "slow_conv2d_cpu", input)
    require_scalar_type(input, weight)


def _check_kernel_size(kernel: Dims) -> None:
    if min(kernel) > 0:
        return
    got = f": {' x '.join(map(str, kernel))} (TxHxW)" if len(kernel) == 3 else f" {' '.join(_by_axis(kernel=kernel))}"
    raise RuntimeError(f"kernel size should be greater than zero, but got{got}")


def _check_kernel_fits(sizes: Dims, kernel: Dims, pads: tuple[tuple[int, int], ...], gaps: Dims) -> None:
    padded = [n + low + high for n, (low, high) in zip(sizes, pads, strict=True)]
    reach = [g * (k - 1) + 1 for g, k in zip(gaps, kernel, strict=True)]
    if any(n < r for n, r in zip(padded, reach, strict=True)):
        raise RuntimeError(
            f"Calculated padded input size per channel: ({' x '.join(map(str, padded))}). "
            f"Kernel size: ({' x '.join(map(str, reach))}). Kernel size can't be greater than actual input size"
        )


def _plus_bias(result: Array, bias: Array | None) -> Array:
    return result if bias is None else result + stretched(bias.reshape(-1, *(1,) * (result.ndim - 2)), result.shape)
