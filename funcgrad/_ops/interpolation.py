"""Rows: images brought to another size.

Linear, cubic and anti-aliased sizes are a small matrix for each dimension: matrix products, and so are their gradients,
where gathered neighbours would be scattered.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._ops.average_pooling import average_to
from funcgrad._ops.checks import no_kernel, wide
from funcgrad._ops.loss_reduction import completed
from funcgrad._ops.table import Array, Dims, op

_LINEAR = {"linear": 1, "bilinear": 2, "trilinear": 3, "bicubic": 2}
_SMOOTH = ("bilinear", "bicubic", "lanczos")
_NODES = {
    "nearest": "UpsampleNearest{}DBackward0", "nearest-exact": "UpsampleNearestExact{}DBackward0",
    "linear": "UpsampleLinear1DBackward0", "bilinear": "UpsampleBilinear2DBackward0",
    "trilinear": "UpsampleTrilinear3DBackward0", "bicubic": "UpsampleBicubic2DBackward0",
    "lanczos": "UpsampleLanczos2DBackward0",
}  # fmt: skip


def _interpolate_grad(shapes: tuple, statics: tuple) -> Any:
    size, _, mode, _, _, antialias = completed(statics, None, None, "nearest", None, None, False)
    count = len(shapes[0]) - 2
    if mode != "area":
        name = _NODES[mode].format(count)
        return name.replace("DBackward", "DAaBackward") if antialias else name
    spread = (size,) if isinstance(size, int) else size
    name = "MeanBackward1" if spread is not None and set(spread) == {1} else f"AdaptiveAvgPool{max(count, 2)}DBackward0"
    return ("SqueezeBackward1", (name, ("UnsqueezeBackward0", "input"))) if count == 1 else name


@op(grad=_interpolate_grad, names="nn.functional.interpolate")
def interpolate(
    input: Array,
    size: Sequence[int] | int | None = None,
    scale_factor: Sequence[float] | float | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Array:
    """The image at `size`, or at `scale_factor` times its own.

    Shape: input (N, C, L), (N, C, H, W) or (N, C, D, H, W). mode: nearest, nearest-exact, area, linear (3-d
    input), bilinear, bicubic (4-d), trilinear (5-d), lanczos (4-d, only with antialias). ValueError where the arguments
    do not fit together.
    """
    _check(input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias)
    _require_kernel(input, mode, antialias)
    count = input.ndim - 2
    sizes, factors = _sizes_and_factors(input.shape[2:], size, scale_factor)
    if recompute_scale_factor or scale_factor is None:
        factors = (None,) * count
    if mode == "area":
        return average_to(wide(input), sizes).astype(input.dtype)
    for d in reversed(range(count)) if input.dtype == np.uint8 else range(count):
        axis, n, o = d + 2, input.shape[d + 2], sizes[d]
        if mode.startswith("nearest"):
            input = _nearest(input, axis, o, factors[d], mode == "nearest-exact")
        elif n != o or mode == "bicubic":
            input = _mixed(input, axis, _mix(n, o, factors[d], mode, bool(align_corners), antialias, input.dtype))
    return input


_NEAREST = ("compute_indices_weights_nearest", "upsample_nearest2d_channels_last", "compute_indices_weights_nearest")
_KERNELS = {  # torch's, for one to three dimensions
    "nearest": _NEAREST,
    "nearest-exact": _NEAREST,
    "area": ("adaptive_avg_pool2d", "adaptive_avg_pool2d", "adaptive_avg_pool3d_cpu"),
    "bilinear": ("upsample_bilinear2d_channels_last",) * 3,
    "bicubic": ("compute_indices_weights_cubic",) * 3,
}


def _require_kernel(input: Array, mode: str, antialias: bool) -> None:
    """Raise torch's error for what is no float; bytes it takes for images, but not for lines and volumes in between."""
    takes_bytes = mode not in ("linear", "trilinear", "area")
    if input.dtype.kind in "biuc" and not (takes_bytes and input.dtype == np.uint8):
        kernel = _KERNELS.get(mode, ("compute_indices_weights_linear",) * 3)[input.ndim - 3]
        raise no_kernel("compute_index_ranges_weights" if antialias else kernel, input)


