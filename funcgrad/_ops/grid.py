"""Rows: images sampled at points of a grid, and the grids of affine maps."""

from __future__ import annotations

import math
from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._base.dtypes import of_numpy
from funcgrad._ops.checks import require_real_floating, scalar_name, size_text
from funcgrad._ops.creation import linspace
from funcgrad._ops.table import Array, Dims, op


def _grid_sample_grad(shapes: tuple, statics: tuple) -> tuple:
    return (f"GridSampler{len(shapes[0]) - 2}DBackward0", "input", "grid")


@op(grad=_grid_sample_grad, names="nn.functional.grid_sample")
def grid_sample(
    input: Array, grid: Array, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None
) -> Array:
    """The image at the grid's points, whose (x, y) or (x, y, z) run from -1 to 1 over it.

    Shape: input (N, C, H, W), grid (N, H', W', 2), result (N, C, H', W'); or (N, C, D, H, W), (N, D', H', W', 3).
    mode: bilinear, nearest, bicubic (images only); padding_mode: zeros, border, reflection.
    """
    if input.ndim in (4, 5):
        require_real_floating(input, "grid_sampler_2d_cpu_kernel_impl" if input.ndim == 4 else "grid_sampler3d_cpu")
    _check(input, grid, mode, padding_mode)
    sizes, corners = input.shape[2:], bool(align_corners)
    points = [_unscaled(grid[..., -1 - d], n, corners) for d, n in enumerate(sizes)]
    if mode == "bicubic":
        places, shares = zip(*map(_cubic_taps, points), strict=True)
        placed = [_placed(x, n, padding_mode, corners) for x, n in zip(places, sizes, strict=True)]
        return _weighted(input, placed, shares)
    points = [_placed(x, n, padding_mode, corners) for x, n in zip(points, sizes, strict=True)]
    if mode == "nearest":
        return _weighted(
            input, [jnp.round(x)[..., None] for x in points], [jnp.ones_like(x)[..., None] for x in points]
        )
    return _weighted(input, *zip(*map(_linear_taps, points), strict=True))


@op(grad="AffineGridGeneratorBackward0", names="nn.functional.affine_grid")
def affine_grid(theta: Array, size: Dims, align_corners: bool | None = None) -> Array:
    """The points that an affine map sends an image's pixels to.

    Shape: theta (N, 2, 3) with size (N, C, H, W), result (N, H, W, 2); or (N, 3, 4) with (N, C, D, H, W).
    """
    count = len(size) - 2
    if count not in (2, 3):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. "
            f"Got size {list(size)}."
        )
    if theta.dtype.kind in "biu":
        raise ValueError(f"Expected theta to have floating point type, but got {of_numpy(theta.dtype)}")
    if theta.ndim != 3 or theta.shape[1:] != (count, count + 1):
        raise ValueError(
            f"Expected a batch of {count}D affine matrices of shape Nx{count}x{count + 1} for size {list(size)}. "
            f"Got {size_text(theta.shape)}."
        )
    if min(size) < 1:
        raise ValueError(f"Expected non-zero, positive output size. Got {list(size)}")
    if theta.shape[0] != size[0]:
        raise RuntimeError(
            "Expected size for first two dimensions of batch2 tensor to be: "
            f"[{size[0]}, {count + 1}] but got: [{theta.shape[0]}, {count + 1}]."
        )
    axes = []
    for n in size[2:]:
        # rounded as in torch: where the map is the identity, half of all points lie on a pixel
        line = linspace(-1, 1, n, of_numpy(theta.dtype)) if n > 1 else jnp.zeros(1, theta.dtype)
        axes.append(line if align_corners else line * (n - 1) / n)
    spread = jnp.meshgrid(*axes, indexing="ij")
    base = jnp.stack([*reversed(spread), jnp.ones_like(spread[0])], -1)
    return jnp.einsum("...j,nij->n...i", base, theta, precision="highest")


def _unscaled(x: Array, size: int, align_corners: bool) -> Array:
    """Return the place among the pixels of a coordinate between -1 and 1."""
    return (x + 1) * ((size - 1) / 2) if align_corners else (x + 1) * (size / 2) - 0.5


