"""Rows of the LDL decomposition of symmetric (or Hermitian) matrices, with the pivoting of Bunch and Kaufman.

Source: Bunch and Kaufman 1977, algorithm A; packed as LAPACK's sytrf and hetrf pack it: L below, D on and beside the
diagonal, pivots from 1, a pair of equal negative pivots for a 2x2 block of D.
"""

from __future__ import annotations

import math
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._ops.checks import scalar_name
from funcgrad._ops.decompositions import adjoint_of, needs_matrix
from funcgrad._ops.extremes import place_of_largest
from funcgrad._ops.table import Array, Indices, op

_ALPHA = (1 + math.sqrt(17)) / 8


def _swapped(matrix: Array, i: Array, j: Array) -> Array:
    """Exchange rows i and j, and columns i and j."""
    places = jnp.arange(matrix.shape[-1])
    order = jnp.where(places == i, j, jnp.where(places == j, i, places))
    return matrix[order][:, order]


def _lengths(values: Array) -> Array:
    """LAPACK's cheap length of a number: |real| + |imaginary|."""
    return jnp.abs(values.real) + jnp.abs(values.imag) if values.dtype.kind == "c" else jnp.abs(values)


def _pivot(rest: Array, k: Array) -> tuple[Array, Array]:
    """Choose the row to bring to place k (or, in a block of two, to k + 1), and whether the block has two rows."""
    places = jnp.arange(rest.shape[-1])
    own = _lengths(rest[k, k])
    below = jnp.where(places > k, _lengths(rest[:, k]), 0)
    row, largest = place_of_largest(below, 0)[0], jnp.max(below)
    beside = jnp.max(jnp.where((places >= k) & (places != row), _lengths(rest[row]), 0))
    at_once = (own >= _ALPHA * largest) | (largest == 0)
    at_once |= own * beside >= _ALPHA * largest * largest
    single = _lengths(rest[row, row]) >= _ALPHA * beside
    return jnp.where(at_once, k, row), ~at_once & ~single


def _eliminated(rest: Array, k: Array, is_pair: Array, hermitian: bool) -> tuple[Array, Array, Array]:
    """Return the columns of L for block k, and what is left of the matrix beyond it."""
    conjugate = jnp.conj if hermitian else lambda x: x
    size = rest.shape[-1]
    places, after = jnp.arange(size), jnp.minimum(k + 1, size - 1)
    one, two = rest[:, k], rest[:, after]
    a, b, d = rest[k, k], rest[after, k], rest[after, after]
    determinant = a * d - b * conjugate(b)
    safe, safe_a = (jnp.where(x == 0, 1, x) for x in (determinant, a))
    first = jnp.where(is_pair, (one * d - two * b) / safe, jnp.where(a == 0, 0, one / safe_a))
    second = jnp.where(is_pair, (two * a - one * conjugate(b)) / safe, 0)
    beyond = places > jnp.where(is_pair, k + 1, k)
    first, second = jnp.where(beyond, first, 0), jnp.where(beyond, second, 0)
    left = rest - jnp.outer(first, conjugate(one)) - jnp.where(is_pair, jnp.outer(second, conjugate(two)), 0)
    return first, second, jnp.where(beyond[:, None] & beyond, left, rest)


def _factored(matrix: Array, hermitian: bool) -> tuple[Array, Array]:
    """Factor one matrix, whose lower triangle is read."""
    size = matrix.shape[-1]
    lower = jnp.tril(matrix, -1)
    diagonal = jnp.diagonal(matrix).real.astype(matrix.dtype) if hermitian else jnp.diagonal(matrix)
    whole = lower + (adjoint_of(lower) if hermitian else lower.T) + jnp.diag(diagonal)
    places = jnp.arange(size)

    def step(k: Array, state: tuple[Array, Array, Array, Array]) -> tuple[Array, Array, Array, Array]:
        rest, packed, pivots, is_done = state
        chosen, is_pair = _pivot(rest, k)
        target = jnp.where(is_pair, jnp.minimum(k + 1, size - 1), k)
        moved = _swapped(rest, target, chosen)
        first, second, left = _eliminated(moved, k, is_pair, hermitian)
        column = jnp.where(places > k, first, 0).at[k].set(moved[k, k])
        column = jnp.where(is_pair & (places == k + 1), moved[:, k], column)
        beside = jnp.where(places > k + 1, second, jnp.where(places == k + 1, moved[:, target], 0))
        new = packed.at[:, k].set(column)
        new = jnp.where(is_pair, new.at[:, target].set(beside), new)
        number = jnp.where(is_pair, -(chosen + 1), chosen + 1)
        is_here = (places == k) | (is_pair & (places == k + 1))
        found = (left, new, jnp.where(is_here, number, pivots), is_pair)
        kept = (rest, packed, pivots, jnp.zeros_like(is_done))
        return jax.tree.map(lambda new, old: jnp.where(is_done, old, new), found, kept)

    start = (whole, jnp.zeros_like(matrix), jnp.zeros(size, np.int64), jnp.zeros((), bool))
    _, packed, pivots, _ = lax.fori_loop(0, size, step, start)
    return packed, pivots.astype(np.int32)


