"""Rows that multiply matrices and vectors: matmul by rank, linear layers, and the add-and-multiply family."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._base import promotion
from funcgrad._base.dtypes import dtype as DType
from funcgrad._ops.broadcasting import broadcast_shape
from funcgrad._ops.checks import c_name, require_scalar_type, scalar_name
from funcgrad._ops.dims import dim_of
from funcgrad._ops.table import Array, Scalar, op
from funcgrad._ops.views import expanded


def same_kind(a: Array, b: Array) -> None:
    """Raise torch's error for two factors of different dtypes."""
    if a.dtype != b.dtype:
        raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {c_name(a)} != {c_name(b)}")
    if a.dtype == bool:
        raise NotImplementedError("\"addmm_impl_cpu_\" not implemented for 'Bool'")


def _same_scalar(a: Array, b: Array) -> None:
    if a.dtype != b.dtype:
        raise RuntimeError(f"expected scalar type {scalar_name(a)} but found {scalar_name(b)}")
    if a.dtype == bool:
        raise NotImplementedError("\"bmm\" not implemented for 'Bool'")


def _matrix_product(a: Array, b: Array) -> Array:
    if a.shape[-1] != b.shape[0]:
        rows = math.prod(a.shape[:-1])
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({rows}x{a.shape[-1]} and {b.shape[0]}x{b.shape[1]})"
        )
    same_kind(a, b)
    return jnp.matmul(a, b)


def _dot_product(a: Array, b: Array, name: str = "dot") -> Array:
    if a.ndim != 1 or b.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {a.ndim}D and {b.ndim}D tensors")
    if a.dtype != b.dtype:
        raise RuntimeError(
            f"dot : expected both vectors to have same dtype, but found {scalar_name(a)} and {scalar_name(b)}"
        )
    if a.dtype == bool:
        raise NotImplementedError(f"\"{name}\" not implemented for 'Bool'")
    if a.size != b.size:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{a.size}] and src [{b.size}] to have the same number of "
            f"elements, but got {a.size} and {b.size} elements respectively"
        )
    return jnp.matmul(a, b)


def _matrix_times_vector(a: Array, b: Array) -> Array:
    rows = math.prod(a.shape[:-1])
    if a.shape[-1] != b.size:
        raise RuntimeError(f"size mismatch, got input ({rows}), mat ({rows}x{a.shape[-1]}), vec ({b.size})")
    if a.dtype != b.dtype:
        kinds = f"{scalar_name(b)}, {scalar_name(a)}, and {scalar_name(b)}"
        raise RuntimeError(f"addmv input tensors must have the same dtype, but got {kinds}")
    if a.dtype == bool:
        raise NotImplementedError("\"addmv_impl_cpu\" not implemented for 'Bool'")
    return jnp.matmul(a, b)


def _batched_product(a: Array, b: Array) -> Array:
    batch = math.prod(broadcast_shape(a.shape[:-2], b.shape[:-2]))
    if a.shape[-1] != b.shape[-2]:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{batch}, {a.shape[-1]}] but got: "
            f"[{batch}, {b.shape[-2]}]."
        )
    _same_scalar(a, b)
    return jnp.matmul(a, b)


def _product(a: Array, b: Array) -> Array:
    if a.ndim == 0 or b.ndim == 0:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {a.ndim}D and {b.ndim}D")
    if b.ndim == 1:
        return _dot_product(a, b) if a.ndim == 1 else _matrix_times_vector(a, b)
    if a.ndim == 1:
        if b.ndim == 2:
            return _matrix_product(a[None], b)[0]
        return _matrix_times_vector(jnp.swapaxes(b, -1, -2), a)
    if b.ndim == 2:
        return _matrix_product(a, b)
    return _batched_product(a, b)