def _placed(x: Array, size: int, padding_mode: str, align_corners: bool) -> Array:
    """Bring a place outside the image back to its border or, mirrored, into it; no gradient from beyond the border."""
    if padding_mode == "zeros":
        return x
    if padding_mode == "reflection":
        x = _reflected(x, 0, 2 * (size - 1)) if align_corners else _reflected(x, -1, 2 * size - 1)
    low, high = jnp.zeros_like(x), jnp.full_like(x, size - 1)
    return jnp.where(x > low, jnp.where(x < high, x, high), low)


def _reflected(x: Array, twice_low: int, twice_high: int) -> Array:
    if twice_low == twice_high:
        return jnp.zeros_like(x)
    low, span = twice_low / 2, (twice_high - twice_low) / 2
    from_low = jnp.where(x - low < 0, low - x, x - low)
    flips = lax.stop_gradient(jnp.floor(from_low / span))
    extra = from_low - flips * span
    return jnp.where(flips % 2 == 0, extra + low, span - extra + low)


def _linear_taps(x: Array) -> tuple[Array, Array]:
    """Return the two pixels around a place, along a new last dimension, and their shares."""
    floor = lax.stop_gradient(jnp.floor(x))
    return jnp.stack([floor, floor + 1], -1), jnp.stack([floor + 1 - x, x - floor], -1)


def _cubic_taps(x: Array, a: float = -0.75) -> tuple[Array, Array]:
    """Return the four pixels around a place, along a new last dimension, and their shares."""

    def near(x: Array) -> Array:
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x: Array) -> Array:
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    floor = lax.stop_gradient(jnp.floor(x))
    t = x - floor
    shares = [far(t + 1), near(t), near(1 - t), far(2 - t)]
    return jnp.stack([floor + (i - 1) for i in range(4)], -1), jnp.stack(shares, -1)


def _weighted(input: Array, places: Sequence[Array], shares: Sequence[Array]) -> Array:
    """Return for each point the sum of its pixels, zero outside the image, by their shares: (N, C, *points).

    Shape: for each dimension of the image, places and shares of its taps (N, *points, taps). A pixel's channels are
    read, and their gradient is written, at once.
    """
    count, points = len(places), places[0].shape[:-1]
    batch = lax.broadcasted_iota(np.int32, points, 0).reshape(-1, *(1,) * count)
    at, inside, share = batch, jnp.ones((), bool), jnp.ones((), input.dtype)
    for d, (place, part, n) in enumerate(zip(places, shares, input.shape[2:], strict=True)):
        spread = (math.prod(points), *(1,) * d, place.shape[-1], *(1,) * (count - 1 - d))
        place = lax.stop_gradient(place).reshape(spread)
        inside = inside & (place >= 0) & (place <= n - 1)
        at = at * n + jnp.clip(jnp.nan_to_num(place), 0, n - 1).astype(np.int32)
        share = share * part.reshape(spread)
    pixels = jnp.moveaxis(input, 1, -1).reshape(-1 if input.size else 0, input.shape[1])
    found = jnp.where(inside[..., None], pixels.at[at].get(mode="promise_in_bounds"), jnp.zeros((), input.dtype))
    taps = (len(at), math.prod(at.shape[1:]))
    total = jnp.einsum("ptc,pt->pc", found.reshape(*taps, input.shape[1]), share.reshape(taps))
    return jnp.moveaxis(total.reshape(*points, input.shape[1]), -1, 1)


def _check(input: Array, grid: Array, mode: str, padding_mode: str) -> None:
    if mode not in ("bilinear", "nearest", "bicubic"):
        raise ValueError(
            f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'"
        )
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', "
            f"but got: '{padding_mode}'"
        )
    given = f"got input with sizes {list(input.shape)} and grid with sizes {list(grid.shape)}"
    if grid.shape[0] != input.shape[0]:
        raise RuntimeError(f"grid_sampler(): expected grid and input to have same batch size, but {given}")
    if grid.shape[-1] != input.ndim - 2:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {input.ndim - 2} in last dimension, "
            f"but got grid with sizes {list(grid.shape)}"
        )
    if input.ndim not in (4, 5) or grid.ndim != input.ndim:
        count = "4D" if input.ndim == 4 else "5D" if input.ndim == 5 else "4D or 5D"
        raise RuntimeError(
            f"grid_sampler(): expected {count} input and grid with same number of dimensions, but {given}"
        )
    if input.dtype != grid.dtype:
        raise RuntimeError(f"expected scalar type {scalar_name(input)} but found {scalar_name(grid)}")
    if mode == "bicubic" and input.ndim != 4:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