def _batched_factors(A: Array, hermitian: bool, name: str) -> tuple[Array, Array]:
    needs_matrix(A, name, square=True)
    if not A.size:
        return A, jnp.zeros(A.shape[:-1], np.int32)
    flat = A.reshape(-1, *A.shape[-2:])
    packed, pivots = jax.vmap(partial(_factored, hermitian=hermitian and A.dtype.kind == "c"))(flat)
    return packed.reshape(A.shape), pivots.reshape(A.shape[:-1])


@op(names="linalg.ldl_factor", results="LD pivots")
def ldl_factor(A: Array, *, hermitian: bool = False) -> tuple[Array, Array]:
    """Return L (below the diagonal) and D in one matrix, and the pivots; of A the lower triangle is read."""
    return _batched_factors(A, hermitian, "torch.linalg.ldl_factor_ex")


@op(names="linalg.ldl_factor_ex", results="LD pivots info")
def ldl_factor_ex(
    A: Array, *, hermitian: bool = False, check_errors: bool = False
) -> tuple[Array, Array, Array]:  # fmt: skip
    """Return what `ldl_factor` does, and for each matrix the place (from 1) of the first zero pivot, or 0."""
    packed, pivots = _batched_factors(A, hermitian, "torch.linalg.ldl_factor_ex")
    is_zero = (jnp.diagonal(packed, axis1=-2, axis2=-1) == 0) & (pivots > 0)
    if not A.size:
        return packed, pivots, jnp.zeros(A.shape[:-2], np.int32)
    info = jnp.where(is_zero.any(-1), place_of_largest(is_zero, -1)[..., 0] + 1, 0)
    return packed, pivots, info.astype(np.int32)


def _unpacked(packed: Array, pivots: Array, hermitian: bool) -> tuple[Array, Array]:
    """Return M, the product of all exchanges and columns of L, and D, with M D M^T the matrix."""
    size = packed.shape[-1]
    places = jnp.arange(size)
    negative = pivots < 0

    def count(was_first: Array, is_negative: Array) -> tuple[Array, Array]:
        is_first = is_negative & ~was_first
        return is_first, is_first

    _, is_first = lax.scan(count, jnp.zeros((), bool), negative)
    beside = jnp.where(is_first[:-1], jnp.diagonal(packed, -1), 0)
    across = jnp.conj(beside) if hermitian else beside
    middle = jnp.diag(jnp.diagonal(packed)) + jnp.diag(beside, -1) + jnp.diag(across, 1)

    def step(i: Array, product: Array) -> Array:
        k = size - 1 - i
        beyond = places > jnp.where(is_first[k], k + 1, k)
        column = jnp.where(beyond, packed[:, k], 0)
        grown = product + jnp.outer(column, product[k])
        target, other = jnp.where(is_first[k], k + 1, k), jnp.abs(pivots[k]) - 1
        order = jnp.where(places == target, other, jnp.where(places == other, target, places))
        return jnp.where(is_first[k] | ~negative[k], grown[order], grown)

    return lax.fori_loop(0, size, step, jnp.eye(size, dtype=packed.dtype)), middle


@op(names="linalg.ldl_solve")
def ldl_solve(LD: Array, pivots: Indices, B: Array, *, hermitian: bool = False) -> Array:
    """Return X with A X = B from the results of `ldl_factor` of A.

    Shape: LD (*, n, n), pivots (*, n), B (*, n, k), result as B.
    """
    needs_matrix(LD, "torch.linalg.ldl_solve", square=True)
    if B.ndim < 2:
        raise RuntimeError(f"torch.linalg.ldl_solve: Expected B to have at least 2 dimensions, but it has {B.ndim}")
    if LD.dtype != B.dtype:
        raise RuntimeError(
            f"torch.linalg.ldl_solve: LD dtype {scalar_name(LD)} does not match B dtype {scalar_name(B)}"
        )
    shape = np.broadcast_shapes(LD.shape[:-2], B.shape[:-2])
    if not B.size:
        return jnp.zeros((*shape, *B.shape[-2:]), B.dtype)
    is_hermitian = hermitian and LD.dtype.kind == "c"
    flat, numbers = LD.reshape(-1, *LD.shape[-2:]), pivots.reshape(-1, pivots.shape[-1])
    product, middle = (
        part.reshape(LD.shape) for part in jax.vmap(partial(_unpacked, hermitian=is_hermitian))(flat, numbers)
    )
    outer = adjoint_of(product) if is_hermitian else jnp.swapaxes(product, -1, -2)
    matrix = jnp.matmul(jnp.matmul(product, middle), outer)
    batched = [jnp.broadcast_to(x, (*shape, *x.shape[-2:])) for x in (matrix, B)]
    return jnp.linalg.solve(*batched)
