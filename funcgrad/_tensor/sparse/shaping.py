"""Functions that move, choose and join the elements of sparse tensors: places change on the host, values follow."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index as index_of
from typing import Any

import numpy as np

from funcgrad._ops.table import TABLE
from funcgrad._tensor.arguments import as_spread_dims
from funcgrad._tensor.call import call
from funcgrad._tensor.interop import to_host
from funcgrad._tensor.registry import method
from funcgrad._tensor.sparse.pattern import Numbers, Pattern
from funcgrad._tensor.sparse.tensor import SparseTensor, handles, like, refuse, sparse, under
from funcgrad._tensor.tensor import Tensor


def dim_in(dim: int, count: int) -> int:
    """Return a dimension counted from the first. IndexError where there is none such."""
    if not -count <= dim < max(count, 1):
        raise IndexError(f"Dimension out of range (expected to be in range of [{-count}, {count - 1}], but got {dim})")
    return dim % max(count, 1)


# Order of dimensions


@handles("t", "t_copy")
def _t(func: Any, self: SparseTensor) -> SparseTensor:
    if self.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {self.ndim}D")
    return _permuted(self, tuple(range(self.ndim))[::-1], "TBackward0")


@handles("T", "mT", "H", "mH", "adjoint", "matrix_transpose")
def _transposed(func: Any, self: SparseTensor) -> SparseTensor:
    order = tuple(range(self.ndim))
    return _permuted(self, (*order[:-2], *order[-2:][::-1]), "TransposeBackward0")


@handles("transpose", "swapaxes", "swapdims")
def _transpose(func: Any, self: SparseTensor, dim0: int, dim1: int) -> SparseTensor:
    order = list(range(self.ndim))
    one, other = dim_in(dim0, self.ndim), dim_in(dim1, self.ndim)
    order[one], order[other] = order[other], order[one]
    return _permuted(self, tuple(order), "TransposeBackward0")


@handles("permute")
def _permute(func: Any, self: SparseTensor, *dims: Any) -> SparseTensor:
    order = tuple(dim_in(d, self.ndim) for d in as_spread_dims(dims, "permute(): argument 'dims'"))
    if sorted(order) != list(range(self.ndim)):
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {self.ndim} is not equal to len(dims) = {len(order)}"
        )
    return _permuted(self, order, "PermuteBackward0")


def _permuted(self: SparseTensor, order: tuple[int, ...], node: str) -> SparseTensor:
    if order == tuple(range(self.ndim)):
        return self._with(under(self._plain(), node))
    pattern, values = self._pattern, self._plain()
    if not isinstance(pattern, Pattern):
        if sorted(order[:2]) != [0, 1]:
            raise RuntimeError("transpose(): can only transpose sparse dimensions with sparse ones in this layout")
        values = values.transpose(1, 2) if pattern.block else values
        return sparse(under(values, node), pattern.transposed())
    count = pattern.sparse_dim
    if sorted(order[:count]) != list(range(count)):
        raise RuntimeError("transpose(): can only transpose sparse dimensions with sparse ones, and dense with dense")
    inner = tuple(d - count + 1 for d in order[count:])
    values = values.permute(0, *inner) if inner != tuple(range(1, 1 + len(inner))) else values
    places = pattern.places[list(order[:count])]
    size = [self.shape[d] for d in order]
    return sparse(under(values, node), Pattern.of(size, places, pattern, is_coalesced=pattern.count < 2))


@handles("unsqueeze")
def _unsqueeze(func: Any, self: SparseTensor, dim: int) -> SparseTensor:
    values, pattern = self._by_coordinates()
    dim = dim_in(dim, self.ndim + 1)
    size = (*self.shape[:dim], 1, *self.shape[dim:])
    if dim > pattern.sparse_dim:
        return sparse(values.unsqueeze(dim - pattern.sparse_dim + 1), Pattern(size, pattern.indices,
                                                                              pattern.is_coalesced))  # fmt: skip
    places = np.insert(pattern.places, dim, 0, 0)
    return sparse(values, Pattern.of(size, places, pattern, pattern.is_coalesced))


# Parts


@handles("select", "select_copy")
def _select(func: Any, self: SparseTensor, dim: int, index: Any) -> Tensor:
    dim, place = dim_in(dim, self.ndim), index_of(index)
    if not -self.shape[dim] <= place < self.shape[dim]:
        raise IndexError(
            f"select(): index {place} out of range for tensor of size {list(self.shape)} at dimension {dim}"
        )
    place %= self.shape[dim]
    values, pattern = self._coalesced()
    size = (*self.shape[:dim], *self.shape[dim + 1 :])
    if dim >= pattern.sparse_dim:
        return sparse(values.select(dim - pattern.sparse_dim + 1, place), Pattern(size, pattern.indices, True))
    found = np.flatnonzero(pattern.places[dim] == place)
    chosen = values.index_select(0, like(pattern.indices, found))
    if pattern.sparse_dim == 1:
        return chosen.sum(0)
    return sparse(chosen, Pattern.of(size, np.delete(pattern.places[:, found], dim, 0), pattern))


@handles("__getitem__")
def _get_item(func: Any, self: SparseTensor, index: Any) -> Tensor:
    found: Any = self
    dim = 0
    for part in index if isinstance(index, tuple) else (index,):
        if part is Ellipsis or (isinstance(part, slice) and part == slice(None)):
            dim = found.ndim - (len(index) - index.index(part) - 1) if part is Ellipsis else dim + 1
        elif part is None:
            found, dim = _unsqueeze(func, found, dim), dim + 1
        elif isinstance(part, (bool, slice)) or (isinstance(part, Tensor) and part.ndim):
            if not isinstance(part, Tensor) or part.ndim != 1:
                refuse(func, (self,))
            found, dim = _index_select(func, found, dim, part), dim + 1
        elif isinstance(found, SparseTensor):
            found = _select(func, found, dim, part)
        else:
            found = found.select(dim, index_of(part))
    return found  # type: ignore[no-any-return]  # a tensor


@handles("index_select")
def _index_select(func: Any, self: SparseTensor, dim: int, index: Tensor) -> SparseTensor:
    dim = dim_in(dim, self.ndim)
    values, pattern = self._coalesced()
    wanted = to_host(index)
    wanted = np.flatnonzero(wanted) if wanted.dtype == bool else wanted
    if wanted.size and not (-self.shape[dim] <= wanted.min() and wanted.max() < self.shape[dim]):
        raise IndexError(f"index_select(): index contains {wanted.max()} that is out of range for tensor of size "
                         f"{list(self.shape)} at dimension {dim}")  # fmt: skip
    size = (*self.shape[:dim], len(wanted), *self.shape[dim + 1 :])
    if dim >= pattern.sparse_dim:
        chosen = values.index_select(dim - pattern.sparse_dim + 1, like(pattern.indices, wanted))
        return sparse(chosen, Pattern(size, pattern.indices, True))
    order = np.argsort(pattern.places[dim], kind="stable")
    ordered = pattern.places[dim][order]
    begins, ends = (np.searchsorted(ordered, wanted % self.shape[dim], side) for side in ("left", "right"))
    counts = ends - begins
    new = np.repeat(np.arange(len(wanted)), counts)
    found = order[np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts - begins, counts)]
    return _sorted(values, pattern, found, dim, new, size)


def _sorted(
    values: Tensor, pattern: Pattern, found: Numbers, dim: int, new: Numbers, size: Sequence[int]
) -> SparseTensor:
    """Return the values `found`, which stand at `new` of a dimension now, in the order of their places."""
    places = pattern.places[:, found]
    places[dim] = new
    order = np.lexsort(places[::-1])
    chosen = values.index_select(0, like(pattern.indices, found[order]))
    return sparse(chosen, Pattern.of(size, places[:, order], pattern))


@handles("narrow_copy")
def _narrow_copy(func: Any, self: SparseTensor, dim: int, start: int, length: int) -> SparseTensor:
    dim = dim_in(dim, self.ndim)
    values, pattern = self._by_coordinates()
    size = (*self.shape[:dim], length, *self.shape[dim + 1 :])
    if dim >= pattern.sparse_dim:
        inner = values.narrow(dim - pattern.sparse_dim + 1, start, length)
        return sparse(inner, Pattern(size, pattern.indices, pattern.is_coalesced))
    found = np.flatnonzero((pattern.places[dim] >= start) & (pattern.places[dim] < start + length))
    places = pattern.places[:, found]
    places[dim] -= start
    chosen = values.index_select(0, like(pattern.indices, found))
    return sparse(chosen, Pattern.of(size, places, pattern, pattern.is_coalesced))


# Together


@handles("cat", "concat", "concatenate")
def _cat(func: Any, tensors: Sequence[Any], dim: int = 0, **out: Any) -> SparseTensor:
    if not all(isinstance(x, SparseTensor) for x in tensors):
        raise RuntimeError("Concatenating sparse tensors, but a dense tensor was found")
    first: SparseTensor = tensors[0]
    dim = dim_in(dim, first.ndim)
    pairs = [x._by_coordinates() for x in tensors]
    patterns = [pattern for _, pattern in pairs]
    size = (*first.shape[:dim], sum(x.shape[dim] for x in tensors), *first.shape[dim + 1 :])
    count = patterns[0].sparse_dim
    if dim >= count:
        return sparse(*_beside(pairs, dim - count + 1, size))
    parts, begin = [], 0
    for x, pattern in zip(tensors, patterns, strict=True):
        places = pattern.places.copy()
        places[dim] += begin
        begin += x.shape[dim]
        parts.append(places)
    values = call(TABLE["cat"], [v for v, _ in pairs], (0,))
    is_coalesced = dim == 0 and all(pattern.is_coalesced for pattern in patterns)
    return sparse(values, Pattern.of(size, np.concatenate(parts, 1), patterns[0], is_coalesced))


def _beside(pairs: Sequence[tuple[Tensor, Pattern]], dim: int, size: Sequence[int]) -> tuple[Tensor, Pattern]:
    """Join along a dense dimension: each tensor's values keep their places, with zeros where the others stand."""
    widths = [values.shape[dim] for values, _ in pairs]
    padded, begin = [], 0
    for (values, _), width in zip(pairs, widths, strict=True):
        behind = 2 * (values.ndim - 1 - dim)
        padding = (*(0,) * behind, begin, sum(widths) - begin - width)
        padded.append(call(TABLE["pad"], (values,), (padding,)))
        begin += width
    places = np.concatenate([pattern.places for _, pattern in pairs], 1)
    return call(TABLE["cat"], padded, (0,)), Pattern.of(size, places, pairs[0][1], is_coalesced=False)


