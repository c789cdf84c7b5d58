"""Rows that join tensors: cat, stack and their relatives, and tensors made of several others."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._base import dtypes, promotion
from funcgrad._ops.broadcasting import broadcast_shape
from funcgrad._ops.checks import scalar_name
from funcgrad._ops.dims import dim_of
from funcgrad._ops.table import Array, Arrays, Dims, DType, op


def _has_dimensions(count: int, position: int) -> None:
    if count == 0:
        raise RuntimeError(f"zero-dimensional tensor (at position {position}) cannot be concatenated")


def joined(tensors: Arrays, dim: int) -> Array:
    """Concatenate along `dim`; empty 1-D tensors are left out. RuntimeError where other sizes differ."""
    for position, tensor in enumerate(tensors):
        _has_dimensions(tensor.ndim, position)
    kept = [(i, x) for i, x in enumerate(tensors) if x.shape != (0,)]
    if not kept:
        dim_of(1, dim)
        return tensors[0]
    first = kept[0][1]
    dim = dim_of(first.ndim, dim)
    for position, tensor in kept[1:]:
        if tensor.ndim != first.ndim:
            raise RuntimeError(f"Tensors must have same number of dimensions: got {first.ndim} and {tensor.ndim}")
        for d, (expected, has) in enumerate(zip(first.shape, tensor.shape, strict=True)):
            if d != dim and expected != has:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {dim}. Expected size {expected} but got size "
                    f"{has} for tensor number {position} in the list."
                )
    return lax.concatenate([x for _, x in kept], dim) if len(kept) > 1 else first


def _non_empty(tensors: Arrays, name: str) -> None:
    if not tensors:
        raise RuntimeError(f"{name} expects a non-empty TensorList")


def _joined_shape(shape: Dims, count: int, dim: int = 0) -> Dims:
    _has_dimensions(len(shape), 0)
    dim = dim_of(len(shape), dim)
    return (*shape[:dim], count * shape[dim], *shape[dim + 1 :])


@op(grad="CatBackward0", promote="common", names="cat concat concatenate", joins=_joined_shape)
def cat(tensors: Arrays, dim: int = 0) -> Array:
    """Join tensors along an existing dimension; all other sizes must be equal, empty 1-D tensors are left out."""
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    return joined(tensors, dim)


def _stacked_shape(shape: Dims, count: int, dim: int = 0) -> Dims:
    dim = dim_of(len(shape) + 1, dim)
    return (*shape[:dim], count, *shape[dim:])


@op(grad="StackBackward0", promote="common", names="stack", joins=_stacked_shape)
def stack(tensors: Arrays, dim: int = 0) -> Array:
    """Join tensors of one shape along a new dimension."""
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    dim = dim_of(tensors[0].ndim + 1, dim)
    for position, tensor in enumerate(tensors):
        if tensor.shape != tensors[0].shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(tensors[0].shape)} at entry 0 and "
                f"{list(tensor.shape)} at entry {position}"
            )
    return lax.concatenate([lax.expand_dims(x, (dim,)) for x in tensors], dim)


def to_1d(input: Array) -> Array:
    """Give a 0-d tensor one dimension."""
    return input if input.ndim else input.reshape(1)


def to_2d(input: Array) -> Array:
    """Give a tensor of fewer than two dimensions leading ones."""
    return input if input.ndim >= 2 else input.reshape(1, -1)


def to_3d(input: Array) -> Array:
    """Give a tensor of fewer than three dimensions further ones: a vector becomes (1, n, 1), a matrix (n, m, 1)."""
    return input if input.ndim >= 3 else input[..., None] if input.ndim == 2 else input.reshape(1, -1, 1)


def _with_dimensions(ranked: Sequence[tuple[int, DType]]) -> DType:
    """Return the dtype of tensors that are given dimensions before they are joined: none counts as a number."""
    return promotion.result_type([(promotion.DIMENSIONED, kind) for _, kind in ranked])


@op(grad="CatBackward0", promote=_with_dimensions, names="hstack")
def hstack(tensors: Arrays) -> Array:
    """Join tensors along the second dimension, vectors along their only one."""
    _non_empty(tensors, "hstack")
    parts = [to_1d(x) for x in tensors]
    return joined(parts, 0 if parts[0].ndim == 1 else 1)


@op(grad="CatBackward0", promote=_with_dimensions, names="vstack row_stack")
def vstack(tensors: Arrays) -> Array:
    """Join tensors along the first dimension; a vector is a row."""
    _non_empty(tensors, "vstack")
    return joined([to_2d(x) for x in tensors], 0)


@op(grad="CatBackward0", promote=_with_dimensions, names="dstack")
def dstack(tensors: Arrays) -> Array:
    """Join tensors along the third dimension."""
    _non_empty(tensors, "dstack")
    return joined([to_3d(x) for x in tensors], 2)


@op(grad="CatBackward0", promote=_with_dimensions, names="column_stack")
def column_stack(tensors: Arrays) -> Array:
    """Join tensors along the second dimension; a vector is a column."""
    _non_empty(tensors, "column_stack")
    return joined([x if x.ndim >= 2 else x.reshape(-1, 1) for x in tensors], 1)


@op(grad="ExpandBackward0", names="")
def broadcast_tensors(tensors: Arrays) -> tuple[Array, ...]:
    """Expand all tensors to their common shape."""
    shape = broadcast_shape(*(x.shape for x in tensors))
    return tuple(jnp.broadcast_to(x, shape) for x in tensors)


@op(grad="ExpandBackward0", names="")
def meshgrid(tensors: Arrays, indexing: str = "ij") -> tuple[Array, ...]:
    """Expand vectors to one grid: result i varies along dimension i ("xy": the first two dimensions are swapped).

    Shape: tensors (n0,), (n1,), ..., each result (n0, n1, ...).
    """
    _non_empty(tensors, "meshgrid")
    if indexing not in ("ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    if any(tensor.dtype != tensors[0].dtype for tensor in tensors):
        raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    for tensor in tensors:
        if tensor.ndim > 1:
            raise RuntimeError(
                f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: shape {list(tensor.shape)}"
            )
    grid = jnp.meshgrid(*map(to_1d, tensors), indexing=indexing)
    return tuple(grid)


@op(grad="BlockDiagBackward0", promote="common", names="block_diag")
def block_diag(tensors: Arrays) -> Array:
    """Put matrices (vectors are rows) on the diagonal of a matrix of zeros."""
    for position, tensor in enumerate(tensors):
        if tensor.ndim > 2:
            raise RuntimeError(
                f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {position} has {tensor.ndim} "
                "dimensions"
            )
    blocks = [to_2d(x) for x in tensors]
    width, before, rows = sum(x.shape[1] for x in blocks), 0, []
    for block in blocks:
        after = width - before - block.shape[1]
        rows.append(jnp.pad(block, ((0, 0), (before, after))))
        before += block.shape[1]
    return lax.concatenate(rows, 0)


def _vectors(tensors: Arrays) -> None:
    for tensor in tensors:
        if tensor.ndim != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {list(tensor.shape)}")


@op(grad="StackBackward0", names="cartesian_prod")
def cartesian_prod(tensors: Arrays) -> Array:
    """Return all choices of one element of each vector, one a row; of a single vector, the vector."""
    _vectors(tensors)
    if len(tensors) == 1:
        return tensors[0]
    if any(tensor.dtype != tensors[0].dtype for tensor in tensors):
        raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    grid = jnp.meshgrid(*tensors, indexing="ij")
    return jnp.stack(grid, -1).reshape(-1, len(tensors))


@op(grad="StackBackward0")
def combinations(input: Array, r: int = 2, with_replacement: bool = False) -> Array:
    """Return all choices of `r` elements of a vector in order, one a row.

    Shape: input (n,), result (how many there are, r).
    """
    _vectors([input])
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return jnp.zeros((0,), input.dtype)
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    places = np.array(list(choose(range(input.size), r)), np.int32).reshape(-1, r)
    return input[places]


def _powers(x: Array, count: int | None) -> Array:
    columns = x.shape[-1] if count is None else count
    kind = x.dtype if dtypes.of_numpy(x.dtype).is_differentiable else np.dtype(np.int64)
    ones = jnp.ones((*x.shape, min(columns, 1)), kind)
    repeated = jnp.broadcast_to(x.astype(kind)[..., None], (*x.shape, max(columns - 1, 0)))
    return lax.concatenate([ones, jnp.cumprod(repeated, x.ndim)], x.ndim)


@op(grad="FlipBackward0", names="vander")
def vander(x: Array, N: int | None = None, increasing: bool = False) -> Array:
    """Return the powers of a vector's elements, 0 to N - 1, as columns; the highest first unless `increasing`.

    Shape: x (n,), result (n, N).
    """
    if x.ndim != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    if N is not None and N < 0:
        raise RuntimeError("N must be non-negative.")
    powers = _powers(x, N)
    return powers if increasing else lax.rev(powers, (1,))


@op(grad="CatBackward0", names="linalg.vander")
def linalg_vander(x: Array, *, N: int | None = None) -> Array:
    """Return the powers 0 to N - 1 of each element, in a new last dimension."""
    row = x if x.ndim else x[None]
    if row.dtype == bool or (row.dtype.itemsize == 2 and row.dtype.kind not in "iu"):
        raise RuntimeError(
            f"linalg.vander supports floating point, complex, and integer tensors, but got {scalar_name(row)}"
        )
    if (row.shape[-1] if N is None else N) <= 1:
        raise RuntimeError("N must be greater than 1.")
    return _powers(row, N)