_FOLDED_RIGHT = ("UnsafeViewBackward0", ("CloneBackward0", ("TransposeBackward0", "other")))
_MATMUL_NODES: dict[tuple[int, int], Any] = {
    (1, 1): ("DotBackward0", "input", "other"),
    (2, 1): ("MvBackward0", "input", "other"),
    (2, 2): ("MmBackward0", "input", "other"),
    (3, 1): ("UnsafeViewBackward0", ("MvBackward0", ("ViewBackward0", "input"), "other")),
    (3, 2): ("UnsafeViewBackward0", ("MmBackward0", ("ViewBackward0", "input"), "other")),
    (1, 2): ("SqueezeBackward4", ("MmBackward0", ("UnsqueezeBackward0", "input"), "other")),
    (1, 3): ("UnsafeViewBackward0", ("MvBackward0", _FOLDED_RIGHT, "input")),
    (2, 3): (
        "CloneBackward0",
        ("TransposeBackward0", ("UnsafeViewBackward0", ("MmBackward0", _FOLDED_RIGHT, ("TBackward0", "input")))),
    ),
}


def _matmul_node(shapes: Sequence[Any], statics: Sequence[Any]) -> Any:
    a, b = shapes[0], shapes[1]
    if len(a) < 3 or len(b) < 3:
        return _MATMUL_NODES[min(len(a), 3), min(len(b), 3)]
    batch = np.broadcast_shapes(a[:-2], b[:-2])
    factors = (_flat_batch("input", a[:-2], batch), _flat_batch("other", b[:-2], batch))
    return ("UnsafeViewBackward0", ("BmmBackward0", *factors))


def _flat_batch(name: str, given: Sequence[int], batch: Sequence[int]) -> Any:
    """Draw how torch flattens a factor's batch: with a copy where only some of its dimensions were expanded."""
    padded = (1,) * (len(batch) - len(given)) + tuple(given)
    expanded_dims = [has != wanted for has, wanted in zip(padded, batch, strict=True) if wanted != 1]
    if any(expanded_dims) and not all(expanded_dims):
        return ("UnsafeViewBackward0", ("CloneBackward0", ("ExpandBackward0", name)))
    return ("ViewBackward0", ("ExpandBackward0", name))


@op(grad=_matmul_node, names="matmul .matmul .__matmul__ .__rmatmul__ .__imatmul__ linalg.matmul")
def matmul(input: Array, other: Array) -> Array:
    """Multiply matrices, batches of matrices (which broadcast) and vectors. Shape: (*, n, m), (*, m, p) -> (*, n, p).

    RuntimeError where the inner sizes or the dtypes differ.
    """
    return _product(input, other)


@op(grad="MmBackward0")
def mm(input: Array, mat2: Array) -> Array:
    """Multiply two matrices. Shape: (n, m), (m, p) -> (n, p)."""
    if input.ndim != 2:
        raise RuntimeError("self must be a matrix")
    if mat2.ndim != 2:
        raise RuntimeError("mat2 must be a matrix")
    return _matrix_product(input, mat2)


@op(grad="BmmBackward0")
def bmm(input: Array, mat2: Array) -> Array:
    """Multiply two batches of matrices of equal length. Shape: (b, n, m), (b, m, p) -> (b, n, p)."""
    _is_batch(input, mat2)
    return _batched_product(input, mat2)


def _is_batch(batch1: Array, batch2: Array) -> None:
    for place, batch in enumerate((batch1, batch2), 1):
        if batch.ndim != 3:
            raise RuntimeError(f"batch{place} must be a 3D tensor")
    if batch1.shape[0] != batch2.shape[0] or batch1.shape[2] != batch2.shape[1]:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{batch1.shape[0]}, {batch1.shape[2]}] "
            f"but got: [{batch2.shape[0]}, {batch2.shape[1]}]."
        )
    _same_scalar(batch1, batch2)


@op(grad="MvBackward0")
def mv(input: Array, vec: Array) -> Array:
    """Multiply a matrix and a vector. Shape: (n, m), (m,) -> (n,)."""
    if input.ndim != 2 or vec.ndim != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {input.ndim}, {vec.ndim}")
    return _matrix_times_vector(input, vec)


