"""Rows: average pooling, adaptive too, and pooling by a power mean."""

from __future__ import annotations

import math
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._ops.checks import require_real_floating, spread, wide
from funcgrad._ops.pooling import adaptive_batched, adaptive_bounds, adaptive_sizes, refuse_empty
from funcgrad._ops.reductions import refuse_mean
from funcgrad._ops.table import Array, Dims, op
from funcgrad._ops.windows import Windows, batched, windows


@op(
    grad=("SqueezeBackward1", ("AvgPool2DBackward0", ("UnsqueezeBackward0", "input"))),
    names="avg_pool1d nn.functional.avg_pool1d",
)
def avg_pool1d(
    input: Array,
    kernel_size: Dims,
    stride: Dims | None = None,
    padding: Dims = (0,),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Array:
    """The mean of each window. Shape: input (N, C, L) or (C, L)."""
    return _avg_pool("avg_pool1d", 1, input, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


@op(grad="AvgPool2DBackward0", names="nn.functional.avg_pool2d")
def avg_pool2d(
    input: Array,
    kernel_size: Dims,
    stride: Dims | None = None,
    padding: Dims = (0,),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Array:
    """The mean of each window, or its sum over `divisor_override`. Shape: input (N, C, H, W) or (C, H, W)."""
    return _avg_pool(
        "avg_pool2d", 2, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


@op(grad="AvgPool3DBackward0", names="nn.functional.avg_pool3d")
def avg_pool3d(
    input: Array,
    kernel_size: Dims,
    stride: Dims | None = None,
    padding: Dims = (0,),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Array:
    """The mean of each window, or its sum over `divisor_override`. Shape: input (N, C, D, H, W) or (C, D, H, W)."""
    return _avg_pool(
        "avg_pool3d", 3, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


def _adaptive_avg_pool1d_grad(shapes: tuple, statics: tuple) -> tuple:
    inner = "MeanBackward1" if _is_one(statics[0]) else "AdaptiveAvgPool2DBackward0"
    return ("SqueezeBackward1", (inner, ("UnsqueezeBackward0", "input")))


@op(grad=_adaptive_avg_pool1d_grad, names="adaptive_avg_pool1d nn.functional.adaptive_avg_pool1d")
def adaptive_avg_pool1d(input: Array, output_size: Sequence[int | None] | int) -> Array:
    """The mean of each of `output_size` windows that cover the input. Shape: input (N, C, L) or (C, L)."""
    return _adaptive_avg_pool("adaptive_avg_pool1d", 1, input, output_size)


def _adaptive_avg_pool2d_grad(shapes: tuple, statics: tuple) -> str:
    return "MeanBackward1" if _is_one(statics[0]) else "AdaptiveAvgPool2DBackward0"


@op(grad=_adaptive_avg_pool2d_grad, names="nn.functional.adaptive_avg_pool2d")
def adaptive_avg_pool2d(input: Array, output_size: Sequence[int | None] | int) -> Array:
    """The mean of each of `output_size` windows that cover the input. Shape: input (N, C, H, W) or (C, H, W)."""
    return _adaptive_avg_pool("adaptive_avg_pool2d", 2, input, output_size)


def _adaptive_avg_pool3d_grad(shapes: tuple, statics: tuple) -> str:
    return "MeanBackward1" if _is_one(statics[0]) else "AdaptiveAvgPool3DBackward0"


@op(grad=_adaptive_avg_pool3d_grad, names="nn.functional.adaptive_avg_pool3d")
def adaptive_avg_pool3d(input: Array, output_size: Sequence[int | None] | int) -> Array:
    """The mean of each of `output_size` windows that cover the input. Shape: input (N, C, D, H, W) or (C, D, H, W)."""
    return _adaptive_avg_pool("adaptive_avg_pool3d", 3, input, output_size)


def _lp_pool_grad(inner: tuple) -> tuple:
    size = ("MulBackward0", ("SignBackward0", inner), ("ReluBackward0", ("AbsBackward0", inner)))
    return ("PowBackward0", ("MulBackward0", size))


@op(
    grad=_lp_pool_grad(("SqueezeBackward1", ("AvgPool2DBackward0", ("UnsqueezeBackward0", ("PowBackward0", "input"))))),
    promote="float",
    names="nn.functional.lp_pool1d",
)
def lp_pool1d(
    input: Array, norm_type: float, kernel_size: Dims, stride: Dims | None = None, ceil_mode: bool = False
) -> Array:
    """sum(input^p)^(1/p) of each window. Shape: input (N, C, L) or (C, L)."""
    return _lp_pool("lp_pool1d", 1, input, norm_type, kernel_size, stride, ceil_mode)


@op(
    grad=_lp_pool_grad(("AvgPool2DBackward0", ("PowBackward0", "input"))),
    promote="float",
    names="nn.functional.lp_pool2d",
)
def lp_pool2d(
    input: Array, norm_type: float, kernel_size: Dims, stride: Dims | None = None, ceil_mode: bool = False
) -> Array:
    """sum(input^p)^(1/p) of each window. Shape: input (N, C, H, W) or (C, H, W)."""
    return _lp_pool("lp_pool2d", 2, input, norm_type, kernel_size, stride, ceil_mode)


@op(
    grad=_lp_pool_grad(("AvgPool3DBackward0", ("PowBackward0", "input"))),
    promote="float",
    names="nn.functional.lp_pool3d",
)
def lp_pool3d(
    input: Array, norm_type: float, kernel_size: Dims, stride: Dims | None = None, ceil_mode: bool = False
) -> Array:
    """sum(input^p)^(1/p) of each window. Shape: input (N, C, D, H, W) or (C, D, H, W)."""
    return _lp_pool("lp_pool3d", 3, input, norm_type, kernel_size, stride, ceil_mode)


def _avg_pool(
    name: str, count: int, input: Array, kernel_size: Dims, stride: Dims | None, padding: Dims, ceil_mode: bool,
    include_padding: bool, divisor: int | None,
) -> Array:  # fmt: skip
    if divisor == 0:
        raise RuntimeError("divisor must be not zero")
    whole = batched(name, input, count)
    over = windows(name, input, count, kernel_size, stride, padding, 1, ceil_mode)
    total = _sums(wide(whole), over)
    result = (total / (_window_sizes(over, include_padding) if divisor is None else divisor)).astype(input.dtype)
    return result if whole is input else result[0]


def _window_sizes(over: Windows, include_padding: bool) -> Array | int:
    """Return how many elements each window has, as one number where all lie within what counts."""
    borders = over.padding if include_padding else (0,) * len(over.counts)
    spans = zip(over.sizes, over.kernel, over.stride, over.counts, borders, strict=True)
    if (include_padding or not any(over.padding)) and all((c - 1) * s + k <= n + 2 * p for n, k, s, c, p in spans):
        return math.prod(over.kernel)
    counts = over.covered(include_padding)
    sizes = jnp.ones((1,) * len(counts), np.float32)
    for d, c in enumerate(counts):
        sizes = sizes * c.reshape(-1, *(1,) * (len(counts) - 1 - d)).astype(np.float32)
    return sizes


def _sums(input: Array, over: Windows) -> Array:
    """Sum each window: by a reshape where windows tile the input, else tap by tap, one dimension after the other."""
    if over.tile:
        shape = [n for pair in zip(over.counts, over.kernel, strict=True) for n in pair]
        return input.reshape(*input.shape[:2], *shape).sum(tuple(range(3, 3 + 2 * len(over.counts), 2)))
    total = over.padded(input, 0)
    for d, (k, s, c) in enumerate(zip(over.kernel, over.stride, over.counts, strict=True)):
        terms = [lax.slice_in_dim(total, t, t + (c - 1) * s + 1, s, 2 + d) for t in range(k)]
        total = terms[0]
        for term in terms[1:]:
            total = total + term
    return total


def _adaptive_avg_pool(name: str, count: int, input: Array, output_size: Sequence[int | None] | int) -> Array:
    if isinstance(output_size, int) and output_size == 1 and input.ndim == count > 1:  # a mean, as torch takes it
        return wide(input).mean(keepdims=True).astype(input.dtype)
    whole = adaptive_batched(name, input, count, output_size)
    if _is_one(output_size):
        refuse_mean(input)
    else:
        require_real_floating(input, "adaptive_avg_pool3d_cpu" if count == 3 else "adaptive_avg_pool2d")
    if count == 3:
        refuse_empty(name, input.shape, range(1, input.ndim))
    else:  # torch knows one dimension as two
        shape = input.shape if count == 2 else (*input.shape[:-1], 1, input.shape[-1])
        refuse_empty("adaptive_avg_pool2d", shape, range(len(shape) - 2, len(shape)))
    result = average_to(wide(whole), adaptive_sizes(name, input.shape, count, output_size)).astype(input.dtype)
    return result if whole is input else result[0]


def average_to(input: Array, sizes: Dims) -> Array:
    """Return the means of `sizes` windows that cover the input (N, C, *), which may overlap."""
    old = input.shape[2:]
    if all(o and n % o == 0 for n, o in zip(old, sizes, strict=True)):
        shape = [part for n, o in zip(old, sizes, strict=True) for part in (o, n // o)]
        return input.reshape(*input.shape[:2], *shape).mean(tuple(range(3, 3 + 2 * len(old), 2)))
    for d, (n, o) in enumerate(zip(old, sizes, strict=True)):
        shares = jnp.asarray(_shares(n, o), input.dtype)
        input = jnp.moveaxis(jnp.tensordot(input, shares, ((2 + d,), (1,)), precision="highest"), -1, 2 + d)
    return input


def _shares(size: int, count: int) -> np.ndarray:
    """Return how much each element adds to each window's mean: (count, size)."""
    starts, stops = adaptive_bounds(size, count)
    places = np.arange(size)
    inside = (places >= starts[:, None]) & (places < stops[:, None])
    return inside / (stops - starts)[:, None]


def _lp_pool(
    name: str, count: int, input: Array, norm_type: float, kernel_size: Dims, stride: Dims | None, ceil_mode: bool
) -> Array:
    mean = _avg_pool(name, count, input**norm_type, kernel_size, stride, (0,), ceil_mode, True, None)
    size = math.prod(spread(kernel_size, count, "kernel_size"))
    return (jnp.sign(mean) * jax.nn.relu(jnp.abs(mean)) * size) ** (1.0 / norm_type)


def _is_one(output_size: Sequence[int | None] | int) -> bool:
    return all(o == 1 for o in ((output_size,) if isinstance(output_size, int) else output_size))
