"""Rows that write or gather many numbers into one place: scatter, and reductions over places given by tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._base import dtypes
from funcgrad._ops.checks import require_parts
from funcgrad._ops.conditions import are_places, are_rows
from funcgrad._ops.dims import dim_of
from funcgrad._ops.indexing import add_at, along, integers, not_negative, read_at, write_at
from funcgrad._ops.rearranging import cast
from funcgrad._ops.table import Array, Indices, Operand, Scalar, op


def _fits(input: Array, dim: int, index: Array, src: Array | None) -> int:
    integers(index, "scatter")
    for name, tensor in (("self", input), ("src", src)):
        if tensor is not None and max(index.ndim, 1) != max(tensor.ndim, 1):
            raise RuntimeError(f"Index tensor must have the same number of dimensions as {name} tensor")
    dim = dim_of(input.ndim, dim)
    if index.size == 0 or index.ndim == 0:
        return dim
    too_large = any(m > n for d, (n, m) in enumerate(zip(input.shape, index.shape, strict=False)) if d != dim)
    more = src is not None and any(m > n for n, m in zip(src.shape, index.shape, strict=False))
    if too_large or more:
        rest = "" if src is None else f" and to be no larger size than src {list(src.shape)}"
        raise RuntimeError(
            f"Expected index {list(index.shape)} to be no larger than self {list(input.shape)} apart from dimension "
            f"{dim}{rest}"
        )
    return dim


def _same_dtype(input: Array, src: Array) -> None:
    if input.dtype != src.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")


def _scattered(change: Callable[..., Array], input: Array, dim: int, index: Array, src: Array) -> Array:
    """Apply `change(array, places, numbers)` where torch's scatter writes; `src` is a tensor or one number."""
    dim = _fits(input, dim, index, src if src.ndim or input.ndim == 0 else None)
    if index.size == 0:
        return input
    if input.ndim == 0 or index.ndim == 0:
        flat = change(input.reshape(-1), (not_negative(index.reshape(-1), input.size),), src.reshape(-1)[:1])
        return flat.reshape(input.shape)
    part = lax.slice(src, [0] * src.ndim, index.shape) if src.ndim else jnp.broadcast_to(src, index.shape)
    return change(input, along(index, dim, input.shape[dim]), part)


def _multiply_at(input: Array, places: Any, new: Array) -> Array:
    return input.at[places].multiply(new, mode="drop")


_LEGACY = {"add": add_at, "multiply": _multiply_at}
_PLACES = (are_places.of("index", "input", "dim"),)


def _scatter_node(shapes: Sequence[Any], statics: Sequence[Any]) -> str:
    if len(statics) > 1 and statics[1] is not None:
        return "NotImplemented"
    return "ScatterBackward0" if isinstance(shapes[2], tuple) else "ScatterBackward1"


def _bits(input: Array, dim: int, index: Array, src: Array) -> tuple[Array, int, Array, Array]:
    """Return the arguments with truth values as numbers, which can be added, multiplied and ordered."""
    return input.astype(np.int32), dim, index, src.astype(np.int32)


@op(grad=_scatter_node, names="scatter .scatter .scatter_", demands=_PLACES)
def scatter(
    input: Array,
    dim: int,
    index: Indices,
    src: Operand | None = None,
    *,
    value: Scalar | None = None,
    reduce: str | None = None,
) -> Array:
    """Return `input` with src[i][j] (or one number) at [index[i][j]][j] for dim = 0, and so on.

    reduce: "add" or "multiply" to change what is there instead. RuntimeError where `index` is too large for them.
    """
    numbers = jnp.asarray(value if src is None else src)
    if isinstance(src, jax.Array) and src.ndim:
        _same_dtype(input, src)
    if reduce is not None and reduce not in _LEGACY:
        raise RuntimeError("reduce argument must be either add or multiply.")
    numbers = cast(numbers, input.dtype)
    if input.dtype == bool and reduce:
        return _scattered(_LEGACY[reduce], *_bits(input, dim, index, numbers)).astype(bool)
    return _scattered(_LEGACY[reduce] if reduce else write_at, input, dim, index, numbers)


