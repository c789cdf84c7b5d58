"""Rows that fold dimensions: sums, means, products, the largest and smallest with their places, all, any."""

from __future__ import annotations

import builtins
import functools
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._ops.arithmetic import is_bool, is_integer
from funcgrad._ops.checks import require_real, require_real_floating, scalar_name, wide
from funcgrad._ops.dims import dim_of, dims_of
from funcgrad._ops.extremes import place_of_largest, place_of_smallest
from funcgrad._ops.rearranging import cast
from funcgrad._ops.table import Array, Dims, DType, op

Node = Callable[[tuple[Any, ...], tuple[Any, ...]], str]


def as_summed(input: Array, dtype: DType | None) -> Array:
    """Cast to the dtype in which torch sums: the one asked for, int64 for integers and truth values, else its own."""
    if dtype is not None:
        return cast(input, dtype.numpy)
    return input.astype(np.int64) if is_integer(input) else input


def by_dim(whole: str, part: str) -> Node:
    """Make a `grad` function of rows whose first static is `dim`: torch's node of all, and that of some dims."""

    def node(shapes: tuple[Any, ...], statics: tuple[Any, ...]) -> str:
        return whole if not statics or statics[0] is None else part

    return node


def require_elements(input: Array, dims: tuple[int, ...], name: str) -> None:
    """Raise torch's IndexError for a largest, smallest, ... of nothing."""
    if input.size == 0:
        for dim in dims or (None,):
            if dim is None or (input.ndim and input.shape[dim] == 0):
                where = "" if dim is None else f" {dim}"
                called = name if name == "aminmax" and dim is not None else f"{name}()"
                raise IndexError(f"{called}: Expected reduction dim{where} to have non-zero size.")


@op(grad=by_dim("SumBackward0", "SumBackward1"))
def sum(input: Array, dim: Dims | None = None, keepdim: bool = False, *, dtype: DType | None = None) -> Array:
    """The sum over `dim` (default: all). Integers and truth values give int64."""
    summed, dims = as_summed(input, dtype), dims_of(input, dim)
    return _sum_in_its_dtype(summed, dims, keepdim)


def _sum_in_its_dtype(input: Array, dims: tuple[int, ...], keepdim: bool) -> Array:
    """Sum without numpy's step to wider integers; truth values give whether any holds."""
    if is_bool(input):
        return jnp.any(input, dims, keepdims=keepdim)
    return jnp.sum(input, dims, dtype=input.dtype if is_integer(input) else None, keepdims=keepdim)


@op(grad="NansumBackward0")
def nansum(input: Array, dim: Dims | None = None, keepdim: bool = False, *, dtype: DType | None = None) -> Array:
    """The sum over `dim` (default: all) with NaN as 0."""
    summed = as_summed(input, dtype)
    dims = dims_of(input, dim)
    numbers = summed if is_bool(summed) else jnp.where(jnp.isnan(summed), 0, summed)
    return _sum_in_its_dtype(numbers, dims, keepdim)


def mean_of(input: Array, dims: tuple[int, ...], keepdims: bool = False) -> Array:
    """Return the sum over `dims` divided by the number of its terms, in one rounding.

    XLA would multiply by 1 / number, which is rounded itself: the mean of 99 ones and a zero would print 0.98999995.
    """
    if input.dtype.kind == "c":
        return jnp.mean(input, dims, keepdims=keepdims)
    total = jnp.sum(wide(input), dims, keepdims=keepdims)
    count = jnp.full_like(total, math.prod(input.shape[dim] for dim in dims))
    return (total / lax.optimization_barrier(count)).astype(input.dtype)


def refuse_mean(input: Array, given: str = "Input") -> None:
    """Raise RuntimeError for integers, which have no mean. given: whose dtype it is, in torch's words."""
    if is_integer(input):
        raise RuntimeError(
            f"mean(): could not infer output dtype. {given} dtype must be either a floating point or complex dtype. "
            f"Got: {scalar_name(input)}"
        )


@op(grad=by_dim("MeanBackward0", "MeanBackward1"))
def mean(input: Array, dim: Dims | None = None, keepdim: bool = False, *, dtype: DType | None = None) -> Array:
    """The mean over `dim` (default: all). Raises RuntimeError for integers without `dtype`."""
    if dtype is not None:
        input = lax.convert_element_type(input, dtype.numpy)
    refuse_mean(input, "Input" if dtype is None else "Optional")
    return mean_of(input, dims_of(input, dim), keepdim)


@op(grad=("DivBackward0", ("NansumBackward0", "input")))
def nanmean(input: Array, dim: Dims | None = None, keepdim: bool = False, *, dtype: DType | None = None) -> Array:
    """The mean over `dim` (default: all) of what is not NaN."""
    if is_integer(input):
        raise RuntimeError(
            f"nanmean(): expected input to have floating point or complex dtype but got {scalar_name(input)}"
        )
    dims = dims_of(input, dim)
    count = jnp.sum(~jnp.isnan(input), dims, keepdims=keepdim)
    total = nansum(input, dim, keepdim, dtype=dtype)
    return total / count.astype(total.dtype)


