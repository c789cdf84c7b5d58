"""Rows: normalization over batches, layers, groups, instances and neighbouring channels.

Mean and variance are plain two-pass sums. Where weight and bias are one number for all that is summed, the gradient is
a formula of its own with two sums, where JAX's has four (64x32x26x26 forward and backward: 0.9 ms, before 1.5;
`python -m tests.benchmarks.rows --workloads batch-norm`). Over layers and groups JAX's has no more than there must be.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._ops.arithmetic import is_integer, to_float
from funcgrad._ops.backends import on_cpu
from funcgrad._ops.checks import require_floating, require_norm_dtypes, size_text, wide
from funcgrad._ops.half_precision import half_precision_of
from funcgrad._ops.own_vjp import with_own_vjp
from funcgrad._ops.table import Array, Dims, Scalar, op

_BATCH = ("NativeBatchNormBackward0", "input", "weight", "bias")


@op(grad=_BATCH, names="")
def batch_norm_train(
    input: Array,
    running_mean: Array | None = None,
    running_var: Array | None = None,
    weight: Array | None = None,
    bias: Array | None = None,
    momentum: Scalar = 0.1,
    eps: float = 1e-5,
) -> tuple[Array, ...]:
    """Normalize each channel by the batch's mean and variance; also return the new running ones, if any.

    Shape: input (N, C, *), all others (C,). ValueError where a channel has one value only.
    """
    if input.shape == (0,):
        return (input,) if running_mean is None or running_var is None else (input, running_mean, running_var)
    _check_channels("batch_norm", input, running_mean, running_var, weight, bias)
    if input.shape[0] * math.prod(input.shape[2:]) == 1:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size {size_text(input.shape)}"
        )
    axes = (0, *range(2, input.ndim))
    given = wide(input)
    half = half_precision_of((input, running_mean, running_var, weight, bias))
    result = _by_channel(given, *_columns(given, weight, bias), axes, eps, half).astype(input.dtype)
    if running_mean is None or running_var is None:
        return (result,)
    mean, variance, _ = _standardized(given, axes, eps)
    count = input.size // input.shape[1]
    unbiased = variance.reshape(-1) * (count / (count - 1))
    moved = [_moved(old, new, momentum) for old, new in ((running_mean, mean.reshape(-1)), (running_var, unbiased))]
    return (result, *moved)


@op(grad=_BATCH, names="")
def batch_norm_eval(
    input: Array,
    running_mean: Array,
    running_var: Array,
    weight: Array | None = None,
    bias: Array | None = None,
    eps: float = 1e-5,
) -> Array:
    """Normalize each channel by the given mean and variance. Shape: input (N, C, *), all others (C,)."""
    if input.shape == (0,):
        return input
    _check_channels("batch_norm", input, running_mean, running_var, weight, bias)
    given = wide(input)
    mean, variance = (_column(lax.stop_gradient(x), input, 1).astype(given.dtype) for x in (running_mean, running_var))
    return _scaled((given - mean) * lax.rsqrt(variance + eps), weight, bias, 1).astype(input.dtype)


def _instance_norm_grad(shapes: tuple, statics: tuple) -> tuple:
    repeated = [("RepeatBackward0", name) for name in ("weight", "bias")]
    return ("ViewBackward0", ("NativeBatchNormBackward0", ("ViewBackward0", "input"), *repeated))


@op(grad=_instance_norm_grad, names="")
def instance_norm_train(
    input: Array,
    running_mean: Array | None = None,
    running_var: Array | None = None,
    weight: Array | None = None,
    bias: Array | None = None,
    momentum: Scalar = 0.1,
    eps: float = 1e-5,
) -> tuple[Array, ...]:
    """Normalize each channel of each sample by its own mean and variance; also return the new running ones, if any.

    Shape: input (N, C, *), all others (C,). ValueError where a channel of a sample has one value only.
    """
    _check_channels("instance_norm", input, running_mean, running_var, weight, bias)
    count = math.prod(input.shape[2:])
    if count == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {size_text(input.shape)}")
    given, axes = wide(input), tuple(range(2, input.ndim))
    half = half_precision_of((input, running_mean, running_var, weight, bias))
    result = _by_channel(given, *_columns(given, weight, bias), axes, eps, half).astype(input.dtype)
    if running_mean is None or running_var is None:
        return (result,)
    mean, variance, _ = _standardized(given, axes, eps)
    new_mean, new_variance = (x.reshape(input.shape[:2]).mean(0) for x in (mean, variance * (count / (count - 1))))
    return (result, _moved(running_mean, new_mean, momentum), _moved(running_var, new_variance, momentum))


@op(grad=("NativeLayerNormBackward0", "input", "weight", "bias"), names="nn.functional.layer_norm")
def layer_norm(
    input: Array,
    normalized_shape: Dims,
    weight: Array | None = None,
    bias: Array | None = None,
    eps: float = 1e-5,
) -> Array:
    """Normalize by mean and variance over the last dimensions, then scale and shift.

    Shape: input (*, *normalized_shape), weight and bias of normalized_shape. RuntimeError for other shapes.
    """
    axes = _last_axes("layer_norm", input, normalized_shape, weight, bias)
    require_norm_dtypes(input, weight, bias)
    require_floating(input, "LayerNormKernelImpl")
    result = _standardized(wide(input), axes, eps)[2]
    return _affine(result, weight, bias).astype(input.dtype)


def _rms_norm_grad(shapes: tuple, statics: tuple) -> tuple:
    scale = ("RsqrtBackward0", ("AddBackward1", ("MeanBackward1", ("PowBackward0", "input"))))
    inner = ("MulBackward0", "input", scale)
    return inner if shapes[1] is None else ("MulBackward0", inner, "weight")


@op(grad=_rms_norm_grad, names="rms_norm nn.functional.rms_norm")
def rms_norm(input: Array, normalized_shape: Dims, weight: Array | None = None, eps: float | None = None) -> Array:
    """input / sqrt(mean(input^2) + eps) over the last dimensions, times weight; eps is the dtype's own unless given.

    Shape: input (*, *normalized_shape), weight of normalized_shape. RuntimeError for other shapes.
    """
    axes = _last_axes("rms_norm", input, normalized_shape, weight, None)
    require_floating(input, "rms_norm")
    given = wide(input)
    eps = float(jnp.finfo(given.dtype).eps) if eps is None else eps
    result = given * lax.rsqrt(jnp.square(given).mean(axes, keepdims=True) + eps)
    return _affine(result, weight, None).astype(input.dtype)


@op(grad=("NativeGroupNormBackward0", "input", "weight", "bias"), names="nn.functional.group_norm")
def group_norm(
    input: Array, num_groups: int, weight: Array | None = None, bias: Array | None = None, eps: float = 1e-5
) -> Array:
    """Normalize each group of channels of each sample, then scale and shift each channel.

    Shape: input (N, C, *), weight and bias (C,). RuntimeError where the groups do not divide C.
    """
    if input.ndim < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.ndim}")
    channels = input.shape[1]
    if num_groups < 1 or channels % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, "
            f"but got input of shape {list(input.shape)} and num_groups={num_groups}"
        )
    for name, given in (("weight", weight), ("bias", bias)):
        if given is not None and given.shape != (channels,):
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, "
                f"but got {name} of shape {list(given.shape)} and input of shape {list(input.shape)}"
            )
    if math.prod(input.shape[2:]) * channels // num_groups * input.shape[0] == 1:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size {size_text(input.shape)}"
        )
    require_norm_dtypes(input, weight, bias)
    each = channels // num_groups
    # channels of pictures are parted where they lie: last, between convolutions (see `_program.transposes`)
    sizes = (each, *input.shape[2:]) if input.ndim == 4 else (each * math.prod(input.shape[2:]),)
    grouped = wide(input).reshape(input.shape[0], num_groups, *sizes)
    result = _standardized(grouped, tuple(range(2, grouped.ndim)), eps)[2].reshape(input.shape)
    return _scaled(result, weight, bias, 1).astype(input.dtype)


def _local_response_norm_grad(shapes: tuple, statics: tuple) -> tuple:
    square = ("MulBackward0", "input", "input")
    mean = ("SqueezeBackward1", ("AvgPool2DBackward0", ("ConstantPadNdBackward0", ("UnsqueezeBackward0", square))))
    if len(shapes[0]) > 3:
        mean = (
            "ViewBackward0",
            ("SqueezeBackward1", ("AvgPool3DBackward0", ("ConstantPadNdBackward0", ("ViewBackward0", square)))),
        )
    return ("DivBackward0", "input", ("PowBackward0", ("AddBackward0", ("MulBackward0", mean))))


@op(grad=_local_response_norm_grad, names="nn.functional.local_response_norm")
def local_response_norm(input: Array, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Array:
    """input / (k + alpha * mean of squares over `size` neighbouring channels)^beta. Shape: input (N, C, *)."""
    if input.ndim < 3:
        raise ValueError(f"Expected 3D or higher dimensionality input (got {input.ndim} dimensions)")
    if not input.size:
        return input
    edges = ((0, 0), (size // 2, (size - 1) // 2), *((0, 0),) * (input.ndim - 2))
    padded = jnp.pad(jnp.square(input), edges)
    total = functools.reduce(lax.add, [lax.slice_in_dim(padded, i, i + input.shape[1], 1, 1) for i in range(size)])
    mean = to_float(total // size) if is_integer(input) else total / size
    return to_float(input) / (mean * alpha + k) ** beta


def _standardized(input: Array, axes: Dims, eps: float) -> tuple[Array, Array, Array]:
    """Return mean and (biased) variance over the axes, kept as ones, and the input brought to mean 0, variance 1."""
    mean = input.mean(axes, keepdims=True)
    centred = input - mean
    variance = jnp.square(centred).mean(axes, keepdims=True)
    return mean, variance, centred * lax.rsqrt(variance + eps)


def rounded_standard(
    input: Array, axes: Dims, eps: float, half: Any, rounds_variance: bool = False
) -> tuple[Array, Array]:
    """Return the input brought to mean 0 and variance 1 over axes, and the factor; half: what both are rounded to.

    torch keeps mean and factor for the gradient in the dtype of its arguments.
    """
    mean, variance, standard = _standardized(input, axes, eps)
    if half is None or not on_cpu():
        return standard, lax.rsqrt(variance + eps)
    variance = variance.astype(half).astype(input.dtype) if rounds_variance else variance
    mean, scale = (x.astype(half).astype(input.dtype) for x in (mean, lax.rsqrt(variance + eps)))
    return (input - mean) * scale, scale


def through_standard(gradient: Array, standard: Array, scale: Array, axes: Dims) -> Array:
    """Return the gradient of what was brought to mean 0 and variance 1 over axes, from that of the outcome."""
    along = (gradient * standard).mean(axes, keepdims=True)
    return scale * (gradient - gradient.mean(axes, keepdims=True) - standard * along)


@with_own_vjp(3, 4, 5)
def _by_channel(input: Array, weight: Array | None, bias: Array | None, axes: Dims, eps: float, half: Any) -> Array:
    """Standardize over axes along which weight and bias, (1, C, 1, ...), are the same, then scale and shift.

    Its gradients take two sums; JAX's, four. half: the half precision of all that was given, if it is one.
    """
    return _affine(_standard_of_batch(input, axes, eps, half)[0], weight, bias)


def _standard_of_batch(input: Array, axes: Dims, eps: float, half: Any) -> tuple[Array, Array]:
    return rounded_standard(input, axes, eps, half, half is not None and half != np.float16)  # as torch's two kernels


def _by_channel_forward(
    input: Array, weight: Array | None, bias: Array | None, axes: Dims, eps: float, half: Any
) -> tuple[Array, tuple[Array | None, ...]]:
    return _by_channel.plain(input, weight, bias, axes, eps, half), (input, weight, bias)


def _by_channel_backward(
    axes: Dims, eps: float, half: Any, saved: tuple[Array, Array | None, Array | None], gradient: Array
) -> tuple[Array | None, ...]:
    input, weight, bias = saved
    standard, scale = _standard_of_batch(input, axes, eps, half)
    along = gradient * standard
    scale = scale if weight is None else scale * weight
    by_weight, by_bias = (
        None if x is None else of.sum((0, *range(2, input.ndim)), keepdims=True)
        for x, of in ((weight, along), (bias, gradient))
    )
    return through_standard(gradient, standard, scale, axes), by_weight, by_bias


_by_channel.defvjp(_by_channel_forward, _by_channel_backward)


def _columns(input: Array, *of_channels: Array | None) -> list[Array | None]:
    return [None if x is None else _column(x, input, 1)[None].astype(input.dtype) for x in of_channels]


def _moved(old: Array, new: Array, momentum: Scalar) -> Array:
    """Return the running statistic a step nearer to the new one."""
    step = jnp.asarray(momentum).astype(old.dtype)
    return (1 - step) * old + step * lax.stop_gradient(new).astype(old.dtype)


def _column(values: Array, input: Array, axis: int) -> Array:
    return values.reshape(-1, *(1,) * (input.ndim - 1 - axis))


def _scaled(result: Array, weight: Array | None, bias: Array | None, axis: int) -> Array:
    if weight is not None:
        result = result * _column(weight, result, axis).astype(result.dtype)
    return result if bias is None else result + _column(bias, result, axis).astype(result.dtype)


def _affine(result: Array, weight: Array | None, bias: Array | None) -> Array:
    if weight is not None:
        result = result * weight.astype(result.dtype)
    return result if bias is None else result + bias.astype(result.dtype)


def _check_channels(name: str, input: Array, mean: Array | None, var: Array | None, *affine: Array | None) -> None:
    if input.ndim < 2:
        raise RuntimeError(f"{name}: expected input (N, C, *) with 2 or more dimensions, but got {list(input.shape)}")
    require_floating(input, name)
    for place, given in zip(("running_mean", "running_var", "weight", "bias"), (mean, var, *affine), strict=True):
        if given is not None and given.shape != (input.shape[1],):
            raise RuntimeError(f"{place} should contain {input.shape[1]} elements not {given.size}")
    require_norm_dtypes(input, *affine, mean, var)


def _last_axes(name: str, input: Array, shape: Dims, weight: Array | None, bias: Array | None) -> Dims:
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
            "normalized_shape = []"
        )
    for place, given in (("weight", weight), ("bias", bias)):
        if given is not None and given.shape != shape:
            raise RuntimeError(
                f"Expected {place} to be of same shape as normalized_shape, but got {place} of shape "
                f"{list(given.shape)} and normalized_shape = {list(shape)}"
            )
    if input.shape[-len(shape) :] != shape:
        any_before = "[*" if name == "rms_norm" else "[*, "
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape "
            f"{any_before}{', '.join(map(str, shape))}], but got input of size{list(input.shape)}"
        )
    return tuple(range(input.ndim - len(shape), input.ndim))
