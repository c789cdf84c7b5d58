"""Rows that copy a tensor's elements to other places: repeat, flip, roll, triangles, diagonals, shuffles, casts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._ops.broadcasting import broadcast_shape
from funcgrad._ops.checks import c_name
from funcgrad._ops.dims import dim_of, dims_of
from funcgrad._ops.parts import diagonal_dims
from funcgrad._ops.table import Array, Arrays, Dims, DType, Indices, Mask, Scalar, in_dtype, op


@op(grad="CloneBackward0")
def clone(input: Array) -> Array:
    """Return the same numbers as a tensor of its own, through which gradients flow."""
    return input


@op(names="")
def in_order(input: Array, order: Dims | None) -> Array:
    """Return the same numbers, which lie in torch's memory in this order (see `memory_order`)."""
    return input


def cast(input: Array, dtype: np.dtype[Any]) -> Array:
    """Return `input` as `dtype`; a complex number loses its imaginary part, and floats are cut off to integers."""
    if input.dtype == dtype:
        return input
    if dtype.kind == "b":
        return input != 0
    if input.dtype.kind == "c" and dtype.kind != "c":
        input = input.real
    if dtype.kind in "iu" and input.dtype.kind in "fV":
        input = _whole(input, np.int64 if dtype.itemsize == 8 or dtype == np.uint32 else np.int32)
    if dtype == jnp.float8_e4m3fn:
        input = _within_reach(input.astype(np.float32) if input.dtype.kind in "biu" else input)
    if dtype == jnp.float8_e8m0fnu:
        input = _as_exponent(input.astype(np.float32))
    with np.errstate(over="ignore"):  # of a number: what is too large is infinite, and nobody is warned
        return in_dtype(input, dtype)


@jax.custom_jvp
def _within_reach(input: Array) -> Array:
    """Bound what float8_e4m3fn, which has no infinity, cannot hold: torch does, where XLA would have NaN."""
    return jnp.clip(input, -448, 448)


@_within_reach.defjvp
def _within_reach_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    return _within_reach(*primals), tangents[0]


def _as_exponent(input: Array) -> Array:
    """Return what float8_e8m0fnu, which has neither signs nor 0, can hold: torch drops the sign, and 0 is 2**-127."""
    return jnp.maximum(jnp.abs(input), 2.0**-127)


def _whole(input: Array, kind: Any) -> Array:
    """Cut off floats to int32 or int64; what does not fit becomes the smallest integer, as on x86 processors.

    From there torch wraps around, (-1.0).byte() is 255, where XLA would clamp.
    """
    if input.dtype.itemsize < 4:
        input = lax.convert_element_type(input, np.float32)
    least = np.iinfo(kind).min
    fits = (input >= np.asarray(least, input.dtype)) & (input < np.asarray(-float(least), input.dtype))
    return jnp.where(fits, lax.convert_element_type(input, kind), least)


@op(grad="ToCopyBackward0", names="")
def to_dtype(input: Array, dtype: DType) -> Array:
    """Return `input` as `dtype`; the gradient comes back in the dtype of `input`."""
    return cast(input, dtype.numpy)


@op(grad="RepeatBackward0", names=".repeat")
def repeat(input: Array, repeats: Dims) -> Array:
    """Put `repeats[d]` copies side by side along each dimension; further leading entries make new dimensions."""
    if len(repeats) < input.ndim:
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    padded = (1,) * (len(repeats) - input.ndim) + input.shape
    size = [n * count for n, count in zip(padded, repeats, strict=True)]
    if any(count < 0 for count in repeats):
        worst = next(n * c for n, c in zip(padded, repeats, strict=True) if c < 0)
        raise RuntimeError(f"Trying to create tensor with negative dimension {worst}: {size}")
    return jnp.tile(input, repeats)


@op(grad="RepeatBackward0")
def tile(input: Array, dims: Dims) -> Array:
    """Put copies side by side along the last `len(dims)` dimensions; further entries make new dimensions."""
    return repeat(input, (1,) * (input.ndim - len(dims)) + tuple(dims))


def _repeat_interleave_node(shapes: Sequence[Any], statics: Sequence[Any]) -> Any:
    parted = ("CloneBackward0", ("ExpandBackward0", ("UnsqueezeBackward0", "input")))
    whole = ("CloneBackward0", ("ExpandBackward0", ("UnsqueezeBackward0", ("ViewBackward0", "input"))))
    return ("ViewBackward0", whole if len(statics) < 2 or statics[1] is None else parted)


@op(grad=_repeat_interleave_node, names="")
def repeat_interleave(input: Array, repeats: int, dim: int | None = None) -> Array:
    """Repeat each element `repeats` times in its place along `dim`, or in the flattened tensor."""
    if repeats < 0:
        raise RuntimeError("Repeats must be non-negative")
    if dim is None:
        input, dim = input.reshape(-1), 0
    if input.ndim == 0:
        input = input.reshape(1)
    return jnp.repeat(input, repeats, axis=dim_of(input.ndim, dim))


