"""What cannot be recorded, since values decide the shape of the result: nonzero, unique, masked_select, ..."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad._base import dtypes
from funcgrad._base.cpp_names import scalar_type_name
from funcgrad._ops.broadcasting import broadcast_shape
from funcgrad._ops.dims import dim_of
from funcgrad._program.record import note_found
from funcgrad._program.value import LiftedValue
from funcgrad._tape.levels import DYNAMIC, SELECT
from funcgrad._tape.nodes import rename_node
from funcgrad._tape.underivable import lost
from funcgrad._tensor.arguments import as_bool, as_int, as_some_int, require_tensor
from funcgrad._tensor.call import write_out
from funcgrad._tensor.interop import from_host, lying_as, to_host
from funcgrad._tensor.registry import both, function
from funcgrad._tensor.tensor import Tensor

_UNIQUE_DIM = "unique_dim(): argument 'dim' (position 2)"


@both()
def nonzero(input: Tensor, *, as_tuple: bool = False, out: Any = None) -> Any:
    """Return the places of the nonzero elements, a row each; or a tuple with the indices of each dimension.

    The program that computes the input is run, since the values decide the shape of the result.
    """
    return _nonzero(input, as_tuple, out, "nonzero")


def places_where(condition: Tensor) -> tuple[Tensor, ...]:
    """Return the indices of each dimension, as `where` does of a condition alone."""
    return _nonzero(condition, True, None, "where")


def _nonzero(input: Tensor, as_tuple: bool, out: Any, name: str) -> Any:
    found = np.nonzero(np.atleast_1d(to_host(input, DYNAMIC.format(name))))
    note_found()
    if as_tuple:
        return tuple(from_host(places, dtype=dtypes.int64, device=input.device) for places in found)
    rows = np.stack(found).T if input.ndim else np.zeros((len(found[0]), 0))
    found_rows = lying_as(from_host(rows, dtype=dtypes.int64, device=input.device), rows)
    refused = "nonzero: Expected out tensor to have scalar type {made} but got scalar type{given}"
    return found_rows if out is None else write_out(out, found_rows, refused)


@both()
def masked_select(input: Tensor, mask: Tensor, *, out: Any = None) -> Tensor:
    """Return the elements where the mask, broadcast, is true. Shape: result (n,)."""
    if mask.dtype is not dtypes.bool_:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    shape = broadcast_shape(tuple(mask.shape), tuple(input.shape))
    if isinstance(mask._current().value, LiftedValue):
        to_host(mask, SELECT)
    shown, wanted = (x if x.shape == shape else x.expand(shape) for x in (input, mask))
    result = shown[wanted]
    rename_node(result._variable.node, "MaskedSelectBackward0")
    refused = "masked_select(): self and result must have the same scalar type"
    return result if out is None else write_out(out, result, refused)


def _clamped(input: Tensor, indices: Any) -> tuple[Any, ...]:
    """Return places brought within each dimension's size, with full slices for the dimensions that have none."""
    sizes = tuple(input.shape)
    return tuple(slice(None) if i is None else i.clamp(-n, n - 1) for i, n in zip(indices, sizes, strict=False))


@function("_unsafe_masked_index")
def unsafe_masked_index(input: Tensor, mask: Tensor, indices: Any, fill: Any) -> Tensor:
    """Return input[indices] where the mask is true and `fill` elsewhere, where places may be out of range."""
    return input[_clamped(input, indices)].masked_fill(~mask, fill)


@function("_unsafe_masked_index_put_accumulate")
def unsafe_masked_index_put_accumulate(input: Tensor, mask: Tensor, indices: Any, values: Tensor) -> Tensor:
    """Return `input` with the values whose mask is true added at `indices`; the others may be out of range."""
    if not input.numel():
        return input.clone()
    return input.index_put(_clamped(input, indices), values.masked_fill(~mask, 0), accumulate=True)


@both()
def argwhere(input: Tensor) -> Tensor:
    """Return the places of the nonzero elements, a row each."""
    return nonzero(input)


