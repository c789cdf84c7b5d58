"""Rows that invert matrices and solve equations. Of singular ones they make inf or NaN; the functions refuse those."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._ops.broadcasting import broadcast_shape
from funcgrad._ops.checks import require_width, scalar_name
from funcgrad._ops.decompositions import adjoint_of, hermitian_from, lu_factor_ex, needs_matrix, rank_threshold
from funcgrad._ops.norms import needs_float
from funcgrad._ops.table import Array, Indices, op

_needs_square = partial(needs_matrix, square=True)


def _zero_pivot(A: Array) -> Array:
    """Return for each matrix the place, from 1, of the first zero on U's diagonal, or 0; XLA merges both LUs."""
    return lu_factor_ex(lax.stop_gradient(A))[2]


@op(
    grad="LinalgInvExBackward0",
    names="linalg.inv inverse .inverse",
    keep="residuals",
)
def inv(A: Array) -> Array:
    """Return the inverses of square matrices; of a singular one, inf or NaN."""
    _needs_square(A, "linalg.inv")
    return jnp.linalg.inv(A)


@op(grad="LinalgInvExBackward0", names="linalg.inv_ex", results="inverse info", keep="residuals")
def inv_ex(A: Array, *, check_errors: bool = False) -> tuple[Array, Array]:
    """Return the inverses of square matrices, and for each the place (from 1) of the first zero pivot, or 0."""
    return inv(A), _zero_pivot(A)


@op(grad="LinalgDetBackward0", names="linalg.det det .det", keep="residuals")
def det(A: Array) -> Array:
    """Return the determinants of square matrices."""
    _needs_square(A, "linalg.det")
    return jnp.linalg.det(A) if A.size else jnp.ones(A.shape[:-2], A.dtype)


@op(grad="LinalgSlogdetBackward0", names="linalg.slogdet", results="sign logabsdet", keep="residuals")
def slogdet(A: Array) -> tuple[Array, Array]:
    """Return the signs of the determinants of square matrices and the logarithms of their absolute values."""
    _needs_square(A, "linalg.slogdet")
    sign, logarithm = jnp.linalg.slogdet(A)
    return sign, logarithm


@op(grad="LinalgSlogdetBackward0", names="slogdet .slogdet", results="sign logabsdet", keep="residuals")
def old_slogdet(input: Array) -> tuple[Array, Array]:
    """Return the signs of determinants and the logarithms of their absolute values, as `linalg.slogdet` does."""
    return slogdet(input)


@op(grad=("WhereBackward0", ("LinalgSlogdetBackward0", "input")), names="logdet .logdet", keep="residuals")
def logdet(input: Array) -> Array:
    """Return the logarithms of the determinants of square matrices: NaN for a negative one, -inf for zero."""
    _needs_square(input, "logdet")
    sign, logarithm = jnp.linalg.slogdet(input)
    if sign.dtype.kind == "c":
        return logarithm + jnp.log(sign)
    return jnp.where(sign < 0, np.nan, logarithm)


def _right_side(A: Array, B: Array, left: bool, name: str) -> bool:
    """Check the equation's shapes and dtypes; tell whether `B` holds vectors."""
    _needs_square(A, name)
    if A.dtype != B.dtype:
        raise RuntimeError(
            f"{name}: Expected A and B to have the same dtype, but found A of type {scalar_name(A)} and B of type "
            f"{scalar_name(B)} instead"
        )
    if B.ndim == 0:
        _needs_right_matrix(B, name)
    is_vector = B.ndim == 1 or (A.ndim - 1 == B.ndim and B.shape == A.shape[:-1])
    size = B.shape[-1] if is_vector else B.shape[-2 if left else -1]
    if size != A.shape[-1]:
        rows, columns = (B.shape[-1], 1) if is_vector else B.shape[-2:]
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation {'AX' if left else 'XA'} = B "
            f"({A.shape[-2]}x{A.shape[-1]} and {rows}x{columns})"
        )
    if is_vector and not left:
        raise RuntimeError(f"{name}: Vector broadcasting of the left hand side is not supported for left=False.")
    return is_vector