@op(grad="DotBackward0")
def dot(input: Array, tensor: Array) -> Array:
    """Return the sum of the products of two vectors' elements. Shape: input (n,), tensor (n,), result ()."""
    return _dot_product(input, tensor)


@op(grad="VdotBackward0")
def vdot(input: Array, other: Array) -> Array:
    """Return the sum of the products of two vectors' elements, those of the first conjugated.

    Shape: input (n,), other (n,), result ().
    """
    return _dot_product(jnp.conj(input), other, "vdot")


def _vecdot_node(shapes: Sequence[Any], statics: Sequence[Any]) -> Any:
    if len(shapes[0]) == len(shapes[1]) == 1:
        return ("VdotBackward0", "x", "y")
    return ("SumBackward1", ("MulBackward0", "x", "y"))


@op(grad=_vecdot_node, names="linalg.vecdot")
def vecdot(x: Array, y: Array, *, dim: int = -1) -> Array:
    """Return the sum over `dim` of conj(x) * y. Shape: x and y (*, n, *), broadcast, result without `dim`."""
    if x.dtype != y.dtype:
        raise RuntimeError(
            f"linalg.vecdot: Expected x and y to have the same dtype, but found x of type {scalar_name(x)} and y of "
            f"type {scalar_name(y)} instead"
        )
    if x.ndim == y.ndim == 1:
        return vdot(x, y)
    dim = dim_of(len(broadcast_shape(x.shape, y.shape)), dim)
    return jnp.sum(jnp.conj(x) * y, axis=dim, dtype=x.dtype)


def _inner_node(shapes: Sequence[Any], statics: Sequence[Any]) -> Any:
    a, b = shapes[0], shapes[1]
    if not a or not b:
        return "MulBackward0"
    left, right = ("PermuteBackward0", "input"), ("PermuteBackward0", "other")
    if len(a) == len(b) == 1:
        return ("ViewBackward0", ("DotBackward0", left, right))
    flat = "ViewBackward0" if len(b) == 1 else "ReshapeAliasBackward0"
    return ("ViewBackward0", ("MmBackward0", ("ViewBackward0", left), (flat, right)))


def _one_dtype(ranked: Sequence[tuple[int, DType]]) -> DType:
    """Return the common dtype of factors, one of which has no dimension; others are to have one dtype."""
    if all(rank == promotion.DIMENSIONED for rank, _ in ranked) and len({dtype for _, dtype in ranked}) > 1:
        raise RuntimeError("both inputs should have same dtype")
    return promotion.result_type(ranked)


@op(grad=_inner_node, promote=_one_dtype)
def inner(input: Array, other: Array) -> Array:
    """Multiply and sum over the last dimensions. Shape: (*a, n), (*b, n) -> (*a, *b); a 0-d tensor is a factor."""
    if input.ndim == 0 or other.ndim == 0:
        return input * other
    if input.shape[-1] != other.shape[-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(input.shape)} and {list(other.shape)}"
        )
    return lax.dot_general(input, other, (((input.ndim - 1,), (other.ndim - 1,)), ((), ())))


@op(grad=("MulBackward0", ("ViewBackward0", "input"), "vec2"), promote="common", names="outer .outer ger .ger")
def outer(input: Array, vec2: Array) -> Array:
    """Return the products of all pairs of elements of two vectors. Shape: (n,), (m,) -> (n, m)."""
    for name, vector in (("self", input), ("vec2", vec2)):
        if vector.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {vector.ndim}-D")
    return input[:, None] * vec2


def _scaled(number: Scalar, array: Array) -> Array:
    if isinstance(number, (int, float, complex)) and number == 1:
        return array
    return jnp.asarray(number).astype(array.dtype) * array  # integers take the number without its fraction


