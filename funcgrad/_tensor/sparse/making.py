"""Sparse tensors from indices and values, from dense ones, and from one layout to another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad._base import dtypes, layouts
from funcgrad._ops.table import TABLE
from funcgrad._tensor.arguments import as_dims, as_dtype, as_spread_dims
from funcgrad._tensor.call import call
from funcgrad._tensor.creation import as_tensor, zeros
from funcgrad._tensor.interop import can_be_read, from_host, to_host
from funcgrad._tensor.registry import FUNCTIONS, METHODS, function, method
from funcgrad._tensor.sparse.pattern import Compressed, Pattern, Sizes, flattened
from funcgrad._tensor.sparse.tensor import SparseTensor, handles, like, sharing, sparse, under, values_in, word_of
from funcgrad._tensor.tensor import Tensor

_TO_SPARSE = {"sparse_csr": "ToSparseCsr", "sparse_csc": "ToSparseCsc", "sparse_bsr": "ToSparseBsr",
              "sparse_bsc": "ToSparseBsc"}  # fmt: skip


# From indices and values


@function()
def sparse_coo_tensor(
    indices: Any = None, values: Any = None, size: Any = None, *, dtype: Any = None, device: Any = None,
    pin_memory: Any = None, requires_grad: bool = False, check_invariants: Any = None, is_coalesced: bool | None = None,
) -> SparseTensor:  # fmt: skip
    """Return the tensor with `values` at the columns of `indices`, where they meet added up, and 0 elsewhere.

    Shape: indices (sparse dimensions, n), values (n, *dense dimensions). RuntimeError: they do not fit each other or
    `size`; ValueError, TypeError: what `tensor` raises.
    """
    if values is None:
        return _empty(as_dims(size if indices is None else indices) or (), dtype, device, requires_grad)
    places = as_tensor(indices, device=device).long()
    numbers = as_tensor(values, dtype=dtype, device=device)
    if places.ndim != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(places.shape)}")
    shape = as_dims(size)
    if shape is None:
        shape = (*(to_host(places).max(1, initial=-1) + 1).tolist(), *numbers.shape[1:])
    inner = max(numbers.ndim - 1, 0)
    if len(shape) != len(places) + inner:
        raise RuntimeError(
            f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(shape)}, sparse_dim = "
            f"{len(places)}, dense_dim = {inner}"
        )
    if numbers.shape[:1] != places.shape[1:]:
        raise RuntimeError(
            f"indices and values must have same nnz, but got nnz from indices: {places.shape[1]}, nnz from values: "
            f"{numbers.numel() if not numbers.ndim else len(numbers)}"
        )
    _refuse_outside(places, shape)
    return _leaf(numbers, Pattern(shape, places, bool(is_coalesced) or places.shape[1] < 2), requires_grad,
                 "SparseCooTensorWithDimsAndTensorsBackward0")  # fmt: skip


def _leaf(values: Tensor, pattern: Pattern | Compressed, requires_grad: bool, node: str) -> SparseTensor:
    """Return the tensor of values with their history, or of their numbers alone, as a leaf, where that is asked for."""
    keeps_history = values.requires_grad and not requires_grad
    made = sparse(under(values, node), pattern) if keeps_history else sharing(values, pattern)
    if requires_grad:
        made._set_requires_grad(True, "Only Tensors of floating point and complex dtype can require gradients")
    return made


class Invariants:
    """Whether compressed layouts are checked where `check_invariants` does not say."""

    are_checked = False


def _empty(size: Sizes, dtype: Any, device: Any, requires_grad: bool = False, sparse_dim: int | None = None) -> Any:
    count = len(size) if sparse_dim is None else sparse_dim
    places = zeros((count, 0), dtype=dtypes.int64, device=device)
    return _leaf(zeros((0, *size[count:]), dtype=dtype, device=device), Pattern(size, places, True), requires_grad, "")


def _refuse_outside(places: Tensor, shape: Sizes) -> None:
    """RuntimeError where a place lies outside of the size, if the host knows the places."""
    if not can_be_read(places) or type(places._current().value.array) is not np.ndarray:
        return
    for dim, (row, length) in enumerate(zip(to_host(places), shape, strict=False)):
        if row.size and (row.max() >= length or row.min() < 0):
            found = row.max() if row.max() >= length else row.min()
            raise RuntimeError(
                f"size is inconsistent with indices: for dim {dim}, size is {length} but found index {found}"
            )


@function()
def sparse_compressed_tensor(
    compressed_indices: Any, plain_indices: Any, values: Any, size: Any = None, *, dtype: Any = None,
    layout: Any = None, device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
    check_invariants: Any = None,
) -> SparseTensor:  # fmt: skip
    """Return the matrix that a compressed layout (csr, csc, bsr or bsc) tells, 0 where it tells nothing.

    Shape: compressed_indices (rows or columns + 1,), plain_indices (n,), values (n,), of blocks (n, height, width).
    """
    if layout not in _COMPRESSED:
        raise RuntimeError(f"sparse_compressed_tensor(): layout is sparse_csr, _csc, _bsr or _bsc, not {layout}")
    starts, plain = as_tensor(compressed_indices, device=device), as_tensor(plain_indices, device=device)
    numbers = as_tensor(values, dtype=dtype, device=device)
    count = 2 if layout in (layouts.sparse_bsr, layouts.sparse_bsc) else 0
    block, inner = tuple(numbers.shape[1 : 1 + count]), tuple(numbers.shape[1 + count :])
    if starts.ndim != 1 or plain.ndim != 1 or len(block) != count or len(numbers) != len(plain):
        raise RuntimeError(
            f"sparse_compressed_tensor(): indices must be vectors with an entry of values each, got shapes "
            f"{list(starts.shape)}, {list(plain.shape)} and {list(numbers.shape)}"
        )
    by_row = layout in (layouts.sparse_csr, layouts.sparse_bsr)
    shape = as_dims(size)
    if shape is None:
        blocks = (len(starts) - 1, int(to_host(plain).max(initial=-1)) + 1)[:: 1 if by_row else -1]
        shape = (*(n * m for n, m in zip(blocks, block or (1, 1), strict=True)), *inner)
    if len(shape) != 2 + len(inner):
        raise RuntimeError(f"sparse_compressed_tensor(): size must be that of a matrix, got {list(shape)}")
    if Invariants.are_checked if check_invariants is None else check_invariants:
        _check_compressed(starts, plain, shape, block or (1, 1), by_row)
    return _leaf(numbers, Compressed(layout, shape, starts, plain, block), requires_grad,
                 "SparseCompressedTensorBackward0")  # fmt: skip


def _check_compressed(starts: Tensor, plain: Tensor, shape: Sizes, block: Sizes, by_row: bool) -> None:
    """RuntimeError where what is compressed does not begin with 0, rise, and end with the number of values."""
    outer, inner = ("crow_indices", "col_indices") if by_row else ("ccol_indices", "row_indices")
    begins, places = to_host(starts), to_host(plain)
    lanes = [n // m for n, m in zip(shape, block, strict=False)]
    rows, columns = lanes if by_row else lanes[::-1]
    for holds, rule in (
        (len(begins) == rows + 1, f"{outer}.shape[-1] must be equal to the number of {outer[1:4]}s + 1"),
        (begins[0] == 0, f"`{outer}[..., 0] == 0` is not satisfied."),
        (begins[-1] == len(places), f"`{outer}[..., -1] == nnz` is not satisfied."),
        ((np.diff(begins) >= 0).all(), f"`0 <= {outer}[..., 1:] - {outer}[..., :-1]` is not satisfied."),
        (not places.size or (places.min() >= 0 and places.max() < columns),
         f"`0 <= {inner} < {columns}` is not satisfied."),
    ):  # fmt: skip
        if not holds:
            raise RuntimeError(rule)


_COMPRESSED = (layouts.sparse_csr, layouts.sparse_csc, layouts.sparse_bsr, layouts.sparse_bsc)


def _of_layout(layout: Any, says: str) -> Callable[..., SparseTensor]:
    first, second = ("crow", "col") if layout in (layouts.sparse_csr, layouts.sparse_bsr) else ("ccol", "row")

    def made(
        compressed_indices: Any = None, plain_indices: Any = None, values: Any = None, size: Any = None, **options: Any
    ) -> SparseTensor:
        starts = options.pop(f"{first}_indices", compressed_indices)
        plain = options.pop(f"{second}_indices", plain_indices)
        options["layout"] = layout
        return sparse_compressed_tensor(starts, plain, values, size, **options)

    made.__name__ = made.__qualname__ = f"{layout.name}_tensor"
    made.__doc__ = f"Return the matrix {says}, and 0 elsewhere; see sparse_compressed_tensor."
    return made


for _layout, _says in (
    (layouts.sparse_csr, "whose row i has values[crow[i]:crow[i + 1]] in the columns of the same places"),
    (layouts.sparse_csc, "whose column j has values[ccol[j]:ccol[j + 1]] in the rows of the same places"),
    (layouts.sparse_bsr, "made of blocks that lie row by row, as sparse_csr_tensor has numbers"),
    (layouts.sparse_bsc, "made of blocks that lie column by column, as sparse_csc_tensor has numbers"),
):
    FUNCTIONS[f"{_layout.name}_tensor"] = _of_layout(_layout, _says)


# From dense tensors, and from layout to layout


@method("to_sparse")
def to_sparse(
    self: Tensor, sparse_dim: Any = None, *, layout: Any = None, blocksize: Any = None, dense_dim: Any = None
) -> SparseTensor:
    """Return the tensor in a sparse layout: what is not 0 is stored.

    sparse_dim: how many dimensions are sparse (default: all); a layout can stand in its place. blocksize: of bsr, bsc.
    """
    if isinstance(sparse_dim, layouts.layout):
        sparse_dim, layout = None, sparse_dim
    if layout in (None, layouts.sparse_coo):
        return _to_coo(self, sparse_dim)
    if layout not in _COMPRESSED:
        raise RuntimeError(f"to_sparse: unexpected layout {layout}")
    return _to_compressed(self, layout, blocksize, dense_dim)


def _to_coo(given: Tensor, sparse_dim: int | None) -> SparseTensor:
    if isinstance(given, SparseTensor):
        if given.is_sparse:
            return given
        return sparse(*given._coalesced())
    count = given.ndim if sparse_dim is None else sparse_dim
    if not 0 <= count <= given.ndim or (count == 0 and given.ndim):
        raise RuntimeError(f"sparse_dim must be in [1, {given.ndim}], but got {count}")
    stored = to_host(given.detach()) != 0
    places = np.stack(np.nonzero(stored.any(tuple(range(count, given.ndim))))) if count else np.zeros((0, 1), np.int64)
    pattern = Pattern(given.shape, from_host(places, dtype=dtypes.int64, device=given.device), True)
    node = "ToSparseBackward1" if sparse_dim is None else "ToSparseBackward0"
    return sparse(call(TABLE["values_at"], (given, pattern.indices), (node,)), pattern)


def _to_compressed(given: Tensor, layout: Any, blocksize: Any, dense_dim: int | None = None) -> SparseTensor:
    """Return a matrix in a compressed layout: of what is stored, or of blocks in which something is."""
    if given.layout is layout and (not blocksize or tuple(blocksize) == tuple(given.shape)):
        return given  # type: ignore[return-value]  # of a sparse layout
    inner_dims = given.dense_dim() if isinstance(given, SparseTensor) else dense_dim or 0
    if given.ndim - inner_dims != 2:
        raise RuntimeError(f"to_{layout.name} expects a matrix, got {given.ndim - inner_dims} dimensions")
    height, width = _block(given, layout, blocksize)
    rows, columns = given.shape[0] // height, given.shape[1] // width
    by_row = layout in (layouts.sparse_csr, layouts.sparse_bsr)
    whole = given if isinstance(given, SparseTensor) else _to_coo(given, 2)
    values, pattern = whole._coalesced()
    (row, y), (column, x) = np.divmod(pattern.places[0], height), np.divmod(pattern.places[1], width)
    lanes, sizes = ((row, column), (rows, columns)) if by_row else ((column, row), (columns, rows))
    blocks, block = np.unique(flattened(np.stack(lanes), sizes), return_inverse=True)
    outer, inner = np.divmod(blocks, max(sizes[1], 1))
    starts = np.concatenate([[0], np.cumsum(np.bincount(outer, minlength=sizes[0]))])
    places = like(pattern.indices, (block * height + y) * width + x)
    node = f"{_TO_SPARSE[layout.name]}Backward0"
    stored = call(TABLE["add_values"], (values, places), (len(blocks) * height * width, node))
    is_block = layout in (layouts.sparse_bsr, layouts.sparse_bsc)
    made = Compressed(
        layout, given.shape, like(pattern.indices, starts.astype(np.int64)), like(pattern.indices, inner),
        (height, width) if is_block else (),
    )  # fmt: skip
    return sparse(stored.view(-1, height, width, *stored.shape[1:]) if is_block else stored, made)


def _block(given: Tensor, layout: Any, blocksize: Any) -> tuple[int, int]:
    shape = given.shape
    if layout in (layouts.sparse_csr, layouts.sparse_csc):
        if blocksize is not None:
            raise RuntimeError(
                f"dense_to_sparse: conversion from {word_of(given.layout)} to {word_of(layout)} with blocksize "
                "argument given is not supported"
            )
        return 1, 1
    sizes = as_dims(blocksize)
    if sizes is None or len(sizes) != 2:
        raise RuntimeError(f"to_{layout.name}: blocksize needs to be a tuple of size 2, but got {blocksize}")
    height, width = sizes
    if shape[0] % height or shape[1] % width:
        raise RuntimeError(
            f"tensor sparse size ({shape[0]},{shape[1]}) must be divisible by given blocksize ({height},{width})"
        )
    return height, width


def _to(layout: Any, takes_block: bool) -> Callable[..., SparseTensor]:
    def converted(self: Tensor, *given: Any, blocksize: Any = None, dense_dim: Any = None) -> SparseTensor:
        if takes_block and given:
            blocksize, given = given[0], given[1:]
        return _to_compressed(self, layout, blocksize, given[0] if given else dense_dim)

    converted.__name__ = converted.__qualname__ = f"to_{layout.name}"
    converted.__doc__ = f"Return the matrix in the layout torch.{layout.name}: what is not 0 is stored."
    return converted


METHODS["to_sparse_coo"] = to_sparse
handles("to_sparse", "to_sparse_coo")(lambda func, *args, **kwargs: to_sparse(*args, **kwargs))
for _layout in _COMPRESSED:
    METHODS[f"to_{_layout.name}"] = _converted = _to(_layout, "b" in _layout.name)
    handles(f"to_{_layout.name}")(lambda func, *args, _converted=_converted, **kwargs: _converted(*args, **kwargs))


@handles("to_dense")
def _to_dense(func: Any, self: SparseTensor, dtype: Any = None, *, masked_grad: Any = None) -> Tensor:
    values, pattern = self._by_coordinates()
    kind = as_dtype(dtype)
    values = values if kind is None else values.to(kind)
    dense: Tensor = call(TABLE["sparse_to_dense"], (values, pattern.indices), (tuple(pattern.size),))
    return dense


@method()
def sparse_mask(self: Tensor, mask: Tensor) -> SparseTensor:
    """Return what the tensor has where the sparse tensor `mask` stores something."""
    if not isinstance(mask, SparseTensor):
        raise RuntimeError("sparse_mask(): expected mask to be sparse, got mask with layout Strided")
    if self.shape != mask.shape:
        raise RuntimeError(
            f"sparse_mask(): operands have incompatible sizes; self has size {list(self.shape)} but mask has size "
            f"{list(mask.shape)}"
        )
    pattern = mask._pattern
    if isinstance(self, SparseTensor):
        return sparse(values_in(self, pattern), pattern)
    where = pattern if isinstance(pattern, Pattern) else pattern.coordinates
    values = call(TABLE["values_at"], (self, where.indices), ("SparseMaskBackward0",))
    return sparse(values.view(mask._plain().shape), pattern)


handles("sparse_mask")(lambda func, *args: sparse_mask(*args))


def by_old_name(given: tuple[Any, ...], dtype: Any, **options: Any) -> SparseTensor:
    """Return what an old name of a type gives: of indices and values that tensor, of sizes an empty one."""
    if not given or all(isinstance(size, int) for size in given):
        given = (given or (0,),)
    return sparse_coo_tensor(*given, dtype=dtype, **options)


@handles("new")
def _new_of_kind(func: Any, self: SparseTensor, *given: Any, device: Any = None) -> SparseTensor:
    return by_old_name(given, self.dtype, device=device or self.device)


@handles("new_tensor", "new_full", "new_ones")
def _new(func: Any, self: SparseTensor, *args: Any, **kwargs: Any) -> Tensor:
    return func(self._plain(), *args, **kwargs)  # type: ignore[no-any-return]  # a tensor


@handles("new_zeros", "new_empty")
def _new_zeros(func: Any, self: SparseTensor, *size: Any, dtype: Any = None, device: Any = None, **_: Any) -> Any:
    return _empty(as_spread_dims(size, "new_zeros(): argument 'size'"), dtype or self.dtype, device or self.device)


@handles("zeros_like", "empty_like")
def _zeros_like(func: Any, self: SparseTensor, *, dtype: Any = None, device: Any = None, **options: Any) -> Any:
    layout, requires_grad = options.get("layout") or self.layout, options.get("requires_grad") or False
    kind, where = dtype or self.dtype, device or self.device
    if layout is layouts.strided:
        return zeros(tuple(self.shape), dtype=kind, device=where, requires_grad=requires_grad)
    if layout is layouts.sparse_coo:
        return _empty(self.shape, kind, where, requires_grad, self.sparse_dim())
    (rows, columns, *inner), block = self.shape, getattr(self._pattern, "block", ())
    height, width = block or (1, 1)
    lanes = rows // height if layout in (layouts.sparse_csr, layouts.sparse_bsr) else columns // width
    starts, plain = (zeros(n, dtype=dtypes.int64, device=where) for n in (lanes + 1, 0))
    values = zeros((0, *block, *inner), dtype=kind, device=where)
    return _leaf(values, Compressed(layout, self.shape, starts, plain, block), requires_grad, "")


# Questions that only sparse tensors answer


def _expects(name: str, wanted: str) -> Callable[[Tensor], Tensor]:
    def refuse(self: Tensor) -> Tensor:
        raise RuntimeError(f"{name} expected {wanted} tensor layout but got Strided")

    refuse.__name__ = name
    refuse.__doc__ = "Refuse: the tensor is not sparse. RuntimeError, always."
    return refuse


@method()
def is_coalesced(self: Tensor) -> bool:
    """Refuse: the tensor is not sparse. RuntimeError, always."""
    raise RuntimeError("is_coalesced expected sparse coordinate tensor layout but got Strided")


@method("_nnz")
def stored(self: Tensor) -> int:
    """Refuse: the tensor is not sparse. NotImplementedError, always."""
    raise NotImplementedError("Could not run 'aten::_nnz' with arguments from the 'CPU' backend.")


for _name in ("coalesce", "indices", "_indices", "_values"):
    METHODS[_name] = _expects(_name, "sparse coordinate")
METHODS["values"] = _expects("values", "sparse")
for _name in ("crow_indices", "col_indices"):
    METHODS[_name] = _expects(_name, "sparse row compressed")
for _name in ("ccol_indices", "row_indices"):
    METHODS[_name] = _expects(_name, "sparse column compressed")
METHODS["sparse_dim"], METHODS["dense_dim"] = lambda self: 0, lambda self: self.ndim


def _copy(name: str) -> Callable[[Any], Tensor]:
    def copied(input: Any) -> Tensor:
        result: Tensor = getattr(input, name)().clone()
        return result

    copied.__doc__ = f"Return a copy of `{name}()`."
    return copied


for _name in ("indices", "values", "crow_indices", "col_indices", "ccol_indices", "row_indices"):
    FUNCTIONS[f"{_name}_copy"] = _copy(_name)


@function("_convert_indices_from_coo_to_csr")
def coo_to_csr(input: Tensor, size: int, *, out_int32: bool = False) -> Tensor:
    """Return where each row begins in a sorted list of rows, and where the last ends. Shape: (size + 1,)."""
    starts = np.searchsorted(to_host(input), np.arange(size + 1))
    return from_host(starts, dtype=dtypes.int32 if out_int32 else dtypes.int64, device=input.device)


@function("_convert_indices_from_csr_to_coo")
def csr_to_coo(
    crow_indices: Tensor, col_indices: Tensor, *, out_int32: bool = False, transpose: bool = False
) -> Tensor:
    """Return the row and the column of each value; with `transpose` the column first. Shape: (2, n)."""
    counts = np.diff(to_host(crow_indices))
    rows, columns = np.repeat(np.arange(len(counts)), counts), to_host(col_indices)
    places = np.stack((columns, rows) if transpose else (rows, columns))
    return from_host(places, dtype=dtypes.int32 if out_int32 else dtypes.int64, device=crow_indices.device)
