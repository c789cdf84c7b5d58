"""How a convolution is lowered: which XLA operations it becomes, chosen by measurement where XLA's own choice is slow.

XLA's convolution is as fast in NCHW as in NHWC: it brings both to NHWC inside. Where it is slow, in milliseconds of
the result, the input's gradient and the weight's (`python -m tests.benchmarks.convolutions`; 2 CPU cores, jax 0.10.2,
float32; groups=4, groups=32 and volumes on a slower day), and what is done instead:
    many channels        64x32x14x14, 64 of 3x3    2.4, 2.6, 4.2  images with gaps, so by Eigen       1.4, 1.6, 1.7
    no padding           64x32x26x26, 64 of 3x3    28, 7, 31      likewise                            4.5, 6.0, 5.7
    few channels         32x16x32x32, 16 of 3x3    0.8, 0.8, 1.3  likewise, the weight's alone        0.8, 0.8, 1.1
    1x1                  16x256x14x14 to 64        0.7, 0.6, 2.0  a matrix product                    0.4, 0.4, 0.4
    depthwise            16x32x32x32, 3x3          11, 10, 2.4    a sum over the taps                 0.1, 0.1, 0.7
    depthwise, 7x7       8x96x28x28, all taps      1.0, 4.7, 25   row by row in a loop                3.3, 4.9, 5.1
    groups=4             16x32x32x32, 3x3          12, 9.7, 300   groups share a kernel               2.0, 2.4, 4.2
    groups=32            16x128x28x28, 3x3         97, 71, 5475   likewise                            7.2, 6.6, 11
    groups=16            1x256x8x8, 3x3            0.3, 0.3, 72   windows written out, a product      0.1, 0.2, 0.2
    three dimensions     4x16x16x16x16, 3x3x3      8, 7, 14       depth taps as channels of a 2-d one 1.2, 1.3, 1.3
    result > input       16x128x16x16, 2x2, pad 1  1.5, 3.0, 159  padded beforehand                   1.9, 1.8, 2.0
    transposed, step 2   16x128x16x16 to 64, 4x4   4.4, 3.3, 256  gradients of the other way          4.2, 2.9, 3.1
    ... of volumes       2x16x16x32x32, 3x3x3      1136, 34, 304  the result too                      72, 54, 15
"""

from __future__ import annotations

import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._ops.backends import Convolutions, on_cpu
from funcgrad._ops.dims import is_above
from funcgrad._ops.own_vjp import with_own_vjp
from funcgrad._ops.table import Array, Dims

Pads = tuple[tuple[int, int], ...]

_MOST_TAPS = 64
_MOST_SPLITS = 64
_FEW_SPLITS = 8  # each part is a kernel to compile, forward and backward
_WRITTEN_OUT = 2**22  # elements of windows: more are slower to write than convolutions are to compute
_MOST_AT_ONCE = 16  # taps in one sum: XLA fuses two layers in a row into each other, 49 x 49 products to compile
_MUCH = 256  # products that are added up for one number
_FEW, _MANY = 16, 32  # channels
_WHOLE = 2**23  # products in all


def correlate(input: Array, weight: Array, stride: Dims, pads: Pads, dilation: Dims, groups: int) -> Array:
    """Correlate (N, C, *) with kernels (O, C / groups, *)."""
    if groups == 1 and not any(map(any, pads)) and math.prod(weight.shape[2:]) == 1 and on_cpu():
        return _pointwise(input, weight, stride)
    if any(s > 1 and not isinstance(n, int) for s, n in zip(stride, input.shape[2:], strict=True)):
        input, pads = _reached(input, weight, stride, pads, dilation), ((0, 0),) * len(pads)
    if not on_cpu():
        return _convolved(input, weight, stride, pads, dilation, groups)
    if groups > 1:
        return _grouped(input, weight, stride, pads, dilation, groups)
    if input.ndim == 5:
        return _by_depth(input, weight, stride, pads, dilation)
    return _flat(input, weight, stride, pads, dilation)


def spread_out(
    input: Array, weight: Array, stride: Dims, pads: Pads, dilation: Dims, groups: int, sizes: Dims
) -> Array:
    """Apply the transpose of `correlate` with kernels (C, O / groups, *): the result (N, O, *sizes)."""
    spread = _spread_out_on_cpu if on_cpu() else _spread_out
    return spread(input, weight, stride, pads, dilation, groups, sizes)