@op(grad=by_dim("ProdBackward0", "ProdBackward1"))
def prod(input: Array, dim: int | None = None, keepdim: bool = False, *, dtype: DType | None = None) -> Array:
    """The product over `dim` (default: all). Integers and truth values give int64; zeros have torch's gradients."""
    factors, dims = as_summed(input, dtype), dims_of(input, dim)
    if is_bool(factors):
        return jnp.all(factors, dims, keepdims=keepdim)
    return jnp.prod(factors, dims, dtype=factors.dtype, keepdims=keepdim)


def _require_dim(input: Array, dims: tuple[int, ...], dim: Any, name: str) -> None:
    if dim in (None, ()):
        _require_any(input, name)
    require_elements(input, dims, name)


def _require_any(input: Array, name: str, kind: type[Exception] = RuntimeError) -> None:
    if input.size == 0:
        hint = "" if kind is IndexError else " Specify the reduction dim with the 'dim' argument."
        raise kind(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.{hint}")


@op(grad="AmaxBackward0")
def amax(input: Array, dim: Dims = (), keepdim: bool = False) -> Array:
    """The largest over `dim` (default: all); equal ones share the gradient."""
    dims = dims_of(input, dim)
    _require_dim(input, dims, dim, "amax")
    return jnp.max(input, dims, keepdims=keepdim)


@op(grad="AminBackward0")
def amin(input: Array, dim: Dims = (), keepdim: bool = False) -> Array:
    """The smallest over `dim` (default: all); equal ones share the gradient."""
    dims = dims_of(input, dim)
    _require_dim(input, dims, dim, "amin")
    return jnp.min(input, dims, keepdims=keepdim)


@op(grad="MaxBackward1", names="")
def max_all(input: Array) -> Array:
    """The largest of all; equal ones share the gradient, and so do several NaN. Shape: result ()."""
    _require_any(input, "max")
    require_real(input, "max_all")
    return _extreme(input, jnp.max)


@op(grad="MinBackward1", names="")
def min_all(input: Array) -> Array:
    """The smallest of all; equal ones share the gradient, and so do several NaN. Shape: result ()."""
    _require_any(input, "min")
    require_real(input, "min_all")
    return _extreme(input, jnp.min)


@functools.partial(jax.custom_jvp, nondiff_argnums=(1,))
def _extreme(input: Array, reduce: Callable[[Array], Array]) -> Array:
    return reduce(input)


@_extreme.defjvp
def _extreme_jvp(reduce: Any, primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    (x,), (dx,) = primals, tangents
    result = _extreme(x, reduce)
    is_it = (x == result) | (jnp.isnan(x) & jnp.isnan(result))
    return result, jnp.sum(jnp.where(is_it, dx, 0)) / jnp.sum(is_it).astype(dx.dtype)


def picked(input: Array, index: Array, dim: int) -> Array:
    """Return the element at `index` (kept dimension) along `dim`.

    A masked sum, because its gradient is a select where a gather's is a scatter.
    """
    if input.ndim == 0:
        return input
    here = lax.broadcasted_iota(index.dtype, input.shape, dim) == index
    if is_bool(input):
        return jnp.any(here & input, dim, keepdims=True)
    return jnp.sum(jnp.where(here, input, 0), dim, keepdims=True, dtype=input.dtype)


def with_place(input: Array, place: Array, dim: int, keepdim: bool) -> tuple[Array, Array]:
    """Return the values at a kept int32 `place` along `dim`, and the place as int64."""
    values, place = picked(input, place, dim), place.astype(np.int64)
    if keepdim or input.ndim == 0:
        return values, place
    return jnp.squeeze(values, dim), jnp.squeeze(place, dim)


@op(grad="MaxBackward0", names="", results="values indices")
def max_dim(input: Array, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
    """The largest along `dim` and where it first is; that place gets the gradient."""
    dim = dim_of(input.ndim, dim)
    require_elements(input, (dim,), "max")
    return with_place(input, place_of_largest(input, dim), dim, keepdim)


@op(grad="MinBackward0", names="", results="values indices")
def min_dim(input: Array, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
    """The smallest along `dim` and where it first is; that place gets the gradient."""
    dim = dim_of(input.ndim, dim)
    require_elements(input, (dim,), "min")
    return with_place(input, place_of_smallest(input, dim), dim, keepdim)


def _argument(find: Any, name: str, input: Array, dim: int | None, keepdim: bool) -> Array:
    if is_bool(input):
        raise RuntimeError(f"{name}(): does not support bool input")
    if input.dtype.kind == "c":
        raise RuntimeError(f"{name}(): does not support complex input")
    if dim is None:
        _require_any(input, name, IndexError)
        place = find(input.reshape(-1), 0).astype(np.int64)
        return place.reshape((1,) * input.ndim if keepdim else ())
    dim = dim_of(input.ndim, dim)
    require_elements(input, (dim,), name)
    place = find(input, dim).astype(np.int64)
    return place if keepdim or input.ndim == 0 else jnp.squeeze(place, dim)


@op()
def argmax(input: Array, dim: int | None = None, keepdim: bool = False) -> Array:
    """Where the largest first is along `dim` (default: in the flattened input)."""
    return _argument(place_of_largest, "argmax", input, dim, keepdim)


@op()
def argmin(input: Array, dim: int | None = None, keepdim: bool = False) -> Array:
    """Where the smallest first is along `dim` (default: in the flattened input)."""
    return _argument(place_of_smallest, "argmin", input, dim, keepdim)


@op(grad="AminmaxBackward0", results="min max")
def aminmax(input: Array, *, dim: int | None = None, keepdim: bool = False) -> tuple[Array, Array]:
    """The smallest and the largest along `dim` (default: all); equal ones share the gradient."""
    require_real(input, "aminmax_cpu")
    dims = dims_of(input, dim)
    if input.size == 0 and dim is None:
        raise RuntimeError(
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity."
        )
    require_elements(input, dims, "aminmax")
    return jnp.min(input, dims, keepdims=keepdim), jnp.max(input, dims, keepdims=keepdim)


def _answered(input: Array, answer: Array) -> Array:
    """uint8 stays uint8 in torch's `all` and `any`."""
    return answer.astype(np.uint8) if input.dtype == np.uint8 else answer


def _answered_dims(input: Array, dim: Dims | None) -> tuple[int, ...]:
    """No dimensions mean none here, where other reductions take them for all."""
    return () if dim == () else dims_of(input, dim)


@op()
def all(input: Array, dim: Dims | None = None, keepdim: bool = False) -> Array:
    """Whether all elements along `dim` (default: all) are not 0."""
    return _answered(input, jnp.all(input != 0, _answered_dims(input, dim), keepdims=keepdim))


@op()
def any(input: Array, dim: Dims | None = None, keepdim: bool = False) -> Array:
    """Whether any element along `dim` (default: all) is not 0."""
    return _answered(input, jnp.any(input != 0, _answered_dims(input, dim), keepdims=keepdim))


@op()
def count_nonzero(input: Array, dim: Dims | None = None) -> Array:
    """How many elements along `dim` (default: all) are not 0."""
    return jnp.sum(input != 0, dims_of(input, dim), dtype=np.int64)


@op(names="histc .histc")
def histc(input: Array, bins: int = 100, min: float = 0, max: float = 0) -> Array:
    """How many elements fall into each of `bins` equal parts of [min, max]; of the input's own range if both are equal.

    Shape: result (bins,).
    """
    require_real_floating(input, "linspace_cpu" if input.dtype == bool else "histogram_cpu")
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    flat = input.reshape(-1)
    low, high = jnp.asarray(min, input.dtype), jnp.asarray(max, input.dtype)
    if min == max:
        low, high = (jnp.min(flat), jnp.max(flat)) if flat.size else (low, high)
        low, high = jnp.where(low == high, low - 1, low), jnp.where(low == high, high + 1, high)
    place = jnp.minimum(jnp.floor((flat - low) / (high - low) * bins), bins - 1)
    inside = (flat >= low) & (flat <= high)
    places = jnp.where(inside, place, bins).astype(np.int32)
    return jnp.zeros(bins + 1, input.dtype).at[places].add(1)[:bins]


@op(grad="SumBackward1", names=".sum_to_size")
def sum_to_size(input: Array, size: Dims) -> Array:
    """Sum what broadcasting would stretch, so that the result has `size`."""
    ahead = input.ndim - len(size)
    fits = ahead >= 0 and builtins.all(s in (1, n) for s, n in zip(size, input.shape[ahead:], strict=True))
    if not fits:
        raise RuntimeError(f"size {{{list(size)}}} is not expandable to size {{{list(input.shape)}}}.")
    dims = tuple(d for d in builtins.range(input.ndim) if d < ahead or (size[d - ahead] == 1 and input.shape[d] != 1))
    return jnp.sum(as_summed(input, None), dims, keepdims=True).reshape(size) if dims or not size else input


@op(names="hash_tensor .hash_tensor")
def hash_tensor(input: Array, dim: Dims = (), *, keepdim: bool = False, mode: int = 0) -> Array:
    """The exclusive or of the elements' 64 bits (floats as float64), as uint64, over `dim` (default: all)."""
    if mode != 0:
        raise RuntimeError(f"hash_tensor: Unknown hash mode {mode}")
    exact = np.float64 if not is_integer(input) else np.uint64 if input.dtype == np.uint64 else np.int64
    bits = lax.bitcast_convert_type(input.astype(exact), np.uint64)
    dims = dims_of(input, dim)
    folded = lax.reduce(bits, np.uint64(0), lax.bitwise_xor, dims)
    return jnp.expand_dims(folded, dims) if keepdim else folded


def element_count(input: Array, dims: tuple[int, ...]) -> int:
    """Return how many elements are folded into one."""
    return math.prod(input.shape[d] for d in dims)