def _scaled_or_none(number: Scalar, array: Array) -> Array | None:
    """Return number * array; of 0 None, or zeros where the number is traced, whatever stands in the array."""
    if isinstance(number, (int, float, complex)):
        return _scaled(number, array) if number != 0 else None
    return jnp.where(jnp.asarray(number) == 0, jnp.zeros_like(array), _scaled(number, array))


def _added(input: Array, product: Array, beta: Scalar, alpha: Scalar) -> Array:
    """Return beta * input + alpha * product, as BLAS does: what is scaled by 0 is not read, be it NaN."""
    start = _scaled_or_none(beta, expanded(input, product.shape))
    scaled = _scaled_or_none(alpha, product)
    if start is None or scaled is None:
        found = scaled if start is None else start
        return jnp.zeros_like(product) if found is None else found
    return start + scaled


@op(grad="AddmmBackward0", names="addmm .addmm .addmm_")
def addmm(input: Array, mat1: Array, mat2: Array, *, beta: Scalar = 1, alpha: Scalar = 1) -> Array:
    """Return beta * input + alpha * (mat1 @ mat2), where `input` is expanded to the product.

    Shape: input broadcasts to (n, p), mat1 (n, m), mat2 (m, p), result (n, p).
    """
    _same_as_second(input, mat1, mat2)
    for name, matrix in (("mat1", mat1), ("mat2", mat2)):
        if matrix.ndim != 2:
            raise RuntimeError(f"{name} must be a matrix, got {matrix.ndim}-D tensor")
    return _added(input, _matrix_product(mat1, mat2), beta, alpha)


def _same_as_second(bias: Array, mat1: Array, mat2: Array) -> None:
    for name, array in (("self", bias), ("mat1", mat1)):
        if array.dtype != mat2.dtype:
            raise RuntimeError(
                f"{name} and mat2 must have the same dtype, but got {scalar_name(array)} and {scalar_name(mat2)}"
            )


@op(grad="AddmvBackward0", names="addmv .addmv addmv_ .addmv_")
def addmv(input: Array, mat: Array, vec: Array, *, beta: Scalar = 1, alpha: Scalar = 1) -> Array:
    """Return beta * input + alpha * (mat @ vec), where `input` is expanded to the product.

    Shape: input broadcasts to (n,), mat (n, m), vec (m,), result (n,).
    """
    if mat.ndim != 2 or vec.ndim != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got {input.ndim}, {mat.ndim}, {vec.ndim}")
    if mat.shape[1] != vec.shape[0] or input.shape not in ((), (1,), mat.shape[:1]):
        raise RuntimeError(
            f"size mismatch, got input ({input.size}), mat ({mat.shape[0]}x{mat.shape[1]}), vec ({vec.shape[0]})"
        )
    if not input.dtype == mat.dtype == vec.dtype:
        names = [scalar_name(x) for x in (input, mat, vec)]
        raise RuntimeError(
            f"addmv input tensors must have the same dtype, but got {names[0]}, {names[1]}, and {names[2]}"
        )
    return _added(input, _matrix_times_vector(mat, vec), beta, alpha)


@op(grad="AddrBackward0", promote="common", names="addr .addr .addr_")
def addr(input: Array, vec1: Array, vec2: Array, *, beta: Scalar = 1, alpha: Scalar = 1) -> Array:
    """Return beta * input + alpha * outer(vec1, vec2), where `input` is expanded to the product.

    Shape: input broadcasts to (n, m), vec1 (n,), vec2 (m,), result (n, m).
    """
    for name, vector in (("vec1", vec1), ("vec2", vec2)):
        if vector.ndim != 1:
            raise RuntimeError(f"addr: Expected 1-D argument {name}, but got {vector.ndim}-D")
    return _added(input, _scaled(alpha, vec1[:, None] * vec2), beta, 1)  # which is no product of BLAS's