@handles("stack")
def _stack(func: Any, tensors: Sequence[Any], dim: int = 0, **out: Any) -> SparseTensor:
    if not all(isinstance(x, SparseTensor) for x in tensors):
        raise RuntimeError("Concatenating sparse tensors, but a dense tensor was found")
    return _cat(func, [_unsqueeze(func, x, dim) for x in tensors], dim)


@handles("hstack", "vstack", "row_stack")
def _beside_each_other(func: Any, tensors: Sequence[Any], **out: Any) -> SparseTensor:
    return _cat(func, tensors, 0 if func.__name__ != "hstack" or tensors[0].ndim == 1 else 1)


@handles("unbind")
def _unbind(func: Any, self: SparseTensor, dim: int = 0) -> tuple[Tensor, ...]:
    return tuple(_select(func, self, dim, place) for place in range(self.shape[dim_in(dim, self.ndim)]))


@handles("reshape", "flatten")
def _reshape(func: Any, self: SparseTensor, *size: Any, **named: Any) -> SparseTensor:
    raise RuntimeError("reshape is not implemented for sparse tensors")


@handles("expand", "expand_as")
def _expand(func: Any, self: SparseTensor, *size: Any) -> SparseTensor:
    raise RuntimeError("expand is unsupported for Sparse tensors")


