"""Rows that measure a tensor: vector norms, matrix norms, how long a difference is; and scale it to a length."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._base import dtypes, promotion
from funcgrad._base.cpp_names import scalar_type_name
from funcgrad._ops.arithmetic import magnitude, refuse_truth_values
from funcgrad._ops.broadcasting import broadcast
from funcgrad._ops.checks import scalar_name, wide
from funcgrad._ops.dims import dim_of, dims_of
from funcgrad._ops.moments import real_like, safe_sqrt
from funcgrad._ops.reductions import element_count
from funcgrad._ops.table import Array, Dims, DType, Scalar, op

_VECTOR = "LinalgVectorNormBackward0"
_SVD = ("LinalgSvdBackward0", ("PermuteBackward0", "input"))


def _extreme(input: Array, dims: tuple[int, ...], keepdim: bool, is_largest: bool) -> Array:
    return (jnp.max if is_largest else jnp.min)(input, dims, keepdims=keepdim)


_extreme_length = jax.custom_jvp(_extreme, nondiff_argnums=(1, 2, 3))


@_extreme_length.defjvp
def _extreme_length_jvp(
    dims: tuple[int, ...], keepdim: bool, is_largest: bool, primals: tuple[Array], tangents: tuple[Array]
) -> tuple[Array, Array]:
    """All within 4 roundings share the tangent: XLA may compute |z| twice, in two fusions, and round it in two ways.

    None equals the largest then, and the derivative of jnp.max divides by the number of those that do.
    """
    (x,), (dx,) = primals, tangents
    found = _extreme(x, dims, True, is_largest)
    chosen = (jnp.abs(x - found) <= 4 * jnp.finfo(x.dtype).eps * found).astype(x.dtype)
    moved = jnp.sum(dx * chosen, dims, keepdims=keepdim) / jnp.sum(chosen, dims, keepdims=keepdim)
    return found if keepdim else jnp.squeeze(found, dims), moved


def vector_norm_of(input: Array, p: float, dims: tuple[int, ...], keepdim: bool) -> Array:
    """(sum |x|^p)^(1/p) over `dims`, with torch's gradients: 0 where the norm is 0, shared among equal largest."""
    if p == 0:
        return jnp.sum((input != 0).astype(real_like(input)), dims, keepdims=keepdim)
    if (math.isinf(p) or p < 0) and element_count(input, dims) == 0:
        raise RuntimeError(
            f"linalg.vector_norm cannot compute the {p:g} norm on an empty tensor because the operation does not have "
            "an identity"
        )
    if math.isinf(p):
        extreme = _extreme_length if input.dtype.kind == "c" else _extreme
        return extreme(magnitude(input), dims, keepdim, p > 0)
    if p == 1:
        return jnp.sum(magnitude(input), dims, keepdims=keepdim)
    if p == 2:
        square = lax.square(input) if input.dtype.kind != "c" else lax.real(input * lax.conj(input))
        return safe_sqrt(jnp.sum(square, dims, keepdims=keepdim))
    size = magnitude(input)
    is_zero = size == 0
    power = jnp.where(is_zero, 0 if p > 0 else np.inf, jnp.where(is_zero, 1, size) ** p)
    total = jnp.sum(power.astype(size.dtype), dims, keepdims=keepdim)
    return jnp.where(total == 0, 0, jnp.where(total == 0, 1, total) ** (1 / p))


def needs_float(array: Array, name: str) -> None:
    """Raise torch's error for integers."""
    if not dtypes.of_numpy(array.dtype).is_differentiable:
        raise RuntimeError(f"{name}: Expected a floating point or complex tensor as input. Got {scalar_name(array)}")


def vector_size(x: Array, p: float, dims: Dims, keepdim: bool) -> Array:
    """Return (sum |x|^p)^(1/p) over `dims`, or its limits for p = 0 and ±inf, in the dtype of |x|."""
    kind = dtypes.of_numpy(x.dtype).to_real().numpy
    return lax.convert_element_type(vector_norm_of(wide(x), p, dims, keepdim), kind)


def _matrix_dims(input: Array, dim: Sequence[int], name: str) -> Dims:
    if input.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    if len(dim) != 2:
        raise RuntimeError(f"{name}: dim must be a 2-tuple. Got {' '.join(map(str, dim))}")
    dims = tuple(dim_of(input.ndim, d) for d in dim)
    if dims[0] == dims[1]:
        raise RuntimeError(f"{name}: dims must be different. Got ({dim[0]}, {dim[1]})")
    return dims


