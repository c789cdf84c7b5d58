"""Sums, norms and softmax of what sparse tensors store."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from funcgrad._base.dtypes import int64
from funcgrad._base.layouts import sparse_csr
from funcgrad._ops.table import TABLE
from funcgrad._tensor.arguments import as_dims, as_dtype
from funcgrad._tensor.call import call
from funcgrad._tensor.sparse.making import to_sparse
from funcgrad._tensor.sparse.pattern import Pattern, flattened
from funcgrad._tensor.sparse.shaping import dim_in
from funcgrad._tensor.sparse.tensor import SparseTensor, handles, like, sparse, under
from funcgrad._tensor.tensor import Tensor


def total(input: SparseTensor, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Tensor:
    """Return the sum over dimensions (default: all), dense if no sparse dimension is left."""
    kind = as_dtype(dtype)
    values, pattern = input._by_coordinates()
    values = values if kind is None else values.to(kind)
    dims = as_dims(dim)
    if dims is None:
        return values.sum()
    if not dims:
        return input._with(values)
    folded = {dim_in(d, input.ndim) for d in dims}
    count = pattern.sparse_dim
    inner = [d - count + 1 for d in folded if d >= count]
    values = values.sum(inner, keepdim=keepdim) if inner else values
    kept = [d for d in range(count) if d not in folded]
    size = [1 if d in folded else n for d, n in enumerate(input.shape) if keepdim or d not in folded]
    if len(kept) == count:
        return sparse(under(values, "SparseSumBackward0"), Pattern(size, pattern.indices, pattern.is_coalesced))
    if not kept:
        return under(values.sum(0).view(size), "SparseSumBackward0")
    places = pattern.places[kept]
    if keepdim:
        places = np.where(np.isin(np.arange(count), kept)[:, None], pattern.places, 0)
    merged, into = Pattern.of(size, places, pattern, is_coalesced=False).merged
    return sparse(call(TABLE["add_values"], (values, into), (merged.count, "SparseSumBackward0")), merged)


@handles("sum")
def _sum(func: Any, input: SparseTensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    if input.is_sparse or dim is None:
        return total(input, dim, keepdim, dtype)
    if input.layout is not sparse_csr:
        kind = "".join(part.capitalize() for part in str(input.layout).removeprefix("torch.").split("_"))
        raise RuntimeError(
            f"Currently the only compressed sparse format supported for sum.dim_IntList is CSR, but got layout {kind}"
        )
    if not keepdim:
        raise RuntimeError("reduction operations on CSR tensors with keepdim=False is unsupported")
    is_wide = input.dtype.is_floating_point or input.dtype.is_complex
    found = total(input, dim, True, dtype if dtype is not None or is_wide else int64)
    return to_sparse(found, layout=sparse_csr)


@handles("norm", "vector_norm")
def _norm(func: Any, input: SparseTensor, p: Any = 2, dim: Any = None, *args: Any, **named: Any) -> Tensor:
    if dim not in (None, (), []):
        raise RuntimeError(f"norm_sparse currently only supports full reductions, so 'dim' must be empty, got {dim}")
    values, _ = input._coalesced()
    return values.norm(2 if p in (None, "fro") else p)


def shares(input: SparseTensor, dim: int, dtype: Any, log: bool) -> SparseTensor:
    """Return the softmax (log: its logarithm) along a dimension of what is stored."""
    kind = as_dtype(dtype)
    values, pattern = input._coalesced()
    values = values if kind is None else values.to(kind)
    dim, count = dim_in(dim, input.ndim), pattern.sparse_dim
    if dim >= count:
        inner = dim - count + 1
        return sparse(values.log_softmax(inner) if log else values.softmax(inner), pattern)
    others = [d for d in range(count) if d != dim]
    flat = flattened(pattern.places[others], [pattern.size[d] for d in others])
    groups, owner = np.unique(flat, return_inverse=True)
    into, number = like(pattern.indices, owner), max(len(groups), 1)
    lowest = values.detach().new_full((number, *values.shape[1:]), -math.inf)
    top = _reduced(lowest, into, values.detach(), "amax", True)
    powers = (values - top.index_select(0, into)).exp()
    sums = call(TABLE["add_values"], (powers, into), (number, "SparseSoftmaxBackward0")).index_select(0, into)
    if log:
        return sparse(under(values - top.index_select(0, into) - sums.log(), "SparseLogSoftmaxBackward0"), pattern)
    return sparse(under(powers / sums, "SparseSoftmaxBackward0"), pattern)


def sampled(input: SparseTensor, mat1: Tensor, mat2: Tensor, beta: Any, alpha: Any) -> SparseTensor:
    """Return beta * input + alpha * mat1 @ mat2 where input stores something."""
    pattern = input._by_coordinates()[1]
    rows, columns = (like(pattern.indices, row) for row in pattern.places)
    terms = (mat1.index_select(0, rows) * mat2.mT.index_select(0, columns)).sum(-1)
    return input._with(beta * input._plain() + alpha * terms.view(input._plain().shape))


_FOLDS = {"sum": "sum", "mean": "mean", "amax": "amax", "amin": "amin", "max": "amax", "min": "amin"}


def folded_product(mat1: SparseTensor, mat2: Tensor, reduce: str) -> Tensor:
    """Fold what mat1 stores of each row, times mat2's rows, by sum, mean, amax or amin; empty rows give 0."""
    if reduce not in _FOLDS:
        raise RuntimeError(f"reduce argument must be either sum, mean, amax or amin, got {reduce}")
    values, pattern = mat1._coalesced()
    terms = values.unsqueeze(-1) * mat2.index_select(0, like(pattern.indices, pattern.places[1]))
    rows = like(pattern.indices, pattern.places[0])
    empty = terms.new_zeros(mat1.shape[0], mat2.shape[1])
    if reduce == "sum":
        folded: Tensor = empty.index_add(0, rows, terms)
    else:
        folded = _reduced(empty, rows, terms, _FOLDS[reduce], False)
    return under(folded, "SparseMmReduceImplBackward0")


def _reduced(input: Tensor, index: Tensor, source: Tensor, reduce: str, include_self: bool) -> Tensor:
    """Do what `index_reduce` does to rows, without its warning."""
    return call(TABLE["index_reduce"], (input, index, source), (0, reduce, include_self))  # type: ignore[no-any-return]  # a tensor