@op(grad="ScatterAddBackward0", names="scatter_add .scatter_add .scatter_add_", demands=_PLACES)
def scatter_add(input: Array, dim: int, index: Indices, src: Array) -> Array:
    """Return `input` with src[i][j] added at [index[i][j]][j] for dim = 0, and so on."""
    _same_dtype(input, src)
    return _elements_changed(add_at, input, dim, index, src)


@op(grad="ScatterReduceBackward0", names="scatter_reduce .scatter_reduce .scatter_reduce_", demands=_PLACES)
def scatter_reduce(
    input: Array, dim: int, index: Indices, src: Array, reduce: str, *, include_self: bool = True
) -> Array:
    """Return `input` with each element reduced over itself (if `include_self`) and what `src` sends to its place.

    reduce: "sum", "prod", "mean", "amax" or "amin". Ties of amax and amin share the gradient. "max" and "min" are older
    names of these two.
    """
    return _reduced_at(_elements_changed, input, dim, index, src, reduce, include_self)


def _elements_changed(change: Callable[..., Array], input: Array, dim: int, index: Array, src: Array) -> Array:
    _fits(input, dim, index, src)  # even where it is one number
    return _scattered(change, input, dim, index, src)


def _reduced_at(
    change_at: Callable[..., Array], input: Array, dim: int, index: Array, src: Array, reduce: str, include_self: bool
) -> Array:
    reduce = {"max": "amax", "min": "amin"}.get(reduce, reduce)
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    _same_dtype(input, src)
    if input.dtype == bool:
        return _reduced_at(change_at, *_bits(input, dim, index, src), reduce, include_self).astype(bool)
    change = partial(_reduced, reduce=reduce, include_self=include_self)
    return change_at(change, input, dim, index, src)


def _rows_changed(change: Callable[..., Array], input: Array, dim: int, index: Array, src: Array) -> Array:
    """Apply `change` as `_elements_changed` does, to whole parts of one dimension, which is brought to the front."""
    integers(index, "scatter")
    dim, places = dim_of(input.ndim, dim), not_negative(index.reshape(-1), input.shape[dim])
    return jnp.moveaxis(change(jnp.moveaxis(input, dim, 0), (places,), jnp.moveaxis(src, dim, 0)), 0, dim)


@op(grad="ScatterAddBackward0", names="")
def scatter_add_rows(input: Array, dim: int, index: Indices, src: Array) -> Array:
    """Do what `scatter_add` does, with the one column of places, `index`, that is the same for all others."""
    _same_dtype(input, src)
    return _rows_changed(add_at, input, dim, index, src)


@op(grad="ScatterReduceBackward0", names="")
def scatter_reduce_rows(
    input: Array, dim: int, index: Indices, src: Array, reduce: str, *, include_self: bool = True
) -> Array:
    """Do what `scatter_reduce` does, with the one column of places, `index`, that is the same for all others."""
    return _reduced_at(_rows_changed, input, dim, index, src, reduce, include_self)


@op(
    grad="IndexReduceBackward0",
    names="index_reduce .index_reduce .index_reduce_",
    demands=(are_rows.of("index", "input", "dim"),),
)
def index_reduce(
    input: Array, dim: int, index: Indices, source: Array, reduce: str, *, include_self: bool = True
) -> Array:
    """Return `input` with each part of one dimension reduced over itself and the parts of `source` sent to it.

    reduce: "prod", "mean", "amax" or "amin".
    """
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.")
    dim, whole = dim_of(input.ndim, dim), jnp.atleast_1d(input)
    require_parts(input, dim, index, source, "index_reduce")
    places = (not_negative(index.reshape(-1), whole.shape[dim]),)
    sent = jnp.moveaxis(source.reshape(-1) if input.ndim == 0 else source, dim, 0)
    front = _reduced(jnp.moveaxis(whole, dim, 0), places, sent, reduce=reduce, include_self=include_self)
    return jnp.moveaxis(front, 0, dim).reshape(input.shape)


