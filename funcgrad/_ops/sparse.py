"""Rows of sparse tensors: values that stand at columns of `indices`, and are added up where they meet.

Shape: indices (sparse dimensions, n), values (n, *dense dimensions). Who made the tensor has seen to it that the places
lie inside.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from funcgrad._ops.table import Array, Indices, op


def _named(shapes: Sequence[Any], statics: Sequence[Any]) -> Any:
    return statics[-1]


@op(grad=_named, names="")
def same_values(input: Array, node: str) -> Array:
    """Return the array itself, under another node of the graph."""
    return input


@op(grad=_named, names="")
def values_at(input: Array, indices: Indices, node: str) -> Array:
    """Return what a dense array has at the indices."""
    return input[tuple(indices)]


@op(grad=_named, names="")
def add_values(input: Array, places: Indices, length: int, node: str) -> Array:
    """Add values up that have one place. Shape: places (n,), result (length, *dense dimensions)."""
    return _added(input, places, length)


def _added(input: Array, places: Indices, length: int) -> Array:
    empty = jnp.zeros((length, *input.shape[1:]), input.dtype)
    return empty.at[places].max(input) if input.dtype == bool else empty.at[places].add(input)


@op(grad="ToDenseBackward0", names="")
def sparse_to_dense(input: Array, indices: Indices, size: tuple[int, ...]) -> Array:
    """Return the dense array. Shape: result `size`."""
    count = len(indices)
    flat = jnp.ravel_multi_index(tuple(indices), size[:count], mode="clip") if count else jnp.zeros(len(input), int)
    return _added(input, flat, math.prod(size[:count])).reshape(size)


@op(grad=_named, names="")
def sparse_times_dense(input: Array, indices: Indices, mat2: Array, length: int, node: str) -> Array:
    """Multiply a sparse matrix by a dense one or a vector. Shape: mat2 (m, *), result (length, *)."""
    terms = input.reshape(-1, *(1,) * (mat2.ndim - 1)) * mat2[indices[1]]
    return jnp.zeros((length, *mat2.shape[1:]), terms.dtype).at[indices[0]].add(terms)
