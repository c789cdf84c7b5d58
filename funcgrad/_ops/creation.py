"""Rows without tensor inputs: constants that a program makes for itself."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._base import dtypes
from funcgrad._base.cpp_names import scalar_type_name
from funcgrad._base.dtypes import BOOL
from funcgrad._ops.rearranging import cast
from funcgrad._ops.table import Array, Dims, DType, Scalar, op


@op(names="")
def full(fill_value: Scalar, size: Dims, dtype: DType) -> Array:
    """Return one number everywhere. Shape: result (*size)."""
    return jnp.broadcast_to(cast(jnp.asarray(fill_value), dtype.numpy), size)


# Elements that a program holds as numbers, equal to torch's to the last bit; more are computed.
_LONGEST_CONSTANT = 1 << 16


def arange_count(start: float, end: float, step: float, dtype: DType) -> int:
    """Return how many numbers `arange` gives. RuntimeError for a step of 0 or away from `end`, and endless ranges."""
    if dtype.category == BOOL or dtype.is_complex:
        raise NotImplementedError(f"\"arange_cpu\" not implemented for '{scalar_type_name(dtype)}'")
    if not (step > 0 or step < 0):
        raise RuntimeError("step must be nonzero")
    if dtype is dtypes.int64 and int(step) == 0:
        raise ValueError("step must be nonzero")
    if any(isinstance(bound, float) and not math.isfinite(bound) for bound in (start, end)):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if (step > 0 and end < start) or (step < 0 and end > start):
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    if dtype is dtypes.int64:
        return -((_whole(start) - _whole(end)) // int(step))
    if any(isinstance(number, float) for number in (start, end, step)):
        return math.ceil((end - start) / step)
    return -((_whole(start) - _whole(end)) // _whole(step))


def _whole(bound: float) -> int:
    """Cut the fraction off. What is no float is whole already: an int, or the symbol of a length that varies."""
    return int(bound) if isinstance(bound, float) else bound


def _counted_up(count: int, start: float, step: float, dtype: DType) -> Array:
    """Return start + step * i as torch's CPU rounds it: in groups of 32 bytes, whose first number is rounded first."""
    kind, places = dtype.numpy, np.arange(count)
    plain = (start + step * places).astype(kind)
    lanes = 32 // dtype.itemsize
    first = places // lanes * lanes
    by_lane = (plain[first].astype(np.float64) + (places - first) * step).astype(kind)
    return jnp.asarray(np.where(places < count // (2 * lanes) * (2 * lanes), by_lane, plain))


@op(names="")
def arange(start: float, end: float, step: float, dtype: DType) -> Array:
    """Return start, start + step, ... up to but without `end`. The numbers are static: Python ints or floats."""
    count = arange_count(start, end, step, dtype)
    if not dtype.is_differentiable:
        places = _places(np.int64, count)
        return (places * int(step) + _whole(start)).astype(dtype.numpy)
    if isinstance(count, int) and count <= _LONGEST_CONSTANT:
        return _counted_up(count, start, step, dtype)
    return (_places(np.float64, count) * step + start).astype(dtype.numpy)


def _places(kind: Any, count: int) -> Array:
    """Return 0, 1, ... Of many, XLA would find the sum or the largest while it compiles, in seconds for a million."""
    places = lax.iota(kind, count)
    return lax.optimization_barrier(places) if isinstance(count, int) and count > _LONGEST_CONSTANT else places


@op(names="")
def counted_from(start: Scalar, count: int, step: int, dtype: DType) -> Array:
    """Return `count` whole numbers: start, start + step, ... Shape: result (count,)."""
    return (lax.iota(np.int64, count) * step + jnp.asarray(start, np.int64)).astype(dtype.numpy)


def _spaced(start: float, end: float, steps: int, dtype: DType) -> Array:
    """Return evenly spaced float64 numbers, the first half counted from the start and the second from the end."""
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    kind = dtype.numpy if dtype.is_floating_point else np.dtype(np.float64)
    if not dtype.is_differentiable:
        start, end = int(start), int(end)
    low, high = (np.asarray(number).astype(kind) for number in (start, end))
    if steps < 2:
        return jnp.asarray(np.full(steps, low).astype(np.float64))
    if not isinstance(steps, int):  # a length that varies
        step = ((high - low) / jnp.asarray(steps - 1, kind)).astype(kind)
        return _from_both_ends(low.astype(np.float64), high, step, steps, lax.iota(np.float64, steps))
    step = ((high - low) / np.asarray(float(steps - 1)).astype(kind)).astype(kind)
    if steps > _LONGEST_CONSTANT:
        return _from_both_ends(low.astype(np.float64), high, step, steps, lax.iota(np.float64, steps))
    # long doubles: torch's CPU multiplies and adds with one rounding
    low, high, step = (number.astype(np.longdouble) for number in (low, high, step))
    numbers = _from_both_ends(low, high, step, steps, np.arange(steps))
    return jnp.asarray(numbers.astype(np.float64))


def _from_both_ends(low: Any, high: Any, step: Any, steps: int, places: Any) -> Any:
    where = np.where if isinstance(places, np.ndarray) else jnp.where
    return where(places < steps // 2, low + step * places, high - step * (steps - 1 - places))


def _linear(start: complex, end: complex, steps: int, dtype: DType, name: str) -> Array:
    if dtype.category == BOOL:
        raise NotImplementedError(f"\"{name}_cpu\" not implemented for 'Bool'")
    if not dtype.is_complex:
        return _spaced(start, end, steps, dtype)  # type: ignore[arg-type]  # real numbers for a real dtype
    start, end, part = complex(start), complex(end), dtype.to_real()
    return lax.complex(_spaced(start.real, end.real, steps, part), _spaced(start.imag, end.imag, steps, part))


@op(names="")
def linspace(start: complex, end: complex, steps: int, dtype: DType) -> Array:
    """Return `steps` evenly spaced numbers from `start` to `end`, both included. The numbers are static."""
    return _linear(start, end, steps, dtype, "linspace").astype(dtype.numpy)


@op(names="")
def logspace(start: complex, end: complex, steps: int, base: float, dtype: DType) -> Array:
    """Return base to the power of `steps` evenly spaced numbers from `start` to `end`. The numbers are static."""
    exponents = _linear(start, end, steps, dtype, "logspace")
    return jnp.power(jnp.asarray(base, exponents.dtype), exponents).astype(dtype.numpy)


@op(names="")
def eye(n: int, m: int, dtype: DType) -> Array:
    """Return ones on the main diagonal of an (n, m) matrix, zeros elsewhere."""
    for name, size in (("n", n), ("m", m)):
        if size < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {size}")
    return jnp.eye(n, m, dtype=dtype.numpy)


def _triangle_places(row: int, col: int, offset: int, lower: bool, dtype: DType) -> Array:
    for name, size in (("row", row), ("col", col)):
        if size < 0:
            raise RuntimeError(f"{name} must be non-negative, got{size}")
    if dtype not in (dtypes.int32, dtypes.int64):
        name = "tril_indices" if lower else "triu_indices"
        raise NotImplementedError(f"\"{name}\" not implemented for '{scalar_type_name(dtype)}'")
    places = np.tril_indices(row, offset, col) if lower else np.triu_indices(row, offset, col)
    return jnp.asarray(np.stack(places).astype(dtype.numpy))


@op(names="")
def tril_indices(row: int, col: int, offset: int, dtype: DType) -> Array:
    """Return the places (two rows: row numbers, column numbers) on and below a diagonal of a (row, col) matrix."""
    return _triangle_places(row, col, offset, True, dtype)


@op(names="")
def triu_indices(row: int, col: int, offset: int, dtype: DType) -> Array:
    """Return the places (two rows: row numbers, column numbers) on and above a diagonal of a (row, col) matrix."""
    return _triangle_places(row, col, offset, False, dtype)
