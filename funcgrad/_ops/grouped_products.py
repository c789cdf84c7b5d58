"""Rows: products of matrices in groups, where offsets say which rows or columns belong to which group."""

from __future__ import annotations

import jax.numpy as jnp
from jax import lax

from funcgrad._ops.checks import scalar_name
from funcgrad._ops.products import same_kind
from funcgrad._ops.table import Array, DType, op

_KINDS = ("float32", "bfloat16", "float16")


@op(names="_grouped_mm", grad="GroupedMmBackward0")
def grouped_mm(
    input: Array, mat2: Array, offs: Array | None = None, bias: Array | None = None, out_dtype: DType | None = None
) -> Array:
    """A product for each group, computed in float32: what a mixture of experts does with the rows that each is given.

    offs: where each group ends, along the dimension of a matrix that has no dimension of groups; what lies beyond the
    last end gives 0. Sizes, and so the program, are the same however many rows a group has.

    Shape: input (n, m) and mat2 (groups, m, p), result (n, p): groups of rows. (groups, n, m) and (m, p), result
    (n, p): of columns. (n, m) and (m, p), result (groups, n, p): of what is added up. Without `offs` (groups, n, m) and
    (groups, m, p), result (groups, n, p).
    """
    _check(input, mat2, offs, bias, out_dtype)
    if offs is None:
        return jnp.matmul(input, mat2)
    return _in_groups(input, mat2, offs).astype(input.dtype)


def _in_groups(a: Array, b: Array, ends: Array) -> Array:
    if a.ndim == b.ndim:
        places, starts = jnp.arange(a.shape[1]), jnp.concatenate([jnp.zeros(1, ends.dtype), ends[:-1]])
        belongs = (places >= starts[:, None]) & (places < ends[:, None])
        parts = jnp.where(belongs[:, None], a, 0)
        return jnp.matmul(parts, b, preferred_element_type=jnp.float32)
    sizes = jnp.diff(ends, prepend=0)
    if a.ndim == 2:
        return lax.ragged_dot(a, b, sizes, preferred_element_type=jnp.float32)
    return lax.ragged_dot(b.T, jnp.swapaxes(a, 1, 2), sizes, preferred_element_type=jnp.float32).T


def _check(a: Array, b: Array, ends: Array | None, bias: Array | None, out_dtype: DType | None) -> None:
    """Refuse in torch's words what it refuses; it also wants each row to begin at a multiple of 16 bytes."""
    if str(a.dtype) not in _KINDS:
        raise RuntimeError(f"Expected mat_a to be Float32, BFloat16 or Float16 matrix, got {scalar_name(a)}")
    same_kind(a, b)
    for name, matrix in (("mat_a", a), ("mat_b", b)):
        if matrix.ndim not in (2, 3):
            raise RuntimeError(f"{name} has to be 2 or 3d")
    if (ends is None) != (a.ndim == b.ndim == 3):
        raise RuntimeError("Have to provide offsets if there is a 2d matrix, or no offset if both matrices are 3d")
    if a.shape[-1] != b.shape[-2]:
        raise RuntimeError("contraction dimension of mat_a and mat_b must match")
    if ends is None and a.shape[0] != b.shape[0]:
        raise RuntimeError("batched dimension has to match")
    if ends is not None:
        _check_ends(a, b, ends)
    if bias is not None:
        raise RuntimeError("Bias not supported yet")
    if out_dtype is not None and out_dtype.numpy != a.dtype:
        raise RuntimeError("Grouped gemm output dtype must match `mat_a` dtype")


def _check_ends(a: Array, b: Array, ends: Array) -> None:
    if str(ends.dtype) != "int32":
        raise RuntimeError("Offsets have to be int32")
    if a.ndim != b.ndim and ends.shape != (max(a, b, key=lambda matrix: matrix.ndim).shape[0],):
        raise RuntimeError("matrix batch sizes have to match")