def _reduced(input: Array, places: Any, new: Array, *, reduce: str, include_self: bool) -> Array:
    if reduce == "sum":
        start = input if include_self else write_at(input, places, jnp.zeros_like(new))
        return add_at(start, places, new)
    if reduce == "mean":
        return _mean(input, places, new, include_self)
    start = input if include_self else _neutral_at(input, places, new, reduce)
    return _product(start, places, new) if reduce == "prod" else _extreme(reduce == "amax", start, places, new)


def _mean(input: Array, places: Any, new: Array, include_self: bool) -> Array:
    start = input if include_self else write_at(input, places, jnp.zeros_like(new))
    sent = new.shape[: places[0].ndim]  # whole rows are counted, where rows are sent
    ones = jnp.ones(input.shape[: len(places)], np.int32)
    counts = ones if include_self else write_at(ones, places, jnp.zeros(sent, np.int32))
    counts = jnp.maximum(add_at(counts, places, jnp.ones(sent, np.int32)), 1)
    total = add_at(start, places, new)
    counts = counts.astype(input.dtype).reshape(*ones.shape, *(1,) * (input.ndim - ones.ndim))
    return total / counts if dtypes.of_numpy(input.dtype).is_differentiable else total // counts


def _neutral_at(input: Array, places: Any, new: Array, reduce: str) -> Array:
    """Put the number that changes nothing where something comes in, so that `input` itself does not count there."""
    if reduce == "prod":
        neutral = 1
    elif dtypes.of_numpy(input.dtype).is_differentiable:
        neutral = -np.inf if reduce == "amax" else np.inf
    else:
        bounds = jnp.iinfo(input.dtype)
        neutral = bounds.min if reduce == "amax" else bounds.max
    return write_at(input, places, jnp.full(new.shape, neutral, input.dtype))


def _shifted(places: Any, tangents: Sequence[Any], own: Array, sent: Array) -> Array:
    """Return the change of a reduction: own * d start + (the sum over what came in of sent * d new)."""
    start_dot, _, new_dot = tangents
    return add_at(own * start_dot, places, sent * new_dot)


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _extreme(largest: bool, start: Array, places: Any, new: Array) -> Array:
    change = start.at[places]
    return change.max(new, mode="drop") if largest else change.min(new, mode="drop")


@_extreme.defjvp
def _extreme_jvp(largest: bool, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Array, Array]:
    start, places, new = primals
    value = _extreme(largest, start, places, new)
    own = (start == value).astype(start.dtype)
    sent = (new == read_at(value, places)).astype(start.dtype)
    shares = jnp.maximum(add_at(own, places, sent), 1)
    return value, _shifted(places, tangents, own / shares, sent / read_at(shares, places))


@jax.custom_jvp
def _product(start: Array, places: Any, new: Array) -> Array:
    return start.at[places].multiply(new, mode="drop")


@_product.defjvp
def _product_jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Array, Array]:
    start, places, new = primals
    own_zero, sent_zero = start == 0, new == 0
    zeros = add_at(own_zero.astype(np.int32), places, sent_zero.astype(np.int32))
    nonzero = _product(jnp.where(own_zero, 1, start), places, jnp.where(sent_zero, 1, new))
    lone = add_at(jnp.where(own_zero, start, 0), places, jnp.where(sent_zero, new, 0))  # 0, with a gradient

    def of_others(number: Array, is_zero: Array, count: Array, product: Array, lone: Array) -> Array:
        """Return the product of all other factors: zero where another one is zero, which still has a gradient."""
        others = product / jnp.where(is_zero, 1, number)
        with_zero = (lone - jnp.where(is_zero, number, 0)) * others
        return jnp.where(count == is_zero, others, jnp.where(count - is_zero == 1, with_zero, 0))

    own = of_others(start, own_zero, zeros, nonzero, lone)
    sent = of_others(new, sent_zero, *(read_at(x, places) for x in (zeros, nonzero, lone)))
    return _product(start, places, new), _shifted(places, tangents, own, sent)