@op(grad="FlipBackward0")
def flip(input: Array, dims: Dims) -> Array:
    """Turn the order along the given dimensions around."""
    return lax.rev(input, dims_of(input, dims)) if dims else input


@op(grad="FlipBackward0")
def fliplr(input: Array) -> Array:
    """Turn the order of the columns around. RuntimeError for fewer than two dimensions."""
    if input.ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return lax.rev(input, (1,))


@op(grad="FlipBackward0")
def flipud(input: Array) -> Array:
    """Turn the order of the rows around. RuntimeError for a 0-d tensor."""
    if input.ndim < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return lax.rev(input, (0,))


@op(grad=("RollBackward0", "input"), names="")
def roll(input: Array, shifts: Arrays, dims: Dims) -> Array:
    """Move elements on along `dims`, those that fall off coming in in front; without `dims`, flattened.

    shifts: Python numbers, which become inputs where they change.
    """
    if not shifts:
        raise RuntimeError("`shifts` required")
    if len(dims) != len(shifts) and (dims or len(shifts) > 1):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    if input.ndim == 0 and dims:
        raise IndexError(f"Dimension specified as {dims[0]} but tensor has no dimensions")
    along = [dim_of(input.ndim, d) for d in dims] or [None]
    for shift, dim in zip(shifts, along, strict=True):
        input = jnp.roll(input, shift if isinstance(shift, int) else shift.astype(np.int32), dim)
    return input


@op(grad="Rot90Backward0")
def rot90(input: Array, k: int = 1, dims: Dims = (0, 1)) -> Array:
    """Turn by `k` quarter turns in the plane of two dimensions, from the first towards the second."""
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if input.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {input.ndim}")
    first, second = (dim_of(input.ndim, d) for d in dims)
    if first == second:
        raise RuntimeError(f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}")
    return jnp.rot90(input, k % 4, (first, second))


def _triangle(input: Array, diagonal: int, name: str) -> Array:
    if input.ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
    rows, columns = input.shape[-2:]
    below = jnp.tri(rows, columns, diagonal if name == "tril" else diagonal - 1, dtype=bool)
    kept = below if name == "tril" else ~below
    return jnp.where(kept, input, jnp.zeros((), input.dtype))


@op(grad="TrilBackward0", names="tril .tril .tril_")
def tril(input: Array, diagonal: int = 0) -> Array:
    """Keep what is on and below the diagonal of each matrix, counted from the main one upwards; zero elsewhere.

    Shape: input (*, m, n), result the same.
    """
    return _triangle(input, diagonal, "tril")


@op(grad="TriuBackward0", names="triu .triu .triu_")
def triu(input: Array, diagonal: int = 0) -> Array:
    """Keep what is on and above the diagonal of each matrix, counted from the main one upwards; zero elsewhere.

    Shape: input (*, m, n), result the same.
    """
    return _triangle(input, diagonal, "triu")


def _diag_node(shapes: Sequence[Any], statics: Sequence[Any]) -> str:
    return "DiagEmbedBackward0" if len(shapes[0]) == 1 else "DiagonalBackward0_copy"


@op(grad=_diag_node)
def diag(input: Array, diagonal: int = 0) -> Array:
    """Return a matrix with a vector as its diagonal, or the diagonal of a matrix."""
    if input.ndim not in (1, 2):
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input.ndim}D")
    return jnp.diag(input, diagonal)