def _reached(input: Array, weight: Array, stride: Dims, pads: Pads, dilation: Dims) -> Array:
    """Return the padded input as far as windows reach: for a length that varies JAX derives no gradient of the rest."""
    padded = jnp.pad(input, ((0, 0), (0, 0), *pads))
    stops = []
    for n, k, s, d in zip(padded.shape[2:], weight.shape[2:], stride, dilation, strict=True):
        reach = d * (k - 1) + 1
        stops.append((n - reach) // s * s + reach)
    return lax.slice(padded, (0,) * padded.ndim, (*padded.shape[:2], *stops))


def _convolved(input: Array, weight: Array, stride: Dims, pads: Pads, dilation: Dims, groups: int) -> Array:
    space = "DHW"[5 - input.ndim :]
    layout = (f"NC{space}", f"OI{space}", f"NC{space}")
    return lax.conv_general_dilated(
        input, weight, stride, pads, rhs_dilation=dilation, dimension_numbers=layout, feature_group_count=groups,
        precision=_precision(),
    )  # fmt: skip


def _precision() -> lax.Precision | None:
    return None if on_cpu() else Convolutions.precision()


def _pointwise(input: Array, weight: Array, stride: Dims) -> Array:
    """Multiply each position's channels by a matrix."""
    kept = input[(slice(None), slice(None), *(slice(None, None, s) for s in stride))] if max(stride) > 1 else input
    return jnp.einsum("nc...,oc->no...", kept, weight.reshape(weight.shape[:2]))


def _grouped(input: Array, weight: Array, stride: Dims, pads: Pads, dilation: Dims, groups: int) -> Array:
    if weight.shape[1] == 1 and math.prod(weight.shape[2:]) <= _MOST_TAPS:
        return _depthwise(input, weight, stride, pads, dilation)
    if _are_few_windows(input.shape[0], input.shape[1], input.shape[2:], weight.shape[2:], groups):
        return _by_windows(input, weight, stride, pads, dilation, groups)
    kernels = _joined(weight, groups, weight.shape[1])
    if len(kernels) > _MOST_SPLITS:
        return _convolved(input, weight, stride, pads, dilation, groups)
    parts = zip(jnp.split(input, len(kernels), 1), kernels, strict=True)
    return jnp.concatenate([correlate(x, w, stride, pads, dilation, 1) for x, w in parts], 1)


def _joined(weight: Array, groups: int, channels: int) -> list[Array]:
    """Return the kernels of groups with so many input channels each, several groups in one: zeros are between them.

    Kernels for a few channels take as long as for many, and each is compiled. Shapes: weight (groups A, B, *), each of
    the result (m A, m B, *) for m groups in one.
    """
    room = _FEW if groups * channels <= _FEW * _FEW_SPLITS else _MANY
    count = max(m for m in range(1, groups + 1) if groups % m == 0 and (m == 1 or m * channels <= room))
    rows, columns, *kernel = weight.shape
    each = weight.reshape(groups // count, count, rows // groups, 1, -1)
    blocks = each * jnp.eye(count, dtype=weight.dtype)[:, None, :, None]
    return list(blocks.reshape(groups // count, count * rows // groups, count * columns, *kernel))


def _are_few_windows(count: int, channels: int, sizes: Dims, kernel: Dims, groups: int) -> bool:
    """Tell whether many groups, or the groups of one image, had better be one product of matrices.

    Such are the images of a batch that have kernels of their own, as a generator modulates them.
    """
    if groups <= (1 if count == 1 else _FEW_SPLITS) or not all(isinstance(n, int) for n in (count, *sizes)):
        return False
    return count * channels * math.prod(sizes) * math.prod(kernel) <= _WRITTEN_OUT


def _by_windows(input: Array, weight: Array, stride: Dims, pads: Pads, dilation: Dims, groups: int) -> Array:
    """Multiply each group's windows, written out as the columns of a matrix, by its kernels.

    They are written axis by axis, each by itself: of an 11x11 kernel 22 slices to compile instead of 121, each of
    which would have had in it whatever makes the image (five scales of one: 7 s instead of 114).
    """
    windows = jnp.pad(input, ((0, 0), (0, 0), *pads))
    for axis, (taps, step, gap) in enumerate(zip(weight.shape[2:], stride, dilation, strict=True), start=2):
        size = windows.shape[axis]
        seen = [lax.slice_in_dim(windows, t * gap, size - (taps - 1 - t) * gap, step, axis) for t in range(taps)]
        stacked = lax.optimization_barrier(jnp.stack(seen, 2))
        windows = stacked.reshape(input.shape[0], -1, *stacked.shape[3:])
    kernels = weight.reshape(groups, weight.shape[0] // groups, -1)
    columns = windows.reshape(input.shape[0], groups, kernels.shape[2], -1)
    result = jnp.einsum("gok,ngkp->gonp", kernels, columns)
    return result.reshape(weight.shape[0], input.shape[0], *windows.shape[2:]).swapaxes(0, 1)


def _depthwise(input: Array, weight: Array, stride: Dims, pads: Pads, dilation: Dims) -> Array:
    padded = jnp.pad(jnp.repeat(input, weight.shape[0] // input.shape[1], 1), ((0, 0), (0, 0), *pads))
    return _channel_sums(padded, weight, stride, dilation)


@with_own_vjp(2, 3)
def _channel_sums(padded: Array, weight: Array, stride: Dims, dilation: Dims) -> Array:
    """Sum over the taps of one channel's kernel; of a large kernel row by row.

    The input's gradient is such a sum too, which JAX's transpose is not.
    """
    at_once = math.prod(weight.shape[2:]) <= _MOST_AT_ONCE
    return (_sum_over_taps if at_once else _sum_over_rows)(padded, weight, stride, dilation)


def _channel_sums_forward(
    padded: Array, weight: Array, stride: Dims, dilation: Dims
) -> tuple[Array, tuple[Array, Array]]:
    return _channel_sums(padded, weight, stride, dilation), (padded, weight)


def _channel_sums_backward(
    stride: Dims, dilation: Dims, saved: tuple[Array, Array], gradient: Array
) -> tuple[Array, Array]:
    padded, weight = saved
    edges = [(0, 0, 0), (0, 0, 0)]
    for n, k, m, s, d in zip(padded.shape[2:], weight.shape[2:], gradient.shape[2:], stride, dilation, strict=True):
        reach = (k - 1) * d
        edges.append((reach, n - (m - 1) * s - 1, s - 1))
    spread = lax.pad(gradient, jnp.zeros((), gradient.dtype), edges)
    turned = jnp.flip(weight, range(2, weight.ndim))
    _, pull = jax.vjp(lambda kernels: _channel_sums.plain(padded, kernels, stride, dilation), weight)
    return _channel_sums(spread, turned, (1,) * len(stride), dilation), pull(gradient)[0]


_channel_sums.defvjp(_channel_sums_forward, _channel_sums_backward)


def _sum_over_rows(padded: Array, weight: Array, stride: Dims, dilation: Dims) -> Array:
    """Like `_sum_over_taps`, in a loop."""
    reach = (weight.shape[2] - 1) * dilation[0]

    @jax.checkpoint
    def with_row(total: Array, row: Array) -> tuple[Array, None]:
        seen = lax.dynamic_slice_in_dim(padded, row * dilation[0], padded.shape[2] - reach, 2)
        return total + _sum_over_taps(seen, lax.dynamic_slice_in_dim(weight, row, 1, 2), stride, dilation), None

    result = shifted(padded, (0,) * len(stride), weight.shape[2:], stride, dilation)
    return lax.scan(with_row, jnp.zeros_like(result), jnp.arange(weight.shape[2], dtype=np.int32))[0]


def _sum_over_taps(padded: Array, weight: Array, stride: Dims, dilation: Dims) -> Array:
    """Sum shifted products, which XLA fuses."""
    total: Array | None = None
    for taps in itertools.product(*map(range, weight.shape[2:])):
        scale = weight[(slice(None), 0, *taps)].reshape(-1, *(1,) * (padded.ndim - 2))
        term = shifted(padded, taps, weight.shape[2:], stride, dilation) * scale
        total = term if total is None else total + term
    assert total is not None
    return total


def shifted(padded: Array, taps: Dims, kernel: Dims, stride: Dims, dilation: Dims) -> Array:
    """Return what one tap of a kernel sees, for every position of the kernel."""
    sizes = padded.shape[2:]
    starts = [t * d for t, d in zip(taps, dilation, strict=True)]
    stops = [n - (k - 1 - t) * d for n, k, t, d in zip(sizes, kernel, taps, dilation, strict=True)]
    return lax.slice(padded, (0, 0, *starts), (*padded.shape[:2], *stops), (1, 1, *stride))


def _by_depth(input: Array, weight: Array, stride: Dims, pads: Pads, dilation: Dims) -> Array:
    """Convolve a volume as images: its depth goes into the batch, the kernel's depth into the channels."""
    padded = jnp.pad(input, ((0, 0), (0, 0), pads[0], (0, 0), (0, 0)))
    depth = weight.shape[2]
    slabs = [shifted(padded, (i, 0, 0), (depth, 1, 1), (stride[0], 1, 1), (dilation[0], 1, 1)) for i in range(depth)]
    images = jnp.concatenate([slab.swapaxes(1, 2) for slab in slabs], 2)
    count, new_depth = images.shape[:2]
    kernels = weight.swapaxes(1, 2).reshape(weight.shape[0], -1, *weight.shape[3:])
    flat = images.reshape(count * new_depth, *images.shape[2:])
    result = correlate(flat, kernels, stride[1:], pads[1:], dilation[1:], 1)
    return result.reshape(count, new_depth, *result.shape[1:]).swapaxes(1, 2)


def _flat(input: Array, weight: Array, stride: Dims, pads: Pads, dilation: Dims) -> Array:
    """Convolve in one or two dimensions, keeping XLA off its slow paths (the table above)."""
    sizes = input.shape[2:]
    results = [
        (n + sum(p) - d * (k - 1) - 1) // s + 1
        for n, p, d, k, s in zip(sizes, pads, dilation, weight.shape[2:], stride, strict=True)
    ]
    if is_above(math.prod(results) - math.prod(sizes), 0):
        # XLA would fold a plain pad into the convolution, find the kernel of the weight gradient larger than its input,
        # and swap the two.
        input = lax.optimization_barrier(jnp.pad(input, ((0, 0), (0, 0), *pads)))
        pads = ((0, 0),) * len(pads)
    is_image = input.ndim == 4 and input.dtype == np.float32 and all(isinstance(n, int) for n in sizes)
    return (_of_images if is_image else _undivided)(input, weight, stride, pads, dilation)


def _undivided(input: Array, weight: Array, stride: Dims, pads: Pads, dilation: Dims) -> Array:
    return _convolved(input, weight, stride, pads, dilation, 1)


def _with_gaps(input: Array, weight: Array, stride: Dims, pads: Pads, dilation: Dims) -> Array:
    """The same convolution of images whose columns have gaps, which neither the kernels' columns nor the steps meet.

    XLA gives a convolution to a library (YNNPACK) or to Eigen, and the library takes none of images with gaps.
    """
    height, width = pads
    return lax.conv_general_dilated(
        input, weight, (stride[0], 2 * stride[1]), (height, (2 * width[0], 2 * width[1])), lhs_dilation=(1, 2),
        rhs_dilation=(dilation[0], 2 * dilation[1]), dimension_numbers=("NCHW", "OIHW", "NCHW"),
    )  # fmt: skip


@with_own_vjp(2, 3, 4)
def _of_images(input: Array, weight: Array, stride: Dims, pads: Pads, dilation: Dims) -> Array:
    """Convolve by whoever is quicker, and for both gradients too: Eigen where much is summed up for many channels."""
    features, *summed = weight.shape
    by_eigen = _is_for_eigen(math.prod(summed), features, _positions(input, stride))
    return (_with_gaps if by_eigen else _undivided)(input, weight, stride, pads, dilation)


def _is_for_eigen(summed: int, channels: int, positions: int) -> bool:
    return summed >= _MUCH and channels >= _MANY and is_above(positions * channels * summed, _WHOLE)


def _positions(input: Array, stride: Dims) -> int:
    """Return how many places of images a kernel is put at, but for the edges."""
    return math.prod([input.shape[0], *[n // s for n, s in zip(input.shape[2:], stride, strict=True)]])


def _of_images_forward(
    input: Array, weight: Array, stride: Dims, pads: Pads, dilation: Dims
) -> tuple[Array, tuple[Array, Array]]:
    return _of_images.plain(input, weight, stride, pads, dilation), (input, weight)


def _of_images_backward(
    stride: Dims, pads: Pads, dilation: Dims, saved: tuple[Array, Array], gradient: Array
) -> tuple[Array, Array]:
    input, weight = saved
    features, channels, *kernel = weight.shape
    summed, is_dense = features * math.prod(kernel), max(stride) == 1
    by_eigen = is_dense and _is_for_eigen(summed, channels, _positions(input, stride))
    to_input = _with_gaps if by_eigen else _undivided
    by_input = jax.vjp(lambda x: to_input(x, weight, stride, pads, dilation), input)[1](gradient)
    by_weight = jax.vjp(lambda x: _with_gaps(input, x, stride, pads, dilation), weight)[1](gradient)
    return *by_input, *by_weight


_of_images.defvjp(_of_images_forward, _of_images_backward)


def _spread_out(
    input: Array, weight: Array, stride: Dims, pads: Pads, dilation: Dims, groups: int, sizes: Dims
) -> Array:
    reach = [d * (k - 1) for d, k in zip(dilation, weight.shape[2:], strict=True)]
    full = [(n - 1) * s + 1 for n, s in zip(input.shape[2:], stride, strict=True)]
    low = [r - p[0] for r, p in zip(reach, pads, strict=True)]
    high = [n + r - f - a for n, r, f, a in zip(sizes, reach, full, low, strict=True)]
    cut = tuple(slice(max(-a, 0), max(-a, 0) + n) for a, n in zip(low, sizes, strict=True))
    space = "DHW"[5 - input.ndim :]
    kernels = jnp.flip(weight, tuple(range(2, weight.ndim)))
    if groups > 1:
        split = kernels.reshape(groups, -1, *kernels.shape[1:]).swapaxes(0, 1)
        kernels = split.reshape(split.shape[0], -1, *split.shape[3:])
    result = lax.conv_general_dilated(
        input, kernels, (1,) * len(sizes), [(max(a, 0), max(b, 0)) for a, b in zip(low, high, strict=True)],
        lhs_dilation=stride, rhs_dilation=dilation, feature_group_count=groups,
        dimension_numbers=(f"NC{space}", f"IO{space}", f"NC{space}"), precision=_precision(),
    )  # fmt: skip
    return result[(slice(None), slice(None), *cut)]


@with_own_vjp(2, 3, 4, 5, 6)
def _spread_out_on_cpu(
    input: Array, weight: Array, stride: Dims, pads: Pads, dilation: Dims, groups: int, sizes: Dims
) -> Array:
    """Like `_spread_out`; its gradients are those of the convolution that it transposes, which XLA does much faster.

    What that does not leave to XLA is transposed as it is: volumes, single channels, small groups.
    """
    whole, taps = (input.shape[0], weight.shape[1] * groups, *sizes), math.prod(weight.shape[2:])
    is_depthwise = groups > 1 and weight.shape[1] == 1 and taps <= _MOST_TAPS
    is_slow = input.ndim == 5 or is_depthwise or _are_few_windows(*whole[:2], sizes, weight.shape[2:], groups)
    if is_slow and input.dtype.kind not in "iu":  # whole numbers have no derivatives, by which it is transposed
        kept = tuple(slice(n) for n in input.shape)

        def seen(image: Array) -> Array:
            return correlate(image, weight, stride, pads, dilation, groups)[kept]

        return jax.vjp(seen, jnp.zeros(whole, input.dtype))[1](input)[0]
    kernels = _joined(weight, groups, input.shape[1] // groups)
    if len(kernels) > _MOST_SPLITS:
        return _spread_out(input, weight, stride, pads, dilation, groups, sizes)
    parts = zip(jnp.split(input, len(kernels), 1), kernels, strict=True)
    return jnp.concatenate([_spread_out(x, w, stride, pads, dilation, 1, sizes) for x, w in parts], 1)


def _spread_out_forward(
    input: Array, weight: Array, stride: Dims, pads: Pads, dilation: Dims, groups: int, sizes: Dims
) -> tuple[Array, tuple[Array, Array]]:
    return _spread_out_on_cpu(input, weight, stride, pads, dilation, groups, sizes), (input, weight)


def _spread_out_backward(
    stride: Dims, pads: Pads, dilation: Dims, groups: int, sizes: Dims, saved: tuple[Array, Array], gradient: Array
) -> tuple[Array, Array]:
    input, weight = saved
    kept = tuple(slice(n) for n in input.shape)

    def back(kernels: Array) -> Array:
        return correlate(gradient, kernels, stride, pads, dilation, groups)[kept]

    by_input, pull = jax.vjp(back, weight)
    return by_input, pull(input)[0]


_spread_out_on_cpu.defvjp(_spread_out_forward, _spread_out_backward)