def _refuse_vectors(input: Array, dims: Sequence[int], order: str) -> None:
    """RuntimeError for a norm with a name of what is no matrix."""
    if order not in ("fro", "nuc"):
        raise RuntimeError(f"linalg.matrix_norm: Order {order} not supported.")
    if input.ndim < 2:
        raise RuntimeError("linalg.matrix_norm: The input tensor A must have at least 2 dimensions.")
    if len(dims) != 2:
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {' '.join(map(str, dims))}")


def _singular_values(input: Array, dims: Dims) -> Array:
    return jnp.linalg.svd(jnp.moveaxis(input, dims, (-2, -1)), compute_uv=False)


def matrix_size(input: Array, order: Any, dim: Sequence[int], keepdim: bool) -> Array:
    """Return a matrix norm over two dimensions: "fro", "nuc", ±1, ±2 or ±inf."""
    if order not in ("fro", "nuc") and (isinstance(order, str) or abs(order) not in (1, 2, np.inf)):
        raise RuntimeError(f"linalg.matrix_norm: Order {order} not supported.")
    needs_float(input, "linalg.matrix_norm")
    dims = _matrix_dims(input, dim, "linalg.matrix_norm")
    if order == "fro":
        return vector_size(input, 2, dims, keepdim)
    if order == "nuc" or abs(order) == 2:
        singular = _singular_values(input, dims)
        total = jnp.sum(singular, -1) if order == "nuc" else _end_of(singular, -1, order > 0)
    else:
        added, rest = dims if abs(order) == 1 else dims[::-1]
        sums = jnp.sum(magnitude(input), added, keepdims=True)
        total = jnp.squeeze(_end_of(sums, rest, order > 0, keepdims=True), dims)
    return jnp.expand_dims(total, sorted(dims)) if keepdim else total


def _end_of(sizes: Array, dim: int, largest: bool, keepdims: bool = False) -> Array:
    """Return the largest of sizes along a dimension (0 of none), or the smallest."""
    if largest:
        return jnp.max(sizes, dim, keepdims=keepdims, initial=0 if sizes.shape[dim] == 0 else None)
    if sizes.shape[dim] == 0:
        raise IndexError(f"amin(): Expected reduction dim {dim} to have non-zero size.")
    return jnp.min(sizes, dim, keepdims=keepdims)


def _cast(input: Array, dtype: DType | None, name: str) -> Array:
    """Return the input in `dtype`, which is to hold all its numbers."""
    if dtype is None:
        return input
    needs_float(input, name)
    wanted = "complex" if input.dtype.kind == "c" else "real"
    if not dtype.is_differentiable:
        raise RuntimeError(f"{name}: dtype should be floating point or complex, but got {scalar_type_name(dtype)}")
    if dtype.is_complex != (wanted == "complex"):
        raise RuntimeError(f"{name}: dtype should be {wanted} for {wanted} inputs, but got {scalar_type_name(dtype)}")
    if promotion.promote_types(dtypes.of_numpy(input.dtype), dtype) != dtype:
        raise RuntimeError(
            f"{name}: the dtype of the input ({scalar_name(input)}) should be convertible without narrowing to the "
            f"specified dtype ({scalar_type_name(dtype)})"
        )
    return lax.convert_element_type(input, dtype.numpy)


def _dims_from(dim: Dims | None) -> Dims | None:
    return (dim,) if isinstance(dim, int) else dim


def _matrix_node(order: Any) -> Any:
    if order == "fro":
        return _VECTOR
    outer = "SumBackward1" if order == "nuc" else "AmaxBackward0" if order > 0 else "AminBackward0"
    by_values = order == "nuc" or abs(order) == 2
    return (outer, _SVD if by_values else (_VECTOR, "input"))


def _norm_node(shapes: Sequence[Any], statics: Sequence[Any]) -> Any:
    order = statics[0] if statics else None
    dim = _dims_from(statics[1]) if len(statics) > 1 else None
    of_matrix = len(dim) == 2 if dim is not None else len(shapes[0]) == 2
    return _matrix_node(order) if order is not None and of_matrix else _VECTOR


@op(grad=_norm_node, names="linalg.norm", keep="residuals")
def linalg_norm(
    input: Array, ord: Any = None, dim: Dims | None = None, keepdim: bool = False, *, dtype: DType | None = None
) -> Array:
    """Return a vector norm (one dimension, or all without `ord`) or a matrix norm (two dimensions and an `ord`)."""
    dim = _dims_from(dim)
    if dim is not None and len(dim) not in (1, 2):
        raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dim)}")
    if ord is not None and dim is None and input.ndim not in (1, 2):
        raise RuntimeError(
            f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {input.ndim}D."
        )
    if ord is not None and (len(dim) == 2 if dim is not None else input.ndim == 2):
        return matrix_size(_cast(input, dtype, "linalg.matrix_norm"), ord, (-2, -1) if dim is None else dim, keepdim)
    input = _cast(input, dtype, "linalg.vector_norm")
    if isinstance(ord, str):
        _refuse_vectors(input, dims_of(input, dim), ord)
    assert not isinstance(ord, str), "a norm with a name is one of a matrix"
    needs_float(input, "linalg.vector_norm")
    return vector_size(input, 2 if ord is None else ord, dims_of(input, dim), keepdim)


