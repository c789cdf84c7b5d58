"""torch's type promotion: which dtype comes of several tensors and numbers (not JAX's rules).

A tensor with dimensions outranks a 0-d tensor, which outranks a Python number; a lower rank only decides the
dtype where its category (bool < integer < float < complex) is higher than that of all above it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from funcgrad._base import dtypes
from funcgrad._base.dtypes import BOOL, COMPLEX, FLOAT, dtype

DIMENSIONED, ZERO_DIM, NUMBER = 2, 1, 0


def promote_types(a: dtype, b: dtype) -> dtype:
    """Return the smallest dtype of torch's lattice that holds both."""
    if a is b:
        return a
    if a.category > b.category:
        a, b = b, a
    if b.category == COMPLEX:
        return dtypes.complex128 if dtypes.float64 in (a, b) or dtypes.complex128 in (a, b) else dtypes.complex64
    if a.category < b.category:
        return b
    if b.category == FLOAT:
        return _wider_float(a, b)
    return _wider_integer(a, b)


def result_type(ranked: Iterable[tuple[int, dtype]]) -> dtype:
    """Return the common dtype of arguments given as (rank, dtype)."""
    by_rank: list[dtype | None] = [None, None, None]
    for rank, kind in ranked:
        seen = by_rank[rank]
        by_rank[rank] = kind if seen is None else promote_types(seen, kind)
    number, zero_dim, dimensioned = by_rank
    return _outranked(dimensioned, _outranked(zero_dim, number)) or dtypes.get_default_dtype()


def of_the_first(ranked: Sequence[tuple[int, dtype]]) -> dtype:
    """Return the dtype of the first argument, to which the others are cast."""
    return ranked[0][1]


def as_float(kind: dtype) -> dtype:
    """Return `kind`, or the default float dtype where it is an integer or bool."""
    return kind if kind.category >= FLOAT else dtypes.get_default_dtype()


def can_cast(source: dtype, target: dtype) -> bool:
    """Tell whether torch lets an in-place op or `out=` put `source` into `target`."""
    return source.category <= target.category or (target.category == BOOL and source is target)


def _outranked(higher: dtype | None, lower: dtype | None) -> dtype | None:
    if higher is None or lower is None:
        return higher or lower
    if lower.category <= higher.category:
        return higher
    if lower.category == COMPLEX and higher.category == FLOAT:
        return higher.to_complex()
    return lower


def _wider_float(a: dtype, b: dtype) -> dtype:
    if a.itemsize != b.itemsize:
        return a if a.itemsize > b.itemsize else b
    return dtypes.float32  # float16 with bfloat16: neither holds the other


def _wider_integer(a: dtype, b: dtype) -> dtype:
    if a.is_signed == b.is_signed:
        return a if a.itemsize > b.itemsize else b
    signed, unsigned = (a, b) if a.is_signed else (b, a)
    if signed.itemsize > unsigned.itemsize:
        return signed
    return {1: dtypes.int16, 2: dtypes.int32}.get(unsigned.itemsize, dtypes.int64)
