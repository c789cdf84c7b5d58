"""Rows that show a part of a tensor as a view (an index, a slice, a diagonal, windows, real parts), and write to it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._base import dtypes
from funcgrad._base.cpp_names import scalar_type_name
from funcgrad._ops.dims import dim_of
from funcgrad._ops.indexing import integers, read_at, write_at
from funcgrad._ops.table import Array, Dims, Index, Indices, op


def _is_known(start: Index) -> bool:
    return isinstance(start, (int, np.integer))


def _selected(input: Array, dim: int, index: Index) -> tuple[int, Index]:
    if input.ndim == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    place = dim_of(input.ndim, dim)
    length = input.shape[place]
    if _is_known(index):
        if not -length <= index < length:
            raise IndexError(
                f"select(): index {index} out of range for tensor of size {list(input.shape)} at dimension {dim}"
            )
        return place, index % length
    return place, jnp.where(index < 0, index + length, index)


def _select_back(base: Array, new: Array, dim: int, index: Index) -> Array:
    dim, index = _selected(base, dim, index)
    return lax.dynamic_update_index_in_dim(base, new, index, dim)


@op(grad="SelectBackward0", names="", write_back=_select_back, numbers="checked")
def select(input: Array, dim: int, index: Index) -> Array:
    """Return the part at `index` of one dimension, which is left out. IndexError beyond its ends."""
    dim, index = _selected(input, dim, index)
    if _is_known(index):
        return lax.index_in_dim(input, index, dim, keepdims=False)
    return lax.dynamic_index_in_dim(input, index, dim, keepdims=False)


def _at(index: Array, dim: int) -> tuple[Any, ...]:
    integers(index, "select")
    return (np.s_[:],) * dim + (index,)


def _select_at_back(base: Array, new: Array, index: Array, dim: int) -> Array:
    return write_at(base, _at(index, dim_of(base.ndim, dim)), new)


@op(grad="SelectBackward0", names="", write_back=_select_at_back)
def select_at(input: Array, index: Indices, dim: int) -> Array:
    """Return the part at `index` (0-d, may be negative) of one dimension, which is left out; out of range gives NaN."""
    return read_at(input, _at(index, dim_of(input.ndim, dim)))


def _window(length: int, step: int) -> int:
    return max((length - 1) * step + 1, 0)


def _read(input: Array, dim: int, start: Index, length: int, step: int) -> Array:
    if _is_known(start):
        return lax.slice_in_dim(input, start, start + _window(length, step), step, dim)
    window = lax.dynamic_slice_in_dim(input, start, _window(length, step), dim)
    return window if step == 1 else lax.slice_in_dim(window, 0, None, step, dim)


def _write(base: Array, new: Array, dim: int, start: Index, length: int, step: int = 1) -> Array:
    dim = dim_of(base.ndim, dim)
    if step != 1 and length > 0:
        window = _read(base, dim, start, _window(length, step), 1)
        places: list[Any] = [np.s_[:]] * base.ndim
        places[dim] = np.s_[::step]
        new = window.at[tuple(places)].set(new)
    return lax.dynamic_update_slice_in_dim(base, new, start, dim) if length > 0 else base


@op(grad="SliceBackward0", names="", numbers="checked", write_back=_write)
def slice(input: Array, dim: int, start: Index, length: int, step: int = 1) -> Array:
    """Return `length` parts of one dimension, from `start` (from the front, in range) on, `step` apart."""
    return _read(input, dim_of(input.ndim, dim), start, length, step)


def _narrowed(input: Array, dim: int, start: Index, length: int) -> tuple[int, Index]:
    if input.ndim == 0:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    dim = dim_of(input.ndim, dim)
    size = input.shape[dim]
    if not _is_known(start):
        return dim, jnp.where(start < 0, start + size, start)
    if not -size <= start <= size:
        raise IndexError(f"start out of range (expected to be in range of [{-size}, {size}], but got {start})")
    start = start + size if start < 0 else start
    if start + length > size:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return dim, start


def _narrow_back(base: Array, new: Array, dim: int, start: Index, length: int) -> Array:
    dim, start = _narrowed(base, dim, start, length)
    return _write(base, new, dim, start, length)


@op(grad="SliceBackward0", names="", write_back=_narrow_back)
def narrow(input: Array, dim: int, start: Index, length: int) -> Array:
    """Return `length` parts of one dimension from `start` on, which may count from the end."""
    dim, start = _narrowed(input, dim, start, length)
    return _read(input, dim, start, length, 1)


@op(grad="NarrowCopyBackward0", names="")
def narrow_copy(input: Array, dim: int, start: Index, length: int) -> Array:
    """Return what `narrow` returns, as a tensor of its own."""
    return narrow(input, dim, start, length)


def diagonal_dims(ndim: int, dim1: int, dim2: int) -> tuple[int, int]:
    first, second = dim_of(ndim, dim1), dim_of(ndim, dim2)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return first, second


def _diagonal_places(shape: Sequence[int], offset: int) -> tuple[Array, Array]:
    rows, columns = shape
    length = max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)
    steps = jnp.arange(length, dtype=np.int32)
    return steps - min(offset, 0), steps + max(offset, 0)


def _diagonal_back(base: Array, new: Array, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Array:
    dims = diagonal_dims(base.ndim, dim1, dim2)
    moved = jnp.moveaxis(base, dims, (-2, -1))
    rows, columns = _diagonal_places(moved.shape[-2:], offset)
    return jnp.moveaxis(moved.at[..., rows, columns].set(new), (-2, -1), dims)


@op(grad="DiagonalBackward0", write_back=_diagonal_back)
def diagonal(input: Array, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Array:
    """Return the diagonal of the matrices in `dim1` and `dim2`, `offset` above the main one, as the last dimension."""
    moved = jnp.moveaxis(input, diagonal_dims(input.ndim, dim1, dim2), (-2, -1))
    rows, columns = _diagonal_places(moved.shape[-2:], offset)
    return moved[..., rows, columns]


@op(
    grad="DiagonalBackward0",
    names="linalg.diagonal",
    write_back=lambda base, new, offset=0, dim1=-2, dim2=-1: _diagonal_back(base, new, offset, dim1, dim2),
)
def linalg_diagonal(A: Array, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Array:
    """Return the diagonal of the matrices in the last two dimensions."""
    return diagonal(A, offset, dim1, dim2)


def _windows(input: Array, dimension: int, size: int, step: int) -> tuple[int, Array]:
    dim = dim_of(input.ndim, dimension)
    length = input.shape[dim] if input.ndim else 1
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > length:
        raise RuntimeError(f"maximum size for tensor at dimension {dim} is {length} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    starts = jnp.arange((length - size) // step + 1, dtype=np.int32) * step
    return dim, starts[:, None] + np.arange(size, dtype=np.int32)


def _unfold_back(base: Array, new: Array, dimension: int, size: int, step: int) -> Array:
    if base.ndim == 0:
        return lax.reshape(new, ()) if size else base
    dim, places = _windows(base, dimension, size, step)
    front = jnp.moveaxis(new, (dim, -1), (0, 1))
    return jnp.moveaxis(jnp.moveaxis(base, dim, 0).at[places].set(front), 0, dim)


@op(grad="UnfoldBackward0", names=".unfold", write_back=_unfold_back)
def tensor_unfold(input: Array, dimension: int, size: int, step: int) -> Array:
    """Return all windows of `size` along one dimension, `step` apart, each as the last dimension."""
    dim, places = _windows(input, dimension, size, step)
    if input.ndim == 0:
        return lax.reshape(input, (1,))[:size]
    if size == step:
        tiles = lax.slice_in_dim(input, 0, places.size, axis=dim)
        return jnp.moveaxis(tiles.reshape(*input.shape[:dim], *places.shape, *input.shape[dim + 1 :]), dim + 1, -1)
    return jnp.moveaxis(jnp.take(input, places, axis=dim), dim + 1, -1)


def _strided_places(
    size: Dims, stride: Dims, storage_offset: int | None, base: Array
) -> tuple[tuple[int, ...], np.ndarray]:
    """Return the first sizes, which are read as they stand, and where in what is left of `base` the others read."""
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    if any(step < 0 for step in stride):
        raise RuntimeError(f"as_strided: Negative strides are not supported at the moment, got strides: {list(stride)}")
    kept = _read_as_they_stand(size, stride, storage_offset or 0, base.shape)
    places = np.full((), storage_offset or 0)
    for length, step in zip(size[kept:], stride[kept:], strict=True):
        places = places[..., None] + np.arange(length) * step
    if not kept and places.size and places.max() >= base.size:
        itemsize = base.dtype.itemsize
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {storage_offset or 0}, and "
            f"itemsize {itemsize} requiring a storage size of {(int(places.max()) + 1) * itemsize} are out of bounds "
            f"for storage of size {base.size * itemsize}"
        )
    return tuple(size[:kept]), places


def _read_as_they_stand(size: Dims, stride: Dims, offset: int, shape: tuple[int, ...]) -> int:
    """Count the first dimensions that are the base's own, of whose rows each is read by itself (a batch of windows).

    Their places need no list, so it is short, and the same for a batch of any length.
    """
    rows = [math.prod(shape[dim + 1 :]) for dim in range(len(shape))]
    kept = 0
    while kept < min(len(size), len(shape)) and size[kept] == shape[kept] and stride[kept] == rows[kept]:
        kept += 1
    while kept and offset + _reach(size[kept:], stride[kept:]) >= rows[kept - 1]:
        kept -= 1
    return kept


def _reach(size: Dims, stride: Dims) -> int:
    return sum((length - 1) * step for length, step in zip(size, stride, strict=True))


def _strided_back(base: Array, new: Array, size: Dims, stride: Dims, storage_offset: int | None = None) -> Array:
    kept, places = _strided_places(size, stride, storage_offset, base)
    return _rows(base, kept).at[..., places].set(new).reshape(base.shape)


@op(grad="AsStridedBackward0", names="", write_back=_strided_back)
def as_strided(input: Array, size: Dims, stride: Dims, storage_offset: int | None = None) -> Array:
    """Return elements of the flattened input: [i, j, ...] is at storage_offset + i * stride[0] + j * stride[1] + ..."""
    kept, places = _strided_places(size, stride, storage_offset, input)
    return _rows(input, kept)[..., places]


def _rows(input: Array, kept: tuple[int, ...]) -> Array:
    return input.reshape(*kept, math.prod(input.shape[len(kept) :]))


def _needs_complex(input: Array, name: str) -> None:
    if input.dtype.kind != "c":
        raise RuntimeError(f"{name} is not implemented for tensors with non-complex dtypes.")


@op(
    grad=("SelectBackward0", ("ViewAsRealBackward0", "input")),
    names="real .real",
    write_back=lambda base, new: lax.complex(new, base.imag) if base.dtype.kind == "c" else new,
)
def real(input: Array) -> Array:
    """Return the real parts; a real tensor is its own."""
    return input.real


@op(
    grad=("SelectBackward0", ("ViewAsRealBackward0", "input")),
    names="imag .imag",
    write_back=lambda base, new: lax.complex(base.real, new),
)
def imag(input: Array) -> Array:
    """Return the imaginary parts. RuntimeError for a tensor that is not complex."""
    _needs_complex(input, "imag")
    return input.imag


@op(
    grad="ViewAsRealBackward0",
    names="view_as_real",
    write_back=lambda base, new: lax.complex(new[..., 0], new[..., 1]),
)
def view_as_real(input: Array) -> Array:
    """Return real and imaginary parts in a last dimension of size 2. RuntimeError for a tensor that is not complex."""
    if input.dtype.kind != "c":
        raise RuntimeError("view_as_real is only supported for complex tensors")
    return jnp.stack([input.real, input.imag], -1)


@op(
    grad="ViewAsComplexBackward0",
    names="view_as_complex",
    write_back=lambda base, new: jnp.stack([new.real, new.imag], -1),
)
def view_as_complex(input: Array) -> Array:
    """Join the last dimension, of size 2, to complex numbers. RuntimeError for other sizes and dtypes."""
    if input.dtype not in (np.float32, np.float64):
        raise RuntimeError(
            f"view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: "
            f"{scalar_type_name(dtypes.of_numpy(input.dtype))}"
        )
    if input.ndim == 0 or input.shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    return lax.complex(input[..., 0], input[..., 1])


def _fits(src: Array, part: jax.Array) -> Array:
    if src.shape != part.shape:
        raise RuntimeError(
            f"expected src to have a size equal to the slice of self. src size = {list(src.shape)}, slice size = "
            f"{list(part.shape)}"
        )
    return lax.convert_element_type(src, part.dtype)


@op(grad="SelectScatterBackward0", names="")
def select_scatter(input: Array, src: Array, dim: int, index: Index) -> Array:
    """Return `input` with `src` at `index` of one dimension."""
    return _select_back(input, _fits(src, select(input, dim, index)), dim, index)


@op(grad="DiagonalScatterBackward0")
def diagonal_scatter(input: Array, src: Array, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Array:
    """Return `input` with `src` on its diagonal."""
    return _diagonal_back(input, _fits(src, diagonal(input, offset, dim1, dim2)), offset, dim1, dim2)


@op(grad="AsStridedScatterBackward0")
def as_strided_scatter(input: Array, src: Array, size: Dims, stride: Dims, storage_offset: int | None = None) -> Array:
    """Return `input` with `src` where `as_strided` would read."""
    part = as_strided(input, size, stride, storage_offset)
    return _strided_back(input, _fits(src, part), size, stride, storage_offset)


@op(grad="SliceScatterBackward0")
def slice_scatter(
    input: Array, src: Array, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Array:
    """Return `input` with `src` at the slice start:end:step of one dimension, whose ends are clamped."""
    if input.ndim == 0:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    dim = dim_of(input.ndim, dim)
    places = range(input.shape[dim])[start:end:step]
    part = _read(input, dim, places.start, len(places), step)
    return _write(input, _fits(src, part), dim, places.start, len(places), step)