@op(grad="UpsampleBilinear2DAaBackward0", names="_upsample_bilinear2d_aa")
def upsample_bilinear2d_aa(
    input: Array, output_size: Dims | None, align_corners: bool, scale_factors: tuple[float, ...] | None = None, *,
    scales_h: float | None = None, scales_w: float | None = None,
) -> Array:  # fmt: skip
    """The image at `output_size`, or `scale_factors` times its own, without skipping elements where it shrinks.

    scales_h, scales_w: how far the new elements lie apart, where it is not what the two sizes say.
    """
    sizes, factors = _sizes_and_factors(input.shape[2:], output_size, scale_factors)
    factors = factors if scale_factors is not None else (scales_h, scales_w)
    each = list(zip((2, 3), sizes, factors, strict=True))
    for axis, count, factor in reversed(each) if input.dtype == np.uint8 else each:
        mix = _mix(input.shape[axis], count, factor, "bilinear", align_corners, True, input.dtype)
        input = _mixed(input, axis, mix)
    return input


def _nearest(input: Array, axis: int, count: int, factor: float | None, exact: bool) -> Array:
    """Repeat or drop slices along one dimension; whole multiples as a broadcast, whose gradient is a sum."""
    size = input.shape[axis]
    if count % size == 0 and (factor is None or (factor.is_integer() and size * int(factor) == count)):
        shape = (*input.shape[: axis + 1], count // size, *input.shape[axis + 1 :])
        wider = jnp.broadcast_to(jnp.expand_dims(input, axis + 1), shape)
        return wider.reshape(*input.shape[:axis], count, *input.shape[axis + 1 :])
    scale = np.float32(size / count if factor is None else 1.0 / factor)
    steps = np.arange(count, dtype=np.float32)
    places = np.minimum(np.floor((steps + np.float32(0.5 if exact else 0)) * scale), size - 1).astype(np.int64)
    return jnp.take(input, places, axis, mode="clip")


def _mixed(input: Array, axis: int, mix: Array) -> Array:
    """Multiply one dimension by a matrix (new, old). Bytes are rounded after each dimension, as torch does it."""
    numbers = wide(input) if input.dtype != np.uint8 else input.astype(mix.dtype)
    summed = lax.dot_general(numbers, mix, (((axis,), (1,)), ((), ())), precision="highest")
    if input.dtype == np.uint8:
        summed = jnp.clip(jnp.floor(summed + 0.5), 0, 255)
    return jnp.moveaxis(summed, -1, axis).astype(input.dtype)


def _mix(
    size: int, count: int, factor: float | None, mode: str, align_corners: bool, antialias: bool, dtype: Any
) -> Array:
    """Return how much of each old element is in each new one."""
    kind = np.float64 if dtype == np.float64 else np.float32
    if align_corners:
        scale = _ratio(size - 1, count - 1, kind) if count > 1 else kind(0)
    else:
        scale = _ratio(size, count, kind) if factor is None else kind(1.0 / factor)
    if antialias:
        return jnp.asarray(_smooth(size, count, float(scale), mode).astype(kind))
    on: Any = np if isinstance(size, int) and isinstance(count, int) else jnp  # with a length that varies in XLA
    steps = on.arange(count, dtype=kind)
    centres = steps * scale if align_corners else (steps + kind(0.5)) * scale - kind(0.5)
    if mode != "bicubic":
        centres = on.maximum(centres, kind(0))
    first = on.floor(centres)
    beyond = centres - first
    if mode == "bicubic":
        shares, offset = _cubic(beyond), -1
    else:
        shares, offset = [kind(1) - beyond, beyond], 0
    elements = jnp.arange(size)
    mix = jnp.zeros((count, size), kind)
    for i, share in enumerate(shares):
        places = on.clip(first + offset + i, 0, size - 1).astype(np.int64)
        mix = mix + jnp.where(elements == places[:, None], on.asarray(share, kind)[:, None], kind(0))
    return mix


def _ratio(size: int, count: int, kind: Any) -> Any:
    """Return size / count; of lengths that vary in XLA."""
    if isinstance(size, int) and isinstance(count, int):
        return kind(size / count)
    return (jnp.asarray(size, np.float64) / jnp.asarray(count, np.float64)).astype(kind)


def _cubic(t: np.ndarray, a: float = -0.75) -> list[np.ndarray]:
    """Return the shares of the four neighbours of a point `t` beyond the second. Source: Keys 1981, with a = -0.75."""

    def near(x: np.ndarray) -> np.ndarray:
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x: np.ndarray) -> np.ndarray:
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    return [far(t + 1), near(t), near(1 - t), far(2 - t)]


