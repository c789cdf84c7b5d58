"""Rows: images sampled at points of a grid, and the grids of affine maps."""

from __future__ import annotations

import itertools
import math

import jax
import jax.numpy as jnp
from jax import lax

from funcgrad._ops.checks import scalar_name
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
    _check(input, grid, mode, padding_mode)
    sizes, corners = input.shape[2:], bool(align_corners)
    points = [_unscaled(grid[..., -1 - d], n, corners) for d, n in enumerate(sizes)]
    if mode == "bicubic":
        return _bicubic(input, points, padding_mode, corners)
    points = [_placed(x, n, padding_mode, corners) for x, n in zip(points, sizes, strict=True)]
    if mode == "nearest":
        return _picked(input, [jnp.round(x) for x in points])
    floors = [lax.stop_gradient(jnp.floor(x)) for x in points]
    total = None
    for corner in itertools.product((0, 1), repeat=len(sizes)):
        share = jnp.ones((), input.dtype)
        for x, floor, c in zip(points, floors, corner, strict=True):
            share = share * (x - floor if c else floor + 1 - x)
        places = [floor + c for floor, c in zip(floors, corner, strict=True)]
        term = _picked(input, places) * share[:, None]
        total = term if total is None else total + term
    assert total is not None
    return total


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
        raise ValueError(f"Expected theta to have floating point type, but got {scalar_name(theta)}")
    if theta.shape != (size[0], count, count + 1):
        raise ValueError(
            f"Expected a batch of {count}D affine matrices of shape Nx{count}x{count + 1} for size {list(size)}. "
            f"Got {list(theta.shape)}."
        )
    if min(size) < 1:
        raise ValueError(f"Expected non-zero, positive output size. Got {list(size)}")
    axes = []
    for n in size[2:]:
        line = jnp.linspace(-1, 1, n, dtype=theta.dtype) if n > 1 else jnp.zeros(1, theta.dtype)
        axes.append(line if align_corners or n == 1 else line * ((n - 1) / n))
    spread = jnp.meshgrid(*axes, indexing="ij")
    base = jnp.stack([*reversed(spread), jnp.ones_like(spread[0])], -1)
    return jnp.einsum("...j,nij->n...i", base, theta, precision="highest")


def _unscaled(x: Array, size: int, align_corners: bool) -> Array:
    """Return the place among the pixels of a coordinate between -1 and 1."""
    return (x + 1) / 2 * (size - 1) if align_corners else ((x + 1) * size - 1) / 2


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


def _picked(input: Array, places: list[Array]) -> Array:
    """Return the pixels at whole-numbered places, zero outside the image: (N, C, *points)."""
    inside = jnp.ones((), bool)
    flat = jnp.zeros((), jnp.int32)
    for place, n in zip(places, input.shape[2:], strict=True):
        inside = inside & (place >= 0) & (place <= n - 1)
        flat = flat * n + jnp.clip(jnp.nan_to_num(lax.stop_gradient(place)), 0, n - 1).astype(jnp.int32)
    pixels = input.reshape(*input.shape[:2], math.prod(input.shape[2:]))
    found = jax.vmap(lambda image, at: image.at[:, at].get(mode="promise_in_bounds"))(pixels, flat)
    return jnp.where(inside[:, None], found, jnp.zeros_like(found))


def _bicubic(input: Array, points: list[Array], padding_mode: str, align_corners: bool) -> Array:
    floors = [lax.stop_gradient(jnp.floor(x)) for x in points]
    shares = [_cubic_shares(x - floor) for x, floor in zip(points, floors, strict=True)]
    sizes = input.shape[2:]
    rows = []
    for i in range(4):
        y = _placed(floors[0] + (i - 1), sizes[0], padding_mode, align_corners)
        row = jnp.zeros((), input.dtype)
        for j in range(4):
            x = _placed(floors[1] + (j - 1), sizes[1], padding_mode, align_corners)
            row = row + _picked(input, [y, x]) * shares[1][j][:, None]
        rows.append(row * shares[0][i][:, None])
    return rows[0] + rows[1] + rows[2] + rows[3]


def _cubic_shares(t: Array, a: float = -0.75) -> list[Array]:
    def near(x: Array) -> Array:
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x: Array) -> Array:
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    return [far(t + 1), near(t), near(1 - t), far(2 - t)]


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
    if input.dtype != grid.dtype:
        raise RuntimeError(
            "grid_sampler(): expected input and grid to have same dtype, "
            f"but input has {scalar_name(input)} and grid has {scalar_name(grid)}"
        )
    if input.ndim not in (4, 5) or grid.ndim != input.ndim:
        raise RuntimeError(
            f"grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but {given}"
        )
    if grid.shape[0] != input.shape[0]:
        raise RuntimeError(f"grid_sampler(): expected grid and input to have same batch size, but {given}")
    if grid.shape[-1] != input.ndim - 2:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {input.ndim - 2} in last dimension, but {given}"
        )
    if mode == "bicubic" and input.ndim != 4:
        raise RuntimeError(f"grid_sampler(): bicubic interpolation only supports 4D input, but {given}")
