"""Products of sparse matrices with dense ones, with vectors and with each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad._ops.table import TABLE
from funcgrad._tensor.call import call, write_out
from funcgrad._tensor.registry import both
from funcgrad._tensor.sparse.elementwise import added, given_to, scaled
from funcgrad._tensor.sparse.making import to_sparse
from funcgrad._tensor.sparse.pattern import Pattern
from funcgrad._tensor.sparse.tensor import SparseTensor, handles, like, sparse, under
from funcgrad._tensor.tensor import Tensor


def multiplied(mat1: Any, mat2: Any, node: str = "MmBackward0") -> Any:
    """Return mat1 @ mat2, one of which at least is sparse: sparse where both are.

    Shape: mat1 (n, m), mat2 (m, p) or, dense, (m,). RuntimeError: the sizes do not fit.
    """
    if mat1.ndim != 2 or mat2.ndim not in (1, 2) or mat1.shape[1] != mat2.shape[0]:
        if mat1.is_sparse and mat1.ndim == 2 and not isinstance(mat2, SparseTensor) and mat2.ndim in (1, 2):
            wanted, given = mat1.shape[1], mat2.shape[0]
            of_matrix = f"addmm: Argument #3 (dense): Expected dim 0 size {wanted}, got {given}"
            raise RuntimeError(of_matrix if mat2.ndim == 2 else "mv: expected self.size(-1) == vec.size(-1)")
        shapes = " and ".join("x".join(map(str, x.shape)) for x in (mat1, mat2))
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({shapes})")
    if isinstance(mat1, SparseTensor) and isinstance(mat2, SparseTensor):
        return _sparse_product(mat1, mat2)
    if isinstance(mat1, SparseTensor):
        return _with_dense(mat1, mat2, node)
    return _with_dense(_transposed(mat2), mat1.mT, node).mT


def _with_dense(mat1: SparseTensor, mat2: Tensor, node: str) -> Tensor:
    values, pattern = mat1._by_coordinates()
    if values.ndim != 1:
        raise RuntimeError("mat1 must be a sparse matrix without dense dimensions")
    product: Tensor = call(TABLE["sparse_times_dense"], (values, pattern.indices, mat2), (mat1.shape[0], node))
    return product


def _transposed(given: SparseTensor) -> SparseTensor:
    values, pattern = given._by_coordinates()
    return sparse(values, Pattern.of(given.shape[::-1], pattern.places[::-1], pattern, is_coalesced=False))


def _sparse_product(mat1: SparseTensor, mat2: SparseTensor) -> SparseTensor:
    """Multiply each stored element with the row of mat2 that it meets, and add up what falls together."""
    (a, left), (b, right) = mat1._coalesced(), mat2._coalesced()
    begins = np.searchsorted(right.places[0], np.arange(mat2.shape[0] + 1))
    counts = np.diff(begins)[left.places[1]]
    first = np.repeat(np.arange(left.count), counts)
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    second = begins[left.places[1]][first] + within
    terms = a.index_select(0, like(left.indices, first)) * b.index_select(0, like(left.indices, second))
    places = np.stack([left.places[0][first], right.places[1][second]])
    size = (mat1.shape[0], mat2.shape[1])
    merged, into = Pattern.of(size, places, left, is_coalesced=False).merged
    values = call(TABLE["add_values"], (terms, into), (merged.count, "SparseSparseMatmulBackward0"))
    found = sparse(values, merged)
    return found if mat1.is_sparse else to_sparse(found, layout=mat1.layout)


def batched(input: SparseTensor, mat2: Tensor) -> Tensor:
    """Multiply batches of matrices. Shape: input (B, n, m), mat2 (B, m, p), result (B, n, p)."""
    if input.ndim != 3 or mat2.ndim != 3 or input.shape[0] != mat2.shape[0] or input.shape[2] != mat2.shape[1]:
        raise RuntimeError(f"bmm: shapes {list(input.shape)} and {list(mat2.shape)} cannot be multiplied")
    values, pattern = input._by_coordinates()
    batch, rows, columns = pattern.places
    (_, n, m), p = input.shape, mat2.shape[2]
    places = np.stack([batch * n + rows, batch * m + columns])
    flat = Pattern.of((len(mat2) * n, len(mat2) * m), places, pattern, is_coalesced=False)
    return _with_dense(sparse(values, flat), mat2.reshape(-1, p), "BmmBackward0").view(-1, n, p)


def plus_product(input: Any, mat1: Any, mat2: Any, beta: Any, alpha: Any, node: str) -> Any:
    """Return beta * input + alpha * mat1 @ mat2."""
    product = multiplied(mat1, mat2, node)
    both = [x if factor == 1 else _times(x, factor) for x, factor in ((input, beta), (product, alpha))]
    dense, last = sorted(both, key=lambda x: isinstance(x, SparseTensor))  # a dense one comes first
    if isinstance(last, SparseTensor):
        return added(dense, last)
    return under(both[0] + both[1], node)


def _times(x: Tensor, factor: Any) -> Tensor:
    return scaled(x, factor) if isinstance(x, SparseTensor) else x * factor


@handles("mm", "spmm", "dsmm")
def _mm(func: Any, input: Any, mat2: Any, out: Any = None) -> Any:
    if mat2.ndim != 2:
        raise RuntimeError("mat2 must be a matrix")
    return given_to(out, multiplied(input, mat2))


@handles("linear")
def _linear(func: Any, input: Any, weight: Any, bias: Any = None) -> Tensor:
    product: Tensor = multiplied(input, _transposed(weight) if isinstance(weight, SparseTensor) else weight.mT)
    return product if bias is None else product + bias


@handles("mv")
def _mv(func: Any, input: Any, vec: Any, out: Any = None) -> Any:
    return given_to(out, multiplied(input, vec, "MvBackward0"))


@handles("matmul", "__matmul__", "__rmatmul__")
def _matmul(func: Any, input: Any, other: Any, out: Any = None) -> Any:
    if input.ndim == 3:
        return given_to(out, batched(input, other))
    if input.ndim == 1:
        return given_to(out, multiplied(_transposed(other), input))
    return given_to(out, multiplied(input, other, "MvBackward0" if other.ndim == 1 else "MmBackward0"))


@handles("bmm")
def _bmm(func: Any, input: Any, mat2: Any, out: Any = None) -> Any:
    return given_to(out, batched(input, mat2))


@handles("addmm", "sspaddmm", "saddmm")
def _addmm(func: Any, input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1, out: Any = None) -> Any:
    found = plus_product(input, mat1, mat2, beta, alpha, "AddmmBackward0")
    if isinstance(input, SparseTensor) and not isinstance(found, SparseTensor):
        found = to_sparse(found)
    return given_to(out, found)


@handles("smm")
def _smm(func: Any, input: SparseTensor, mat: Tensor) -> SparseTensor:
    return _hybrid(input, mat, 2)


@handles("hspmm", "hsmm")
def _hspmm(func: Any, mat1: SparseTensor, mat2: Tensor, out: Any = None) -> Any:
    return given_to(out, _hybrid(mat1, mat2, 1))


def _hybrid(mat1: SparseTensor, mat2: Tensor, sparse_dim: int) -> SparseTensor:
    """Return the product with its rows stored of which mat1 stores something. sparse_dim: 1 of whole rows, 2 of all."""
    values, pattern = mat1._by_coordinates()
    rows, into = np.unique(pattern.places[0], return_inverse=True)
    short = Pattern.of((len(rows), mat1.shape[1]), np.stack([into, pattern.places[1]]), pattern, is_coalesced=False)
    found = _with_dense(sparse(values, short), mat2, "MmBackward0")
    size = (mat1.shape[0], mat2.shape[1])
    if sparse_dim == 1:
        return sparse(found, Pattern.of(size, rows[None], pattern))
    places = np.stack([np.repeat(rows, size[1]), np.tile(np.arange(size[1]), len(rows))])
    return sparse(found.flatten(), Pattern.of(size, places, pattern))


# By their old names, of dense matrices too


@both("spmm", "dsmm")
def spmm(input: Tensor, mat2: Tensor) -> Tensor:
    """Multiply two matrices."""
    product: Tensor = call(TABLE["mm"], (input, mat2))
    return product


@both()
def smm(input: Tensor, mat2: Tensor) -> Tensor:
    """Multiply two matrices; of a sparse one, the product is sparse."""
    return spmm(input, mat2)


@both("hspmm", "hsmm")
def hspmm(mat1: Tensor, mat2: Tensor) -> Tensor:
    """Multiply two matrices; of a sparse one, whole rows of the product are stored."""
    return spmm(mat1, mat2)


@both("sspaddmm", "saddmm")
def sspaddmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Any = None) -> Tensor:
    """Return beta * input + alpha * mat1 @ mat2."""
    result: Tensor = call(TABLE["addmm"], (input, mat1, mat2, beta, alpha))
    return result if out is None else write_out(out, result)  # type: ignore[no-any-return]  # out itself