def _smooth(size: int, count: int, scale: float, mode: str) -> np.ndarray:
    """Return shares that widen with the scale, so that nothing is skipped when an image shrinks."""
    width, share_of = _FILTERS[mode]
    stretch = max(scale, 1.0)
    mix = np.zeros((count, size))
    for i in range(count):
        centre, reach = scale * (i + 0.5), width / 2 * stretch
        start, stop = max(int(centre - reach + 0.5), 0), min(int(centre + reach + 0.5), size)
        away = np.abs((np.arange(start, stop) - centre + 0.5) / stretch)
        share = share_of(away)
        mix[i, start:stop] = share / share.sum()
    return mix


def _cubic_share(away: np.ndarray, a: float = -0.5) -> np.ndarray:
    near = ((a + 2) * away - (a + 3)) * away * away + 1
    far = ((away - 5) * away + 8) * away * a - 4 * a
    return np.where(away < 1, near, np.where(away < 2, far, 0))


def _lanczos_share(away: np.ndarray) -> np.ndarray:
    """sinc(x) sinc(x / 3) for x below 3. Source: Duchon 1979, "Lanczos filtering in one and two dimensions"."""
    return np.where(away < 3, np.sinc(away) * np.sinc(away / 3), 0)


_FILTERS = {  # how many elements each spans, and what it makes of a distance
    "bilinear": (2, lambda away: np.maximum(1 - away, 0)),
    "bicubic": (4, _cubic_share),
    "lanczos": (6, _lanczos_share),
}


def _sizes_and_factors(old: Dims, size: Any, factor: Any) -> tuple[Dims, tuple[float | None, ...]]:
    count = len(old)
    if size is not None:
        return (size,) * count if isinstance(size, int) else tuple(size), (None,) * count
    factors = tuple(map(float, factor)) if isinstance(factor, tuple) else (float(factor),) * count
    pairs = zip(old, factors, strict=True)
    return tuple(n * int(f) if f.is_integer() else math.floor(n * f) for n, f in pairs), factors


def _check_asked(input: Array, size: Any, factor: Any) -> None:
    spaces, form = list(input.shape[2:]), "Please provide input tensor in (N, C, d1, d2, ...,dK) format and"
    if (size is None) == (factor is None):
        which = "either" if size is None else "only one of"
        raise ValueError(f"{which} size or scale_factor should be defined")
    if isinstance(size, tuple) and len(size) != len(spaces):
        raise ValueError(
            "Input and output must have the same number of spatial dimensions, but got input with spatial dimensions "
            f"of {spaces} and output size of {size}. {form} output size in (o1, o2, ...,oK) format."
        )
    if isinstance(factor, tuple) and len(factor) != len(spaces):
        raise ValueError(
            "Input and scale_factor must have the same number of spatial dimensions, but got input with spatial "
            f"dimensions of {spaces} and scale_factor of shape {factor}. {form} scale_factor in (s1, s2, ...,sK) "
            "format."
        )


def _check(
    input: Array, size: Any, factor: Any, mode: str, align_corners: bool | None, recompute: bool | None, antialias: bool
) -> None:
    count = input.ndim - 2
    _check_asked(input, size, factor)
    if antialias and not (mode in _SMOOTH and count == 2):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input"
        )
    known = ("nearest", "nearest-exact", "area", *_LINEAR, *(("lanczos",) * (count == 2)))
    if mode not in known or count not in (1, 2, 3):
        raise NotImplementedError(
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.ndim}D) for the modes: "
            f"nearest | linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact (got {mode})"
        )
    if mode in _LINEAR and count != _LINEAR[mode]:
        raise NotImplementedError(f"Got {input.ndim}D input, but {mode} mode needs {_LINEAR[mode] + 2}D input")
    if align_corners is not None and mode not in (*_LINEAR, "lanczos"):
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"
        )
    if recompute and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    if mode == "lanczos" and align_corners:
        raise ValueError("Lanczos mode does not support align_corners=True")
    if mode == "lanczos" and not antialias:
        raise ValueError("Lanczos mode requires antialias=True")
    wanted = _sizes_and_factors(input.shape[2:], size, factor)[0]
    if min(wanted) < 1 or any(isinstance(size, int) and size < 1 for size in input.shape[2:]):
        had, made = (", ".join(map("{}: {}".format, "DHW"[-count:], sizes)) for sizes in (input.shape[2:], wanted))
        also = "and " * (count == 1)
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input ({had}) {also}output ({made})"
        )
    if input.shape[1] == 0 and mode != "area":
        shown = list(input.shape)
        raise RuntimeError(f"Non-empty {input.ndim}D data tensor expected but got a tensor with sizes {shown}")