@op(grad="DiagEmbedBackward0")
def diag_embed(input: Array, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Array:
    """Return matrices of zeros, in the dimensions `dim1` and `dim2`, with the last dimension as their diagonals."""
    dims = diagonal_dims(input.ndim + 1, dim1, dim2)
    side = input.shape[-1] + abs(offset)
    places = np.arange(input.shape[-1], dtype=np.int32)
    zeros = jnp.zeros((*input.shape[:-1], side, side), input.dtype)
    filled = zeros.at[..., places - min(offset, 0), places + max(offset, 0)].set(input)
    return jnp.moveaxis(filled, (-2, -1), dims)


@op(grad=("DiagEmbedBackward0", ("ViewBackward0", "input")))
def diagflat(input: Array, offset: int = 0) -> Array:
    """Return a matrix of zeros with all elements on its diagonal."""
    return diag_embed(input.reshape(-1), offset)


@op(grad="PixelShuffleBackward0", names="pixel_shuffle nn.functional.pixel_shuffle")
def pixel_shuffle(input: Array, upscale_factor: int) -> Array:
    """Spread channels over space. Shape: input (*, C * r * r, H, W), result (*, C, H * r, W * r)."""
    _spatial(input, "pixel_shuffle", "upscale", upscale_factor)
    r = upscale_factor
    *batch, channels, height, width = input.shape
    if channels % (r * r):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, "
            f"but input.size(-3)={channels} is not divisible by {r * r}"
        )
    parted = input.reshape(math.prod(batch), channels // (r * r), r, r, height, width)
    moved = lax.transpose(parted, (0, 1, 4, 2, 5, 3))
    return moved.reshape(*batch, channels // (r * r), height * r, width * r)


@op(grad="PixelUnshuffleBackward0", names="pixel_unshuffle nn.functional.pixel_unshuffle")
def pixel_unshuffle(input: Array, downscale_factor: int) -> Array:
    """Gather space into channels. Shape: input (*, C, H * r, W * r), result (*, C * r * r, H, W)."""
    _spatial(input, "pixel_unshuffle", "downscale", downscale_factor)
    r = downscale_factor
    *batch, channels, height, width = input.shape
    for name, place, length in (("height", -2, height), ("width", -1, width)):
        if length % r:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but input.size({place})={length} "
                f"is not divisible by {r}"
            )
    if not input.size:  # which PyTorch leaves in its shape
        return input
    parted = input.reshape(math.prod(batch), channels, height // r, r, width // r, r)
    moved = lax.transpose(parted, (0, 1, 3, 5, 2, 4))
    return moved.reshape(*batch, channels * r * r, height // r, width // r)


def _spatial(input: Array, name: str, direction: str, factor: int) -> None:
    if input.ndim < 3:
        raise RuntimeError(
            f"{name} expects input to have at least 3 dimensions, but got input with {input.ndim} dimension(s)"
        )
    if factor <= 0:
        raise RuntimeError(f"{name} expects a positive {direction}_factor, but got {factor}")


@op(grad="ChannelShuffleBackward0", names="channel_shuffle nn.functional.channel_shuffle")
def channel_shuffle(input: Array, groups: int) -> Array:
    """Interleave the channels of `groups` groups. Shape: input (N, C, *), result the same."""
    if input.ndim <= 2:
        raise RuntimeError(f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(input.shape)}")
    if groups <= 0:
        raise RuntimeError(f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
    batch, channels, *space = input.shape
    if channels % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {channels} channels and {groups} groups."
        )
    parted = input.reshape(batch, groups, channels // groups, math.prod(space))
    return jnp.swapaxes(parted, 1, 2).reshape(input.shape)


@op(names="")
def one_hot(input: Indices, num_classes: int) -> Array:
    """Return int64 zeros with a one at each class, in a new last dimension; a class out of range gives all zeros.

    Shape: input (*), result (*, num_classes).
    """
    if input.dtype != np.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if num_classes < 1:
        raise RuntimeError("num_classes should be positive")
    return (input[..., None] == np.arange(num_classes)).astype(np.int64)


@op(grad="FillBackward0", names="fill .fill .fill_")
def fill(input: Array, value: Scalar) -> Array:
    """Return a tensor like `input` of one number; no gradient reaches `input`."""
    if np.ndim(value):
        raise RuntimeError(
            f"fill_ only supports 0-dimension value tensor but got tensor with {np.ndim(value)} dimensions."
        )
    if isinstance(value, (complex, np.ndarray)) and value.imag != 0 and input.dtype.kind not in "bc":
        raise RuntimeError(f"value cannot be converted to type {c_name(input)} without overflow")
    number = cast(jnp.asarray(value), input.dtype)
    return jnp.broadcast_to(number, input.shape)


@op(grad="FillBackward1", names="")
def fill_tensor(input: Array, value: Array) -> Array:
    """Return a tensor like `input` of the number in the 0-d `value`; no gradient reaches `input`."""
    if value.ndim:
        raise RuntimeError(f"fill_ only supports 0-dimension value tensor but got tensor with {value.ndim} dimensions.")
    return jnp.broadcast_to(cast(value, input.dtype), input.shape)


@op(grad="ZeroBackward0", names=".zero_")
def zero(input: Array) -> Array:
    """Return zeros like `input`; no gradient reaches `input`."""
    return jnp.zeros(input.shape, input.dtype)


@op(grad="CopySlices", names=".fill_diagonal_")
def fill_diagonal(input: Array, fill_value: Scalar, wrap: bool = False) -> Array:
    """Return `input` with one number on its main diagonal; with `wrap`, a tall matrix's diagonal begins anew below."""
    if input.ndim < 2:
        raise RuntimeError("dimensions must larger than 1")
    if input.ndim > 2 and len(set(input.shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    side = min(input.shape)
    places = np.zeros(input.shape, bool)
    places[(np.arange(side),) * input.ndim] = True
    if wrap and input.ndim == 2 and input.shape[0] > input.shape[1]:
        places.reshape(-1)[:: input.shape[1] + 1] = True
    return jnp.where(places, cast(jnp.asarray(fill_value), input.dtype), input)


@op(grad="CopyBackwards", names="")
def copy_over(input: Array, src: Mask) -> Array:
    """Return `src` in the shape and dtype of `input`, which no gradient reaches. RuntimeError where it does not fit."""
    shape = broadcast_shape(input.shape, src.shape)
    if shape != input.shape:
        raise RuntimeError(f"output with shape {list(input.shape)} doesn't match the broadcast shape {list(shape)}")
    return cast(jnp.broadcast_to(src, shape), input.dtype)
