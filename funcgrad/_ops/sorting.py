"""Rows that order: sort, topk, medians and quantiles, the commonest value, and searches in sorted numbers."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._ops.arithmetic import is_bool, is_integer
from funcgrad._ops.checks import no_kernel, require_number
from funcgrad._ops.conditions import are_quantiles
from funcgrad._ops.dims import dim_of
from funcgrad._ops.reductions import require_elements, with_place
from funcgrad._ops.table import Array, Indices, Operand, op

_NARROW = frozenset(("float32", "float16", "bfloat16", "int32", "int16", "int8", "uint16", "uint8"))  # 32 bits or less


def _packed_order(input: Array, place: Array, dim: int, descending: bool) -> Array:
    """Return the int32 places of the sorted elements: a number in the order of each, its place in the lower 32 bits.

    XLA sorts plain integers much faster than floats with their places (`python -m tests.benchmarks.rows`: `sort`).
    """
    if is_integer(input):
        key = input.astype(np.int32)
    else:
        wide = input.astype(np.float32)
        bits = lax.bitcast_convert_type(jnp.where(wide == 0, 0, wide), np.int32)  # -0 is 0
        key = jnp.where(bits < 0, bits ^ np.int32(0x7FFFFFFF), bits)
        key = jnp.where(jnp.isnan(wide), np.int32(0x7FFFFFFF), key)
    packed = lax.shift_left((~key if descending else key).astype(np.int64), np.int64(32)) | place.astype(np.int64)
    return lax.sort(packed, dimension=dim, is_stable=False).astype(np.int32)


def _order(input: Array, dim: int, descending: bool) -> tuple[Array, Array]:
    """Return the sorted input and the int32 places it came from: stable, NaN as the largest."""
    if input.dtype.kind == "c":
        raise RuntimeError(" Sort does not support complex dtypes on CPU")
    if input.ndim == 0:
        return input, jnp.zeros((), np.int32)
    place = lax.broadcasted_iota(np.int32, input.shape, dim)
    if input.dtype.name in _NARROW and jax.dtypes.canonicalize_dtype(np.int64) == np.int64:
        found = _packed_order(input, place, dim, descending)
        return jnp.take_along_axis(input, found, dim, mode="promise_in_bounds"), found
    if not descending:
        return tuple(lax.sort((input, place), dimension=dim, num_keys=1))  # type: ignore[return-value]  # two operands
    turned = lax.sort((lax.rev(input, (dim,)), lax.rev(place, (dim,))), dimension=dim, num_keys=1)
    values, places = (lax.rev(x, (dim,)) for x in turned)
    return values, places


@partial(jax.custom_jvp, nondiff_argnums=(1, 2))
def _sorted(input: Array, dim: int, descending: bool) -> Array:
    return _order(input, dim, descending)[0]


@_sorted.defjvp
def _sorted_jvp(dim: int, descending: bool, primals: Any, tangents: Any) -> tuple[Any, Any]:
    """Gather the tangent: jax's own rule for two operands sorts a second time."""
    values, places = _order(primals[0], dim, descending)
    return values, tangents[0] if values.ndim == 0 else jnp.take_along_axis(tangents[0], places, dim)


def sorted_with_places(input: Array, dim: int, descending: bool = False) -> tuple[Array, Array]:
    """Return the sorted input and, int64, where each element came from."""
    if is_bool(input):
        values, places = _order(input.astype(np.uint8), dim, descending)
        return values.astype(np.bool_), places.astype(np.int64)
    values, places = _order(lax.stop_gradient(input), dim, descending)
    if not is_integer(input):
        values = _sorted(input, dim, descending)  # the same sort, which XLA does once
    return values, places.astype(np.int64)


@op(
    grad=lambda shapes, statics: "SortBackward1" if statics[2:] == (True,) else "SortBackward0",
    results="values indices",
)
def sort(input: Array, dim: int = -1, descending: bool = False, *, stable: bool | None = None) -> tuple[Array, Array]:
    """Sort along `dim`; always stable, NaN as the largest."""
    return sorted_with_places(input, dim_of(input.ndim, dim), descending)


@op()
def argsort(input: Array, dim: int = -1, descending: bool = False, *, stable: bool = False) -> Array:
    """The places that sort `input` along `dim`."""
    return sorted_with_places(input, dim_of(input.ndim, dim), descending)[1]


