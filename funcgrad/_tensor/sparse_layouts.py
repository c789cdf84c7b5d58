"""Sparse tensors as dense ones: what is not stored is 0. Scripts that build and multiply them get torch's numbers.

A tensor made here is an ordinary Tensor. XLA has no sparse layouts: memory and time are those of the dense tensor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad._base import dtypes, layouts
from funcgrad._ops.table import TABLE
from funcgrad._tensor.arguments import as_dims
from funcgrad._tensor.call import call, write_out
from funcgrad._tensor.creation import as_tensor, zeros
from funcgrad._tensor.interop import from_host, to_host
from funcgrad._tensor.registry import FUNCTIONS, METHODS, both, function, method
from funcgrad._tensor.tensor import Tensor


@function()
def sparse_coo_tensor(
    indices: Any, values: Any = None, size: Any = None, *, dtype: Any = None, device: Any = None,
    pin_memory: Any = None, requires_grad: bool = False, check_invariants: Any = None, is_coalesced: Any = None,
) -> Tensor:  # fmt: skip
    """Return the tensor with `values` at the columns of `indices`, added up where they meet, and 0 elsewhere.

    Shape: indices (sparse dimensions, n), values (n, *dense dimensions).
    """
    if values is None:
        return zeros(as_dims(indices) or (), dtype=dtype, device=device, requires_grad=requires_grad)
    places, numbers = as_tensor(indices, device=device).long(), as_tensor(values, dtype=dtype, device=device)
    if places.ndim != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(places.shape)}")
    if numbers.shape[:1] != places.shape[1:]:
        raise RuntimeError(f"number of indices ({places.shape[1]}) must be that of values, {list(numbers.shape)}")
    shape = as_dims(size)
    if shape is None:
        shape = (*(to_host(places).max(1) + 1).tolist(), *numbers.shape[1:])
    _check_columns(places, shape)
    result = zeros(shape, dtype=numbers.dtype, device=device).index_put(tuple(places), numbers, accumulate=True)
    return result.detach().requires_grad_() if requires_grad else result


def _check_columns(places: Tensor, shape: Sequence[int]) -> None:
    known = places._current().value.array
    if type(known) is np.ndarray and known.size:
        for row, length in zip(known, shape, strict=False):
            if row.max() >= length or row.min() < 0:
                raise RuntimeError(f"size is inconsistent with indices: for dim 0, size is {length} but found index "
                                   f"{row.max()}")  # fmt: skip


def _from_compressed(
    compressed: Any, plain: Any, values: Any, size: Any, options: dict[str, Any], *, by_row: bool
) -> Tensor:
    counts = np.diff(to_host(as_tensor(compressed)))
    outer, inner = from_host(np.repeat(np.arange(len(counts)), counts)), as_tensor(plain).long()
    rows, columns = (outer, inner) if by_row else (inner, outer)
    if size is None:
        other = int(to_host(inner).max()) + 1
        size = (*((len(counts), other) if by_row else (other, len(counts))), *as_tensor(values).shape[1:])
    places = call(TABLE["stack"], (rows, columns), (0,))
    return sparse_coo_tensor(places, values, size, **options)


@function()
def sparse_csr_tensor(crow_indices: Any, col_indices: Any, values: Any, size: Any = None, **options: Any) -> Tensor:
    """Return the matrix whose row i has values[crow[i]:crow[i + 1]] in the columns of the same places, else 0."""
    options.pop("layout", None)
    return _from_compressed(crow_indices, col_indices, values, size, options, by_row=True)


@function()
def sparse_csc_tensor(ccol_indices: Any, row_indices: Any, values: Any, size: Any = None, **options: Any) -> Tensor:
    """Return the matrix whose column j has values[ccol[j]:ccol[j + 1]] in the rows of the same places, else 0."""
    options.pop("layout", None)
    return _from_compressed(ccol_indices, row_indices, values, size, options, by_row=False)


def _from_blocks(
    compressed: Any, plain: Any, values: Any, size: Any, options: dict[str, Any], *, by_row: bool
) -> Tensor:
    """Return a matrix of blocks. Shape: values (n, rows of a block, columns of a block)."""
    numbers = as_tensor(values)
    _, height, width = numbers.shape
    blocks = None if size is None else (size[0] // height, size[1] // width, height, width)
    found = _from_compressed(compressed, plain, numbers, blocks, options, by_row=by_row)
    rows, columns = found.shape[:2]
    return found.permute(0, 2, 1, 3).reshape(rows * height, columns * width)


@function()
def sparse_bsr_tensor(crow_indices: Any, col_indices: Any, values: Any, size: Any = None, **options: Any) -> Tensor:
    """Return the matrix made of blocks that lie row by row, as `sparse_csr_tensor` has numbers, and 0 elsewhere."""
    options.pop("layout", None)
    return _from_blocks(crow_indices, col_indices, values, size, options, by_row=True)


@function()
def sparse_bsc_tensor(ccol_indices: Any, row_indices: Any, values: Any, size: Any = None, **options: Any) -> Tensor:
    """Return the matrix made of blocks that lie column by column, and 0 elsewhere."""
    options.pop("layout", None)
    return _from_blocks(ccol_indices, row_indices, values, size, options, by_row=False)


@function()
def sparse_compressed_tensor(
    compressed_indices: Any, plain_indices: Any, values: Any, size: Any = None, *, layout: Any, **options: Any
) -> Tensor:
    """Return the matrix that a compressed layout (csr, csc, bsr or bsc) tells, 0 where it tells nothing."""
    make = _COMPRESSED.get(layout)
    if make is None:
        raise RuntimeError(f"sparse_compressed_tensor(): layout is sparse_csr, _csc, _bsr or _bsc, not {layout}")
    return make(compressed_indices, plain_indices, values, size, **options)


_COMPRESSED = {
    layouts.sparse_csr: sparse_csr_tensor, layouts.sparse_csc: sparse_csc_tensor, layouts.sparse_bsr: sparse_bsr_tensor,
    layouts.sparse_bsc: sparse_bsc_tensor,
}  # fmt: skip


# Between layouts: every layout is the dense one


@method("to_sparse", "to_sparse_coo")
def to_sparse(self: Tensor, *args: Any, layout: Any = None, blocksize: Any = None, dense_dim: Any = None) -> Tensor:
    """Return the same numbers: here every layout is the dense one."""
    return call(TABLE["clone"], (self,))


@method()
def to_sparse_csr(self: Tensor, dense_dim: Any = None) -> Tensor:
    """Return the same numbers: here every layout is the dense one."""
    return call(TABLE["clone"], (self,))


METHODS["to_sparse_csc"] = METHODS["to_sparse_bsr"] = METHODS["to_sparse_bsc"] = to_sparse


@method()
def coalesce(self: Tensor) -> Tensor:
    """Return the tensor: equal places were added up when it was made."""
    return self


@method("indices", "_indices")
def indices(self: Tensor) -> Tensor:
    """Return the places of what is not 0. Shape: (dimensions, n)."""
    return from_host(np.stack(np.nonzero(to_host(self.detach()))), dtype=dtypes.int64, device=self.device)


@method("values", "_values")
def values(self: Tensor) -> Tensor:
    """Return what is not 0, in the order of `indices`."""
    return self[tuple(indices(self))]


@method("_nnz")
def stored(self: Tensor) -> int:
    """Return how many elements are not 0."""
    return int(np.count_nonzero(to_host(self.detach())))


@method()
def sparse_dim(self: Tensor) -> int:
    """Return the number of sparse dimensions: 0, since every layout is the dense one."""
    return 0


@method()
def dense_dim(self: Tensor) -> int:
    """Return the number of dense dimensions: all."""
    return self.ndim


def _compressed(along: int, is_pointer: bool) -> Any:
    def compressed(self: Tensor) -> Tensor:
        """Return what a compressed layout of the matrix holds: where each row (column) starts, or what lies in it."""
        array = to_host(self.detach())
        found = np.nonzero(array if along == 0 else array.T)
        starts = np.concatenate([[0], np.cumsum(np.bincount(found[0], minlength=array.shape[along]))])
        return from_host(starts if is_pointer else found[1], dtype=dtypes.int64, device=self.device)

    return compressed


METHODS["crow_indices"], METHODS["col_indices"] = _compressed(0, True), _compressed(0, False)
METHODS["ccol_indices"], METHODS["row_indices"] = _compressed(1, True), _compressed(1, False)


@method()
def sparse_mask(self: Tensor, mask: Tensor) -> Tensor:
    """Return the tensor with 0 where the mask has 0."""
    return call(TABLE["where"], (mask != 0, self, 0))


for _name in ("indices", "values", "crow_indices", "col_indices", "ccol_indices", "row_indices"):
    FUNCTIONS[f"{_name}_copy"] = METHODS[_name]


# Products by their old names


@both("smm", "dsmm", "hsmm", "hspmm", "spmm")
def smm(input: Tensor, mat2: Tensor) -> Tensor:
    """Multiply two matrices."""
    return call(TABLE["mm"], (input, mat2))


@both("sspaddmm", "saddmm")
def sspaddmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Any = None) -> Tensor:
    """Return beta * input + alpha * mat1 @ mat2."""
    result = call(TABLE["addmm"], (input, mat1, mat2, beta, alpha))
    return result if out is None else write_out(out, result)