@op(grad="BaddbmmBackward0", names="baddbmm .baddbmm .baddbmm_")
def baddbmm(input: Array, batch1: Array, batch2: Array, *, beta: Scalar = 1, alpha: Scalar = 1) -> Array:
    """Return beta * input + alpha * (batch1 @ batch2), where `input` is expanded to the product.

    Shape: input broadcasts to (b, n, p), batch1 (b, n, m), batch2 (b, m, p), result (b, n, p).
    """
    if input.dtype == batch1.dtype:
        require_scalar_type(batch1, batch2)
    else:
        names = [c_name(x) for x in (input, batch1, batch2)]
        raise RuntimeError(
            f"Input dtypes must be the same, got: input {names[0]}, batch1: {names[1]}, batch2: {names[2]}"
        )
    _is_batch(batch1, batch2)
    return _added(input, jnp.matmul(batch1, batch2), beta, alpha)


@op(grad="AddbmmBackward0", names="addbmm .addbmm .addbmm_")
def addbmm(input: Array, batch1: Array, batch2: Array, *, beta: Scalar = 1, alpha: Scalar = 1) -> Array:
    """Return beta * input + alpha * (the sum over the batch of batch1 @ batch2).

    Shape: input broadcasts to (n, p), batch1 (b, n, m), batch2 (b, m, p), result (n, p).
    """
    if batch1.ndim == batch2.ndim == 3:
        if batch1.shape[0] != batch2.shape[0]:
            raise RuntimeError(
                f"batch1 and batch2 must have same number of batches, got {batch1.shape[0]} and {batch2.shape[0]}"
            )
        if batch1.shape[2] != batch2.shape[1]:
            sizes = ["x".join(map(str, batch.shape[1:])) for batch in (batch1, batch2)]
            raise RuntimeError(f"Incompatible matrix sizes for bmm ({sizes[0]} and {sizes[1]})")
    _same_as_second(input, batch1, batch2)
    _is_batch(batch1, batch2)
    summed = lax.dot_general(batch1, batch2, (((0, 2), (0, 1)), ((), ())))
    return _added(input, summed, beta, alpha)


def _linear_node(shapes: Sequence[Any], statics: Sequence[Any]) -> Any:
    rank, bias = len(shapes[0]), shapes[2]
    if bias is None:
        right = (1, 1) if rank == len(shapes[1]) == 1 else (min(rank, 3), len(shapes[1]))
        return _renamed(_MATMUL_NODES[right])
    if rank == 2:
        return ("AddmmBackward0", "bias", "input", ("TBackward0", "weight"))
    return ("ViewBackward0", ("AddmmBackward0", "bias", ("ViewBackward0", "input"), ("TBackward0", "weight")))


def _renamed(node: Any) -> Any:
    if isinstance(node, tuple):
        return (node[0], *map(_renamed, node[1:]))
    return ("TBackward0", "weight") if node == "other" else node


@op(grad=_linear_node, names="nn.functional.linear")
def linear(input: Array, weight: Array, bias: Array | None = None) -> Array:
    """Return input @ weight.T + bias. Shape: input (*, n), weight (m, n) or (n,), bias (m,), result (*, m) or (*)."""
    if input.ndim == 0:
        raise RuntimeError(f"both arguments to linear need to be at least 1D, but they are 0D and {weight.ndim}D")
    if weight.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {weight.ndim}D")
    if weight.ndim < 2:
        product = _product(input, weight)
        return product if bias is None else product + bias
    if bias is not None:
        _same_as_second(bias, input, weight)
    if input.shape[-1] != weight.shape[1]:
        rows = math.prod(input.shape[:-1])
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({rows}x{input.shape[-1]} and {weight.shape[1]}x"
            f"{weight.shape[0]})"
        )
    same_kind(input, weight)
    product = lax.dot_general(input, weight, (((input.ndim - 1,), (1,)), ((), ())))
    if bias is None:
        return product
    flat = (math.prod(product.shape[:-1]), product.shape[-1])  # the sizes that torch has it expanded to
    return product + expanded(bias, product.shape if bias.ndim > 1 or bias.size in (1, flat[1]) else flat)