@op(grad=_VECTOR, names="linalg.vector_norm")
def vector_norm(
    x: Array, ord: float = 2, dim: Dims | None = None, keepdim: bool = False, *, dtype: DType | None = None
) -> Array:
    """Return (sum |x|^ord)^(1/ord) over `dim`, or over everything; ±inf gives the largest or smallest |x|."""
    needs_float(x, "linalg.vector_norm")
    x = _cast(x, dtype, "linalg.vector_norm")
    if isinstance(ord, str):
        raise TypeError("linalg_vector_norm(): argument 'ord' (position 2) must be Number, not str")
    return vector_size(x, ord, dims_of(x, _dims_from(dim)), keepdim)


@op(
    grad=lambda shapes, statics: _matrix_node(statics[0] if statics else "fro"),
    names="linalg.matrix_norm",
    keep="residuals",
)
def matrix_norm(
    input: Array, ord: Any = "fro", dim: Dims = (-2, -1), keepdim: bool = False, *, dtype: DType | None = None
) -> Array:
    """Return a norm of matrices: "fro", "nuc" (sum of singular values), ±2 (largest, smallest), ±1 and ±inf (sums)."""
    return matrix_size(_cast(input, dtype, "linalg.matrix_norm"), ord, dim, keepdim)


@op(grad="LinalgVectorNormBackward0")
def norm(
    input: Array,
    p: str | float | None = "fro",
    dim: Dims | None = None,
    keepdim: bool = False,
    dtype: DType | None = None,
) -> Array:
    """The p-norm of all elements or along `dim`; "fro" is the 2-norm, "nuc" the sum of a matrix's singular values."""
    needs_float(input, "linalg.vector_norm")
    given = _cast(input, dtype, "linalg.vector_norm")
    dims, used = dims_of(input, dim), wide(given)
    if isinstance(p, str) and p != "fro":
        _refuse_vectors(input, dims, p)
    if p == "nuc":
        result = jnp.linalg.norm(used, "nuc", dims, keepdims=keepdim)
    else:
        result = vector_norm_of(used, 2.0 if p is None or p == "fro" else float(p), dims, keepdim)
    return result.astype(real_like(given))


@op(grad="NormBackward1", names="frobenius_norm")
def frobenius_norm(input: Array, dim: Dims, keepdim: bool = False) -> Array:
    """The 2-norm over `dim`."""
    return norm(input, "fro", dim, keepdim)


@op(grad=("SumBackward1", ("LinalgSvdBackward0", "input")), names="nuclear_norm")
def nuclear_norm(input: Array, dim: Dims | None = None, keepdim: bool = False) -> Array:
    """The sum of the singular values of matrices in two dimensions."""
    return norm(input, "nuc", dim, keepdim)


@op(grad="DistBackward0", promote="common")
def dist(input: Array, other: Array, p: float = 2) -> Array:
    """The p-norm of input - other, 0 with gradient 0 where they are equal. Shape: result ()."""
    refuse_truth_values([x.dtype == bool for x in (input, other)])
    difference = lax.sub(*broadcast(input, other))
    if not dtypes.of_numpy(difference.dtype).is_differentiable:
        raise RuntimeError(
            f"norm(): input dtype should be either floating point or complex. Got {scalar_name(difference)} instead."
        )
    return vector_norm_of(wide(difference), p, dims_of(difference, None), False).astype(real_like(difference))


@op(grad="RenormBackward0", names="renorm .renorm .renorm_")
def renorm(input: Array, p: float, dim: int, maxnorm: Scalar) -> Array:
    """Scale each slice along `dim` whose p-norm is above `maxnorm` to it."""
    if input.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {input.ndim} dimensions")
    dim = dim_of(input.ndim, dim)
    size = vector_norm_of(input, p, tuple(d for d in range(input.ndim) if d != dim), True)
    bound = jnp.asarray(maxnorm).astype(size.dtype)
    factor = jnp.where(size > bound, bound / (size + np.asarray(1e-7, size.dtype)), 1)
    return input * factor.astype(input.dtype)