def _needs_right_matrix(B: Array, name: str) -> None:
    if B.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor B must have at least 2 dimensions.")


def _broadcast_batches(A: Array, B: Array) -> tuple[Array, Array]:
    batch = broadcast_shape(A.shape[:-2], B.shape[:-2])
    return jnp.broadcast_to(A, (*batch, *A.shape[-2:])), jnp.broadcast_to(B, (*batch, *B.shape[-2:]))


def _solved(A: Array, B: Array, left: bool, name: str) -> Array:
    is_vector = _right_side(A, B, left, name)
    A, B = _broadcast_batches(A, B[..., None] if is_vector else B)
    if left:
        result = jnp.linalg.solve(A, B)
        return result[..., 0] if is_vector else result
    return jnp.swapaxes(jnp.linalg.solve(jnp.swapaxes(A, -1, -2), jnp.swapaxes(B, -1, -2)), -1, -2)


@op(grad="LinalgSolveExBackward0", names="linalg.solve", keep="residuals")
def solve(A: Array, B: Array, *, left: bool = True) -> Array:
    """Return X with A X = B (or X A = B): A (*, n, n), B (*, n, k) or (*, n)."""
    return _solved(A, B, left, "linalg.solve")


@op(grad="LinalgSolveExBackward0", names="linalg.solve_ex", results="result info", keep="residuals")
def solve_ex(A: Array, B: Array, *, left: bool = True, check_errors: bool = False) -> tuple[Array, Array]:
    """Return what `linalg.solve` does, and for each matrix the place (from 1) of the first zero pivot, or 0.

    Shape: A (*, n, n), B (*, n, k) or (*, n), results as B, and (*).
    """
    return _solved(A, B, left, "linalg.solve"), _zero_pivot(A)