@op(grad="SortBackward0")
def msort(input: Array) -> Array:
    """Sort along the first dimension."""
    return sorted_with_places(input, 0)[0]


@op(grad="TopkBackward0", results="values indices")
def topk(input: Array, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> tuple[Array, Array]:
    """The k largest (or smallest) along `dim` and their places, in order."""
    dim = dim_of(input.ndim, dim)
    if not 0 <= k <= (input.shape[dim] if input.ndim else 1):
        raise RuntimeError("selected index k out of range")
    if is_bool(input):
        raise RuntimeError("topk does not support bool dtypes on CPU")
    if input.dtype.kind == "c":
        raise RuntimeError(" topk does not support complex dtypes on CPU")
    if input.ndim == 0:
        return input, jnp.zeros((), np.int64)
    moved = jnp.moveaxis(input, dim, -1)
    if largest:
        places = lax.top_k(lax.stop_gradient(moved), k)[1]
    else:
        places = sorted_with_places(lax.stop_gradient(moved), moved.ndim - 1, largest)[1][..., :k]
    values = jnp.take_along_axis(moved, places, -1)
    return jnp.moveaxis(values, -1, dim), jnp.moveaxis(places, -1, dim).astype(np.int64)


@op(grad="KthvalueBackward0", results="values indices")
def kthvalue(input: Array, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Array, Array]:
    """The k-th smallest along `dim`, counted from 1, and its place."""
    dim = dim_of(input.ndim, dim)
    require_elements(input, (dim,), "kthvalue")
    require_number(input, "kthvalue_cpu")
    if not 1 <= k <= (input.shape[dim] if input.ndim else 1):
        raise RuntimeError("kthvalue(): selected number k out of range for dimension " + str(dim))
    return _at_rank(input, jnp.asarray(k - 1, np.int32), dim, keepdim)


def _at_rank(input: Array, rank: Array, dim: int, keepdim: bool) -> tuple[Array, Array]:
    """Return the element of this rank (a kept int32 array, or one number) along `dim`, and its place."""
    if input.ndim == 0:
        return input, jnp.zeros((), np.int64)
    _, places = sorted_with_places(lax.stop_gradient(input), dim)
    kept = tuple(1 if d == dim else size for d, size in enumerate(input.shape))
    place = jnp.take_along_axis(places, jnp.broadcast_to(rank, kept), dim)
    return with_place(input, place.astype(np.int32), dim, keepdim)


def _median(input: Array, dim: int, keepdim: bool, ignore_nan: bool) -> tuple[Array, Array]:
    """The lower median: of all (the first NaN, if any, wins), or of what is not NaN."""
    require_number(input, "median_out")
    if input.ndim == 0:
        return input, jnp.zeros((), np.int64)
    middle = (input.shape[dim] - 1) // 2
    if is_integer(input):
        return _at_rank(input, jnp.asarray(middle, np.int32), dim, keepdim)
    missing = jnp.sum(jnp.isnan(input), dim, keepdims=True, dtype=np.int32)
    if ignore_nan:
        rank = jnp.maximum(input.shape[dim] - missing - 1, 0) // 2
    else:
        rank = jnp.where(missing > 0, input.shape[dim] - missing, middle)
    return _at_rank(input, rank, dim, keepdim)


def _shared(input: Array, ignore_nan: bool) -> Array:
    """The median of all elements; those equal to it share the gradient."""
    require_number(input, "median_cpu")
    fixed = lax.stop_gradient(input)
    flat = fixed.reshape(-1)
    result = _median(flat, 0, False, ignore_nan)[0] if flat.size else jnp.asarray(np.nan, input.dtype)
    if is_integer(input):
        return result
    if not input.size:
        return result
    same = (fixed == result) | (jnp.isnan(fixed) & jnp.isnan(result))
    share = jnp.where(same, 1 / jnp.maximum(jnp.sum(same), 1).astype(input.dtype), 0)
    return result + jnp.sum(jnp.where(same, _gradient_alone(input) * share, 0))


@jax.custom_jvp
def _gradient_alone(input: Array) -> Array:
    """Zeros, of infinities too, which have the gradient of the input."""
    return jnp.zeros_like(input)


_gradient_alone.defjvp(lambda inputs, tangents: (jnp.zeros_like(inputs[0]), tangents[0]))


@op(grad="MedianBackward0", names="")
def median_all(input: Array) -> Array:
    """The lower median of all elements, NaN if any is. Shape: result ()."""
    return _shared(input, False)


@op(grad="NanmedianBackward0", names="")
def nanmedian_all(input: Array) -> Array:
    """The lower median of all elements that are not NaN. Shape: result ()."""
    return _shared(input, True)


@op(grad="MedianBackward1", names="", results="values indices")
def median_dim(input: Array, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
    """The lower median along `dim` and its place, which gets the gradient."""
    dim = dim_of(input.ndim, dim)
    require_elements(input, (dim,), "median")
    return _median(input, dim, keepdim, False)


@op(grad="NanmedianBackward1", names="", results="values indices")
def nanmedian_dim(input: Array, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
    """The lower median along `dim` of what is not NaN, and its place, which gets the gradient."""
    dim = dim_of(input.ndim, dim)
    require_elements(input, (dim,), "median")
    return _median(input, dim, keepdim, True)


@op(grad="ModeBackward0", results="values indices")
def mode(input: Array, dim: int = -1, keepdim: bool = False) -> tuple[Array, Array]:
    """The commonest value along `dim` (the smallest of several) and its last place, which gets the gradient."""
    dim = dim_of(input.ndim, dim)
    if input.ndim == 0:
        return input, jnp.zeros((), np.int64)
    require_elements(input, (dim,), "mode")
    values, places = sorted_with_places(lax.stop_gradient(input), dim)
    turn = lax.broadcasted_iota(np.int32, input.shape, dim)
    before = jnp.roll(values, 1, dim)
    starts = lax.cummax(jnp.where((values != before) | (turn == 0), turn, 0), dim)
    # The run is longest where the distance to its start is; argmax takes the first, hence the smallest value.
    end = jnp.expand_dims(lax.argmax(turn - starts, dim, np.int32), dim)
    return with_place(input, jnp.take_along_axis(places, end, dim).astype(np.int32), dim, keepdim)


_QUANTILE_NODE = (
    "SqueezeBackward4",
    ("LerpBackward1", ("GatherBackward0", ("ViewBackward0", ("SortBackward0", "input")))),
)


@op(grad=_QUANTILE_NODE, demands=(are_quantiles.of("q"),))
def quantile(
    input: Array, q: Operand, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Array:
    """The q-quantiles along `dim` (default: of all), NaN if any is. Shape: that of `q` first."""
    return _quantile(input, q, dim, keepdim, interpolation, False)


@op(grad=_QUANTILE_NODE, demands=(are_quantiles.of("q"),))
def nanquantile(
    input: Array, q: Operand, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Array:
    """The q-quantiles along `dim` (default: of all) of what is not NaN. Shape: that of `q` first."""
    return _quantile(input, q, dim, keepdim, interpolation, True)


def _quantile(input: Array, q: Array, dim: int | None, keepdim: bool, interpolation: str, ignore_nan: bool) -> Array:
    if input.dtype not in (np.float32, np.float64):
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    if input.size == 0:
        raise RuntimeError("quantile() input tensor must be non-empty")
    if np.ndim(q) > 1:
        raise RuntimeError("quantile() q must be a scalar or 1D tensor")
    if interpolation not in ("linear", "lower", "higher", "midpoint", "nearest"):
        raise RuntimeError(
            "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, "
            f"but got {interpolation}"
        )
    wanted = jnp.asarray(q, input.dtype)
    axis = None if dim is None else dim_of(input.ndim, dim)
    moved = input.reshape(1, -1) if axis is None else jnp.moveaxis(input.reshape(input.shape or (1,)), axis, -1)
    ordered = sorted_with_places(moved, moved.ndim - 1)[0]
    missing = jnp.sum(jnp.isnan(ordered), -1, keepdims=True)
    last = moved.shape[-1] - 1 - (missing if ignore_nan else 0)
    rank = wanted.reshape(-1) * jnp.maximum(last, 0).astype(input.dtype)
    if not ignore_nan:
        rank = jnp.where(missing > 0, moved.shape[-1] - 1, rank)
    found = jnp.moveaxis(
        _at_fraction(ordered, jnp.broadcast_to(rank, (*moved.shape[:-1], wanted.size)), interpolation), -1, 0
    )
    if axis is None:
        shape = (1,) * input.ndim if keepdim else ()
    else:
        shape = tuple(1 if d == axis else s for d, s in enumerate(input.shape) if keepdim or d != axis)
    return found.reshape(wanted.shape + shape)


def _at_fraction(ordered: Array, rank: Array, interpolation: str) -> Array:
    """Return the elements at these fractional ranks along the last dimension."""
    low, high = lax.floor(rank), lax.ceil(rank)
    if interpolation == "nearest":
        low = high = lax.round(rank, lax.RoundingMethod.TO_NEAREST_EVEN)
    below = jnp.take_along_axis(ordered, (high if interpolation == "higher" else low).astype(np.int32), -1)
    if interpolation in ("lower", "higher", "nearest"):
        return below
    above = jnp.take_along_axis(ordered, high.astype(np.int32), -1)
    weight = jnp.full_like(rank, 0.5) if interpolation == "midpoint" else rank - low
    step = above - below  # counted from the nearer end: from the other one an infinity would not be passed
    return jnp.where(weight < 0.5, below + weight * step, above - step * (1 - weight))


def _searched(sequence: Array, values: Array, right: bool) -> Array:
    """Bisect as torch does, so that a sequence which is not sorted, or has NaN in it, gives the same places.

    (JAX's search that sorts takes a hundred times as long on a CPU, the one that scans two to four times.)
    """
    size = sequence.shape[-1]
    if size == 0:
        return jnp.zeros(values.shape, np.int32)
    taken = partial(jnp.take, sequence) if sequence.ndim == 1 else partial(jnp.take_along_axis, sequence, axis=-1)

    def halve(_: int, ends: tuple[Array, Array]) -> tuple[Array, Array]:
        low, high = ends
        middle = low + (high - low) // 2
        seen = taken(middle, mode="clip")
        is_after = ~(seen > values if right else seen >= values)
        is_open = low < high
        return jnp.where(is_open & is_after, middle + 1, low), jnp.where(is_open & ~is_after, middle, high)

    turns = size.bit_length() if isinstance(size, int) else 31  # of a length that is open
    ends = jnp.zeros(values.shape, np.int32), jnp.full(values.shape, size, np.int32)
    return lax.fori_loop(0, turns, halve, ends)[0]


@op(names="searchsorted")
def searchsorted(
    sorted_sequence: Array,
    input: Operand,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Indices | None = None,
) -> Array:
    """Where to insert each number so that the sequence stays sorted. Shape: that of `input`."""
    if side is not None and side not in ("left", "right"):
        raise RuntimeError(f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}")
    if right and side == "left":
        raise RuntimeError(
            "torch.searchsorted(): side and right can't be set to opposites, got side of left while right was True"
        )
    if sorter is not None and sorter.shape != sorted_sequence.shape:
        raise RuntimeError(
            "torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor "
            f"{list(sorted_sequence.shape)}and got sorter tensor {list(sorter.shape)}"
        )
    if sorter is not None:
        sorted_sequence = jnp.take_along_axis(sorted_sequence, sorter, -1)
    numbers = jnp.asarray(input)
    if numbers.dtype.kind == "c" or (numbers.dtype.kind == sorted_sequence.dtype.kind == "b"):
        raise no_kernel("searchsorted_out_cpu", numbers)
    if numbers.ndim == 0 and sorted_sequence.ndim != 1:
        raise RuntimeError(
            "torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1, but we got "
            f"boundaries tensor dim({sorted_sequence.ndim}) and input value's dim(0) numel(1)"
        )
    if not sorted_sequence.ndim:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 dimension"
        )
    if sorted_sequence.ndim > 1 and numbers.shape[:-1] != sorted_sequence.shape[:-1]:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries "
            f"tensor and input value tensor must match, but we got boundaries tensor {list(sorted_sequence.shape)} and "
            f"input value tensor {list(numbers.shape)}"
        )
    common = jnp.promote_types(sorted_sequence.dtype, numbers.dtype)
    found = _searched(sorted_sequence.astype(common), numbers.astype(common), right or side == "right")
    return found.astype(np.int32 if out_int32 else np.int64)


@op(names="bucketize")
def bucketize(input: Operand, boundaries: Array, *, out_int32: bool = False, right: bool = False) -> Array:
    """The bucket of each number between sorted 1-d `boundaries`. Shape: that of `input`."""
    if boundaries.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})")
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)