@both()
def unique(
    input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False,
    dim: int | None = None,
) -> Any:  # fmt: skip
    """Return the different elements in order; optionally where each element went, and how often each occurs.

    A NaN is equal to no other.
    """
    kernel = "_unique2" if dim is None else "unique_dim"
    options = {"sorted": sorted, "return_inverse": return_inverse, "return_counts": return_counts}
    for name, given in options.items():
        as_bool(given, f"{kernel}(): argument '{name}'")
    if dim is not None and not input.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    dim = None if dim is None else dim_of(input.ndim, as_int(dim, _UNIQUE_DIM) or 0)
    _refuse_complex(input, dim)
    if dim is not None and input.shape[dim] and 0 in input.shape:
        raise RuntimeError("There are 0 sized dimensions, and they aren't selected, so unique cannot be applied")
    array = to_host(input, DYNAMIC.format(kernel))
    found = np.unique(array, return_inverse=True, return_counts=True, axis=dim, equal_nan=dim is not None)
    shape = input.shape if dim is None else (input.shape[dim],)
    parts = [found[0], found[1].reshape(shape), found[2]]
    node = "Unique2Backward0" if dim is None else "UniqueDimBackward0"
    return _chosen(parts, input, return_inverse, return_counts, kernel, node)


def _refuse_complex(input: Tensor, dim: int | None) -> None:
    if input.dtype.is_complex:
        kernel = "unique" if dim is None else "unique_dim"
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{scalar_type_name(input.dtype)}'")


def _chosen(parts: list[Any], input: Tensor, inverse: bool, counts: bool, kernel: str, node: str) -> Any:
    found = from_host(np.asarray(parts[0]), device=input.device)
    found._variable = lost(kernel, node, input._current(), found._variable)
    tensors = [found]
    wanted = [part for part, is_wanted in zip(parts[1:], (inverse, counts), strict=True) if is_wanted]
    tensors += [from_host(part, dtype=dtypes.int64, device=input.device) for part in wanted]
    return tensors[0] if len(tensors) == 1 else tuple(tensors)


@both()
def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """Return the elements without repeats of the one before; optionally where each went, and how often it came."""
    for name, given in (("return_inverse", return_inverse), ("return_counts", return_counts)):
        as_bool(given, f"unique_consecutive(): argument '{name}'")
    dim = None if dim is None else dim_of(input.ndim, as_some_int(dim, "unique_consecutive(): argument 'dim'"))
    _refuse_complex(input, dim)
    array = to_host(input, DYNAMIC.format("unique_consecutive" if dim is None else "unique_dim_consecutive"))
    rows = array.reshape(-1) if dim is None else np.moveaxis(array, dim, 0)
    new = np.ones(len(rows), bool)
    if len(rows) > 1:
        new[1:] = (rows[1:] != rows[:-1]).reshape(len(rows) - 1, -1).any(1)
    kept = rows[new] if dim is None else np.moveaxis(rows[new], 0, dim)
    inverse = np.cumsum(new) - 1
    counts = np.bincount(inverse) if len(rows) else np.zeros(0)
    shape = input.shape if dim is None else (len(rows),)
    parts = [kept, inverse.reshape(shape), counts]
    return _chosen(parts, input, return_inverse, return_counts, "unique_consecutive", "UniqueConsecutiveBackward0")


@both()
def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """Count how often each integer occurs, or add up its weights. Shape: result (max + 1 or minlength,)."""
    if input.is_floating_point() or input.is_complex() or input.dtype is dtypes.bool_:
        raise NotImplementedError(f"\"bincount_cpu\" not implemented for '{scalar_type_name(input.dtype)}'")
    if input.ndim != 1:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    array = to_host(input)
    if weights is not None:
        require_tensor(weights, "bincount(): argument 'weights' (position 2)")
    if weights is not None and weights.shape != input.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    if array.size and array.min() < 0:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    counted = np.bincount(array, None if weights is None else to_host(weights.detach()), minlength)
    kind = dtypes.int64 if weights is None else (weights.dtype if weights.dtype is dtypes.float32 else dtypes.float64)
    return from_host(counted, dtype=kind, device=input.device)