@op(grad="LinalgSolveTriangularBackward0", names="linalg.solve_triangular")
def solve_triangular(
    A: Array, B: Array, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Array:  # fmt: skip
    """Return X with A X = B (or X A = B) for triangular matrices, of which the other triangle is not read.

    Shape: A (*, n, n), B (*, n, k), result as B; with left=False B (*, k, n).
    """
    _needs_right_matrix(B, "linalg.solve_triangular")
    _right_side(A, B, left, "linalg.solve_triangular")
    A, B = _broadcast_batches(A, B)
    return lax.linalg.triangular_solve(A, B, left_side=left, lower=not upper, unit_diagonal=unitriangular)


@op(
    grad="TriangularSolveBackward0",
    names="triangular_solve .triangular_solve",
    results="solution cloned_coefficient",
)
def triangular_solve(
    b: Array, A: Array, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> tuple[Array, Array]:  # fmt: skip
    """Return X with A X = b for a triangular matrix, and the matrix. An older spelling of `linalg.solve_triangular`.

    Shape: b (*, n, k), A (*, n, n), results as b and A.
    """
    _right_side(A, b, True, "triangular_solve")
    A, b = _broadcast_batches(A, b)
    solution = lax.linalg.triangular_solve(
        A, b, left_side=True, lower=not upper, transpose_a=transpose, unit_diagonal=unitriangular
    )
    return solution, A


def _lower_factor(A: Array) -> Array:
    """LAPACK reads columns: of a real matrix the rows of its transpose, so that nothing is laid out anew for it."""
    whole = hermitian_from(A, "L")
    return lax.linalg.cholesky(whole if jnp.iscomplexobj(whole) else whole.mT, symmetrize_input=False)


@op(grad="LinalgCholeskyExBackward0", names="linalg.cholesky", keep="residuals")
def linalg_cholesky(A: Array, *, upper: bool = False) -> Array:
    """Return the lower triangular L with A = L L^H (or the upper L^H); NaN where A is not positive definite."""
    _needs_square(A, "linalg.cholesky")
    return _lower_factor(A.mT).mT if upper else _lower_factor(A)


@op(grad="CholeskyBackward0", names="cholesky .cholesky", keep="residuals")
def cholesky(input: Array, upper: bool = False) -> Array:
    """Return the lower triangular L with input = L L^H (or the upper L^H). An older spelling of `linalg.cholesky`.

    Shape: input (*, n, n), result the same.
    """
    _needs_square(input, "cholesky")
    return _lower_factor(input.mT).mT if upper else _lower_factor(input)


@op(names="")
def is_indefinite(A: Array, upper: bool) -> Array:
    """Tell for each matrix whether `linalg.cholesky` fails, which it computes anyway."""
    return ~jnp.isfinite(linalg_cholesky(A, upper=upper)).all((-2, -1))


@op(grad="LinalgCholeskyExBackward0", names="linalg.cholesky_ex", results="L info", keep="residuals")
def cholesky_ex(A: Array, *, upper: bool = False, check_errors: bool = False) -> tuple[Array, Array]:
    """Return what `linalg.cholesky` does, and for each matrix the order of its first minor that is not positive, or 0.

    Where it failed the factor is as far as LAPACK comes: the columns before that minor's last, that pivot, and then A.
    """
    A = A.mT if upper else A
    lower = linalg_cholesky(A)
    failed = ~jnp.isfinite(lower).all((-2, -1))
    if not A.size:
        return lower, failed.astype(np.int32)
    given = hermitian_from(lax.stop_gradient(A), "L")
    nothing = jnp.zeros_like(given), jnp.zeros(failed.shape, np.int32)
    reached, info = lax.cond(failed.any(), _as_far_as_it_comes, lambda _: nothing, given)
    lower = jnp.where(failed[..., None, None], reached, lower)
    return lower.mT if upper else lower, jnp.where(failed, info, 0)


def _as_far_as_it_comes(A: Array) -> tuple[Array, Array]:
    """Factor until a pivot is not positive. Result: what is reached then, and that pivot's place from 1, or 0."""
    return lax.platform_dependent(A, cpu=_by_lapack, default=_minor_by_minor)


def _by_lapack(A: Array) -> tuple[Array, Array]:
    """Let `potrf` tell, of which JAX keeps the second result to itself: the loop below is long in compiling."""
    columns_first = (*range(A.ndim - 2), A.ndim - 1, A.ndim - 2)
    results = jax.ShapeDtypeStruct(A.shape, A.dtype), jax.ShapeDtypeStruct(A.shape[:-2], np.int32)
    factor = jax.ffi.ffi_call(
        f"lapack_{_LAPACK_NAMES[A.dtype.name]}potrf_ffi", results, vmap_method="broadcast_all",
        input_layouts=[columns_first], output_layouts=[columns_first, None],
    )  # fmt: skip
    reached, info = factor(A, uplo=np.uint8(ord("L")))
    return jnp.tril(reached), info


_LAPACK_NAMES = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}


def _minor_by_minor(A: Array) -> tuple[Array, Array]:
    size = A.shape[-1]
    places = jnp.arange(size)

    def take(column: Array, state: tuple[Array, Array]) -> tuple[Array, Array]:
        factor, info = state
        done = jnp.where(places < column, factor, 0)
        row = lax.dynamic_index_in_dim(done, column, -2, keepdims=False)
        given = lax.dynamic_index_in_dim(factor, column, -1, keepdims=False)
        left = given - jnp.einsum("...ij,...j->...i", done, row.conj())
        pivot = lax.dynamic_index_in_dim(left, column, -1).real
        goes_on, fails = (info == 0)[..., None] & (pivot > 0), (info == 0)[..., None] & ~(pivot > 0)
        root = jnp.sqrt(jnp.where(goes_on, pivot, 1))
        made = jnp.where(goes_on & (places > column), left / root, given)
        made = jnp.where((goes_on | fails) & (places == column), jnp.where(goes_on, root, pivot), made)
        return (
            jnp.where(places == column, made[..., None], factor),
            jnp.where(fails[..., 0], column.astype(np.int32) + 1, info),
        )

    return lax.fori_loop(0, size, take, (jnp.tril(A), jnp.zeros(A.shape[:-2], np.int32)))


@op(grad="CholeskySolveBackward0", names="cholesky_solve .cholesky_solve")
def cholesky_solve(B: Array, L: Array, upper: bool = False) -> Array:
    """Return X with A X = B, where L is the Cholesky factor of A. Shape: B (*, n, k), L (*, n, n), result as B."""
    if B.ndim < 2:
        raise RuntimeError(f"b should have at least 2 dimensions, but has {B.ndim} dimensions instead")
    if L.ndim < 2:
        raise RuntimeError(f"u should have at least 2 dimensions, but has {L.ndim} dimensions instead")
    if L.shape[-1] != L.shape[-2]:
        raise RuntimeError(
            f"A must be batches of square matrices, but they are {L.shape[-2]} by {L.shape[-1]} matrices"
        )
    if L.dtype != B.dtype:
        raise RuntimeError(
            f"Expected b and A to have the same dtype, but found b of type {scalar_name(B)} and A of type "
            f"{scalar_name(L)} instead."
        )
    require_width("cholesky_solve_cpu", L)
    L, B = _broadcast_batches(adjoint_of(L) if upper else L, B)
    return _solved_by_factor(B, L)


def _solved_by_factor(B: Array, L: Array) -> Array:
    """Return X with L L* X = B. The product is differentiated, as in torch, with the triangle that is not read."""

    def product(X: Array) -> Array:
        return L @ (adjoint_of(L) @ X)

    def solve(_: Any, B: Array) -> Array:
        half = lax.linalg.triangular_solve(L, B, left_side=True, lower=True)
        return lax.linalg.triangular_solve(L, half, left_side=True, lower=True, transpose_a=True, conjugate_a=True)

    def transposed(_: Any, B: Array) -> Array:
        return solve(None, B.conj()).conj()

    return lax.custom_linear_solve(product, B, solve, transposed)


@op(grad="CholeskyInverseBackward0", names="cholesky_inverse .cholesky_inverse")
def cholesky_inverse(L: Array, upper: bool = False) -> Array:
    """Return the inverse of the matrix whose Cholesky factor is L. Shape: L (*, n, n), result the same."""
    if L.ndim < 2:
        raise RuntimeError("cholesky_inverse: The input tensor A must have at least 2 dimensions.")
    require_width("cholesky_inverse_out_cpu", L)
    return cholesky_solve(jnp.broadcast_to(jnp.eye(L.shape[-1], dtype=L.dtype), L.shape), L, upper)


def _pseudo_inverse(A: Array, atol: Any, rtol: Any, hermitian: bool) -> Array:
    if A.size == 0:
        return jnp.zeros((*A.shape[:-2], A.shape[-1], A.shape[-2]), A.dtype)
    frozen = lax.stop_gradient(A)
    sizes = (
        jnp.abs(jnp.linalg.eigvalsh(frozen, symmetrize_input=False))
        if hermitian
        else jnp.linalg.svd(frozen, compute_uv=False)
    )
    largest = sizes.max(-1)
    threshold = rank_threshold(A.shape, sizes.dtype, largest, atol, rtol)
    if hermitian:
        A = A + lax.stop_gradient(hermitian_from(A, "L") - A)
    return jnp.linalg.pinv(A, threshold / jnp.where(largest == 0, 1, largest))


@op(grad="LinalgPinvBackward0", names="linalg.pinv", keep="residuals")
def pinv(
    A: Array,
    rcond: Array | None = None,
    hermitian: bool = False,
    *,
    atol: Array | None = None,
    rtol: Array | None = None,
) -> Array:
    """Return the pseudo-inverses; singular values up to max(atol, rtol * the largest) count as zero.

    Shape: A (*, m, n), result (*, n, m).
    """
    if A.ndim < 2:
        raise RuntimeError(
            f"linalg.pinv({scalar_name(A)}{{{list(A.shape)}}}): expected a tensor with 2 or more dimensions of float, "
            "double, cfloat or cdouble types"
        )
    needs_matrix(A, "linalg.pinv", square=hermitian)
    return _pseudo_inverse(A, atol, rtol if rcond is None else rcond, hermitian)


@op(grad="LinalgPinvBackward0", names="pinverse .pinverse", keep="residuals")
def pinverse(input: Array, rcond: float = 1e-15) -> Array:
    """Return the pseudo-inverses. An older spelling of `linalg.pinv`. Shape: input (*, m, n), result (*, n, m)."""
    needs_matrix(input, "linalg.pinv")
    return _pseudo_inverse(input, None, rcond, False)


@op(
    grad="LinalgLstsqBackward0",
    names="linalg.lstsq",
    results="solution residuals rank singular_values",
    constant="singular_values",
    keep="residuals",
)
def lstsq(
    A: Array, B: Array, rcond: float | None = None, *, driver: str | None = None
) -> tuple[Array, Array, Array, Array]:  # fmt: skip
    """Return the X of least norm among those for which |A X - B| is least, residuals, rank and singular values.

    Shape: A (*, m, n), B (*, m, k) or (*, m), X (*, n, k) or (*, n).
    Residuals are there for tall matrices, unless by "gelsy" (torch leaves them out where one is not of full rank).
    Singular values are empty but for the drivers "gelsd" and "gelss", the rank for "gels".
    """
    needs_matrix(A, "torch.linalg.lstsq")
    if driver not in (None, "gels", "gelsy", "gelsd", "gelss"):
        raise RuntimeError("torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)")
    is_vector = A.ndim - 1 == B.ndim and B.shape == A.shape[:-1]
    right = B[..., None] if is_vector else B
    if not 0 <= A.ndim - B.ndim <= 1:
        raise RuntimeError(
            "torch.linalg.lstsq: input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) "
            "<= 1"
        )
    if B.ndim < 2 and not is_vector:
        raise RuntimeError("torch.linalg.lstsq: input.size(-2) should match other.size(-1)")
    if A.shape[-2] != right.shape[-2]:
        raise RuntimeError("torch.linalg.lstsq: input.size(-2) should match other.size(-2)")
    if A.dtype != B.dtype:
        raise RuntimeError("torch.linalg.lstsq: Expected input and other to have the same dtype")
    solution = jnp.matmul(_pseudo_inverse(A, None, rcond, False), right)
    rows, columns = A.shape[-2:]
    apart = jnp.matmul(A, solution) - right
    residuals = jnp.sum(jnp.real(apart * jnp.conj(apart)), -2)
    singular = jnp.linalg.svd(lax.stop_gradient(A), compute_uv=False)
    empty = jnp.zeros((0,), singular.dtype)
    threshold = rank_threshold(A.shape, singular.dtype, singular.max(-1, keepdims=True, initial=0), None, rcond)
    rank = (singular > threshold).sum(-1, dtype=np.int64)
    return (
        solution[..., 0] if is_vector else solution,
        residuals if rows > columns and driver != "gelsy" and driver is not None else empty,
        jnp.zeros((0,), np.int64) if driver == "gels" else rank,
        singular if driver in ("gelsd", "gelss") else empty,
    )


@op(grad="LinalgLuSolveBackward0", names="linalg.lu_solve", keep="residuals")
def lu_solve(
    LU: Array, pivots: Indices, B: Array, *, left: bool = True, adjoint: bool = False
) -> Array:  # fmt: skip
    """Return X with A X = B (X A = B; A^H X = B) from the results of `lu_factor` of A.

    Shape: LU (*, n, n), pivots (*, n), B (*, n, k), result as B.
    """
    if LU.ndim < 2 or B.ndim < 2:
        raise RuntimeError("linalg.lu_solve: The input tensors must have at least 2 dimensions.")
    needs_float(LU, "torch.linalg.lu_solve")
    _right_side(LU, B[..., None, :, :] if B.ndim == LU.ndim - 1 else B, left, "linalg.lu_solve")
    return _with_factors(LU, pivots, B, left, adjoint)


@op(grad="LinalgLuSolveBackward0", names="lu_solve .lu_solve", keep="residuals")
def old_lu_solve(b: Array, LU_data: Array, LU_pivots: Indices) -> Array:
    """Return X with A X = b from the results of `lu_factor` of A. An older spelling of `linalg.lu_solve`.

    Shape: b (*, n, k), LU_data (*, n, n), LU_pivots (*, n), result as b.
    """
    needs_float(LU_data, "torch.linalg.lu_solve")
    return _with_factors(LU_data, LU_pivots, b, True, False)


def _with_factors(LU: Array, pivots: Array, B: Array, left: bool, adjoint: bool) -> Array:
    places = lax.linalg.lu_pivots_to_permutation(pivots - 1, LU.shape[-1])
    LU, B = _broadcast_batches(LU, B)
    places = jnp.broadcast_to(places, LU.shape[:-1])
    if not left:  # X A = B is A^H X^H = B^H
        return adjoint_of(_with_factors_left(LU, places, adjoint_of(B), not adjoint))
    return _with_factors_left(LU, places, B, adjoint)


def _with_factors_left(packed: Array, places: Array, right: Array, adjoint: bool) -> Array:
    solve = partial(lax.linalg.triangular_solve, packed, left_side=True, transpose_a=adjoint, conjugate_a=adjoint)
    if adjoint:
        half = solve(right, lower=False)
        full = solve(half, lower=True, unit_diagonal=True)
        return jnp.take_along_axis(full, jnp.argsort(places, -1)[..., None], -2)
    ordered = jnp.take_along_axis(right, places[..., None], -2)
    return solve(solve(ordered, lower=True, unit_diagonal=True), lower=False)


@op(grad="ReshapeAliasBackward0", names="linalg.tensorinv", keep="residuals")
def tensorinv(A: Array, ind: int = 2) -> Array:
    """Return the inverse of A as a map of its last dimensions to its first `ind`.

    Shape: A (*a, *b) with `ind` dimensions in a, result (*b, *a).
    """
    if ind <= 0:
        raise RuntimeError("Expected a strictly positive integer for 'ind'")
    before, after = _sizes(A.shape[:ind]), _sizes(A.shape[ind:])
    if before != after:
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got "
            f"{after} != {before}"
        )
    inverse = jnp.linalg.inv(A.reshape(before, after))
    return inverse.reshape(*A.shape[ind:], *A.shape[:ind])


@op(grad=("ViewBackward0", ("LinalgSolveExBackward0", ("ViewBackward0", "A"), ("ViewBackward0", "B"))),
    names="linalg.tensorsolve", keep="residuals")  # fmt: skip
def tensorsolve(A: Array, B: Array, dims: tuple[int, ...] | None = None) -> Array:
    """Return X such that A summed with X over X's dimensions is B; `dims` of A are moved to the end before."""
    moved = A if dims is None else jnp.moveaxis(A, dims, range(A.ndim - len(dims), A.ndim))
    unknown = moved.shape[B.ndim :]
    if _sizes(unknown) != B.size or moved.size != B.size**2:
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), "
            f"but got {_sizes(unknown)} != {_sizes(moved.shape[: B.ndim])}"
        )
    return jnp.linalg.solve(moved.reshape(B.size, -1), B.reshape(-1)).reshape(unknown)


def _sizes(shape: Sequence[int]) -> Any:
    return int(np.prod(shape, dtype=np.int64))