# Another size in place


@method()
def sparse_resize_(self: Tensor, size: Any, sparse_dim: int, dense_dim: int) -> Tensor:
    """Give a sparse tensor another size; what is stored keeps its place. RuntimeError: it would lie outside."""
    if not isinstance(self, SparseTensor):
        raise RuntimeError("sparse_resize_ expected sparse coordinate tensor layout but got Strided")
    pattern = self._by_coordinates()[1]
    inner = len(self.shape) - pattern.sparse_dim
    if pattern.count and dense_dim != inner:
        raise RuntimeError(
            f"changing the number of dense dimensions (from {inner} to {dense_dim}) on a non-empty sparse tensor is "
            "not supported."
        )
    shrinks = any(a < b for a, b in zip(size, self.shape, strict=False))
    if pattern.count and (sparse_dim != pattern.sparse_dim or shrinks):
        raise RuntimeError("shrinking the size of sparse dimensions on a non-empty sparse tensor is not supported")
    if pattern.count:
        self._pattern = Pattern(size, pattern.indices, pattern.is_coalesced)
        return self
    return sparse_resize_and_clear_(self, size, sparse_dim, dense_dim)


@method()
def sparse_resize_and_clear_(self: Tensor, size: Any, sparse_dim: int, dense_dim: int) -> Tensor:
    """Give a sparse tensor another size, with nothing stored."""
    if not isinstance(self, SparseTensor):
        raise RuntimeError("sparse_resize_and_clear_ expected sparse coordinate tensor layout but got Strided")
    values = self._plain().new_zeros(0, *tuple(size)[sparse_dim:])
    pattern = Pattern.of(tuple(size), np.zeros((sparse_dim, 0), np.int64), self._pattern)
    self._variable, self._alias, self._pattern = values._current(), None, pattern
    return self


handles("sparse_resize_")(lambda func, *args: sparse_resize_(*args))
handles("sparse_resize_and_clear_")(lambda func, *args: sparse_resize_and_clear_(*args))


@handles("resize_as_")
def _resize_as(func: Any, self: Tensor, the_template: Tensor, **_: Any) -> Tensor:
    if not isinstance(self, SparseTensor) or not isinstance(the_template, SparseTensor):
        refuse(func, (self, the_template))
    return sparse_resize_(self, tuple(the_template.shape), the_template.sparse_dim(), the_template.dense_dim())
