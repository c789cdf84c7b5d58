"""Rows that take a matrix apart: QR, SVD, eigenvalues, LU, and what follows from them (rank, condition)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._base import dtypes
from funcgrad._ops.backends import on_cpu
from funcgrad._ops.checks import no_kernel, require_floating, scalar_name
from funcgrad._ops.norms import matrix_size, needs_float
from funcgrad._ops.table import Array, Indices, op

_KERNELS = {  # what refuses the dtype in torch, where it is not the function itself
    "linalg.eigh": "linalg_eigh_cpu", "linalg.eigvalsh": "linalg_eigh_cpu", "linalg.eig": "linalg_eig_out_cpu",
    "linalg.eigvals": "linalg_eig_out_cpu", "linalg.svd": "linalg_svd_cpu", "linalg.qr": "geqrf_cpu",
    "linalg.cholesky": "cholesky_cpu", "linalg.det": "lu_cpu", "linalg.solve": "lu_cpu",
}  # fmt: skip
_ASKS_ITS_KERNEL = {"linalg.eigh", "linalg.eigvalsh"}


def needs_matrix(array: Array, name: str, *, square: bool = False) -> None:
    """Raise torch's errors for what is no (square) matrix of floats, or batch of them."""
    if array.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    if square and array.shape[-1] != array.shape[-2]:
        raise RuntimeError(
            f"{name}: A must be batches of square matrices, but they are {array.shape[-2]} by "
            f"{array.shape[-1]} matrices"
        )
    is_float, kernel = dtypes.of_numpy(array.dtype).is_differentiable, _KERNELS.get(name)
    if kernel is not None and (array.dtype.itemsize == 2 or (not is_float and name in _ASKS_ITS_KERNEL)):
        raise no_kernel(kernel, array)
    needs_float(array, name)
    if array.dtype.itemsize == 2:
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {scalar_name(array)}")


def adjoint_of(array: Array) -> Array:
    """Return the conjugate of the transposed matrices."""
    return jnp.conj(jnp.swapaxes(array, -1, -2))


def _triangular_and_orthogonal(A: Array, mode: str) -> tuple[Array, Array]:
    rows, columns = A.shape[-2:]
    if mode == "complete" and rows > columns:
        q, r = jnp.linalg.qr(lax.stop_gradient(A), "complete")
        return lax.stop_gradient(q), lax.stop_gradient(r)
    if rows >= columns:
        q, r = jnp.linalg.qr(A, "reduced")
        return q, r
    q, r = jnp.linalg.qr(A[..., :rows], "reduced")  # JAX has no gradient for wide matrices
    return q, jnp.concatenate([r, jnp.matmul(adjoint_of(q), A[..., rows:])], -1)


@op(grad="LinalgQrBackward0", names="linalg.qr", results="Q R", keep="residuals")
def qr(A: Array, mode: str = "reduced") -> tuple[Array, Array]:
    """Return Q with orthonormal columns and an upper triangular R with A = Q R.

    Shape: A (*, m, n), k = min(m, n), Q (*, m, k), R (*, k, n); "complete": Q (*, m, m), R (*, m, n).
    mode: "reduced", "complete" (a square Q; no gradient for tall matrices) or "r" (an empty Q).
    """
    needs_matrix(A, "linalg.qr")
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'"
        )
    q, r = _triangular_and_orthogonal(A, mode)
    return (jnp.zeros((0,), A.dtype), r) if mode == "r" else (q, r)


@op(grad="LinalgQrBackward0", names="qr .qr", results="Q R", keep="residuals")
def old_qr(input: Array, some: bool = True) -> tuple[Array, Array]:
    """Return Q and R with input = Q R; with some=False a square Q. An older spelling of `linalg.qr`.

    Shape: input (*, m, n), results as those of `linalg.qr`.
    """
    needs_matrix(input, "linalg.qr")
    return _triangular_and_orthogonal(input, "reduced" if some else "complete")


def _singular(A: Array, full: bool) -> tuple[Array, Array, Array]:
    u, s, vh = jnp.linalg.svd(A, full_matrices=False)
    if not full or A.shape[-1] == A.shape[-2]:
        return u, s, vh
    # the columns beyond the singular values have no gradient (JAX has none for full matrices at all)
    more_u, _, more_vh = map(lax.stop_gradient, jnp.linalg.svd(lax.stop_gradient(A), full_matrices=True))
    count = s.shape[-1]
    return (
        jnp.concatenate([u, more_u[..., count:]], -1),
        s,
        jnp.concatenate([vh, more_vh[..., count:, :]], -2),
    )


def _refuse_driver(driver: str | None, name: str) -> None:
    if driver is not None and on_cpu():
        raise RuntimeError(
            f"{name}: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend."
        )


@op(grad="LinalgSvdBackward0", names="linalg.svd", results="U S Vh", keep="residuals")
def svd(A: Array, full_matrices: bool = True, *, driver: str | None = None) -> tuple[Array, Array, Array]:
    """Return U, S and Vh with A = U diag(S) Vh, the singular values falling. `driver` changes nothing on a GPU.

    Shape: A (*, m, n), k = min(m, n), U (*, m, k), S (*, k), Vh (*, k, n); full: U (*, m, m), Vh (*, n, n).
    """
    _refuse_driver(driver, "torch.linalg.svd")
    needs_matrix(A, "linalg.svd")
    return _singular(A, full_matrices)


@op(grad="LinalgSvdBackward0", names="svd .svd", results="U S V", keep="residuals")
def old_svd(input: Array, some: bool = True, compute_uv: bool = True) -> tuple[Array, Array, Array]:
    """Return U, S and V with input = U diag(S) V^H. An older spelling of `linalg.svd`.

    Shape: input (*, m, n), k = min(m, n), U (*, m, k), S (*, k), V (*, n, k).
    """
    needs_matrix(input, "linalg.svd")
    if not compute_uv:
        rows, columns = input.shape[-2:]
        empty = [jnp.zeros((*input.shape[:-2], n, n), input.dtype) for n in (rows, columns)]
        return empty[0], jnp.linalg.svd(input, compute_uv=False), empty[1]
    u, s, vh = _singular(input, not some)
    return u, s, adjoint_of(vh)


@op(grad="LinalgSvdBackward0", names="linalg.svdvals", keep="residuals")
def svdvals(A: Array, *, driver: str | None = None) -> Array:
    """Return the singular values, falling. `driver` changes nothing on a GPU."""
    _refuse_driver(driver, "torch.linalg.svd")
    needs_matrix(A, "linalg.svdvals")
    return jnp.linalg.svd(A, compute_uv=False)


def hermitian_from(A: Array, triangle: str) -> Array:
    """Return the Hermitian matrices with the lower or upper triangle of A; the gradient is that of (A + A^H) / 2."""
    frozen = lax.stop_gradient(A)
    beside = jnp.tril(frozen, -1) if triangle == "L" else jnp.triu(frozen, 1)
    whole = beside + adjoint_of(beside) + jnp.real(frozen) * jnp.eye(A.shape[-1], dtype=A.real.dtype)
    even = (A + adjoint_of(A)) / 2
    return even + (whole - lax.stop_gradient(even))


def _symmetric_parts(A: Array, UPLO: str, name: str) -> tuple[Array, Array]:
    needs_matrix(A, name, square=True)
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    values, vectors = jnp.linalg.eigh(hermitian_from(A, UPLO.upper()), UPLO.upper(), symmetrize_input=False)
    return values, vectors


@op(grad="LinalgEighBackward0", names="linalg.eigh", results="eigenvalues eigenvectors", keep="residuals")
def eigh(A: Array, UPLO: str = "L") -> tuple[Array, Array]:
    """Return the eigenvalues, rising, and eigenvectors (columns) of Hermitian matrices, read from one triangle.

    Shape: A (*, n, n), eigenvalues (*, n), eigenvectors (*, n, n).
    """
    return _symmetric_parts(A, UPLO, "linalg.eigh")


@op(grad="LinalgEighBackward0", names="linalg.eigvalsh", keep="residuals")
def eigvalsh(A: Array, UPLO: str = "L") -> Array:
    """Return the eigenvalues, rising, of Hermitian matrices, read from one triangle.

    Shape: A (*, n, n), result (*, n).
    """
    return _symmetric_parts(A, UPLO, "linalg.eigh")[0]


@op(grad="LinalgEigBackward0", names="linalg.eig", results="eigenvalues eigenvectors", keep="residuals")
def eig(A: Array) -> tuple[Array, Array]:
    """Return the complex eigenvalues and eigenvectors (columns of length 1) of square matrices, in no given order."""
    needs_matrix(A, "linalg.eig", square=True)
    return _eigen(A)


def _eigen(A: Array) -> tuple[Array, Array]:
    if A.size == 0:
        kind = np.result_type(A.dtype, np.complex64)
        return jnp.zeros(A.shape[:-1], kind), jnp.zeros(A.shape, kind)
    values, vectors = lax.linalg.eig(A, compute_left_eigenvectors=False, enable_eigvec_derivs=True)
    return values, vectors


@op(grad="LinalgEigBackward0", names="linalg.eigvals", keep="residuals")
def eigvals(A: Array) -> Array:
    """Return the complex eigenvalues of square matrices, in no given order."""
    needs_matrix(A, "linalg.eigvals", square=True)
    return _eigen(A)[0]


def _permutation_matrix(places: Array, kind: np.dtype[Any]) -> Array:
    return jnp.swapaxes(places[..., None] == jnp.arange(places.shape[-1], dtype=places.dtype), -1, -2).astype(kind)


def _lower_and_upper(packed: Array) -> tuple[Array, Array]:
    rows, columns = packed.shape[-2:]
    count = min(rows, columns)
    lower = jnp.tril(packed[..., :count], -1) + jnp.eye(rows, count, dtype=packed.dtype)
    return lower, jnp.triu(packed[..., :count, :])


@op(grad="LinalgLuBackward0", names="linalg.lu", results="P L U", constant="P", keep="residuals")
def lu(A: Array, *, pivot: bool = True) -> tuple[Array, Array, Array]:
    """Return a permutation P, a unit lower triangular L and an upper triangular U with A = P L U."""
    if A.ndim < 2:
        raise RuntimeError(f"linalg.lu: Expected tensor with 2 or more dimensions. Got size: {list(A.shape)} instead")
    needs_matrix(A, "linalg.lu")
    _needs_pivot(pivot, "linalg.lu")
    packed, _, places = lax.linalg.lu(A)
    return _permutation_matrix(places, A.dtype), *_lower_and_upper(packed)


def _needs_pivot(pivot: bool, name: str) -> None:
    if not pivot:
        raise RuntimeError(f"{name}: LU without pivoting is not implemented on the CPU")


@op(grad="LinalgLuFactorExBackward0", names="linalg.lu_factor", results="LU pivots", keep="residuals")
def lu_factor(A: Array, *, pivot: bool = True) -> tuple[Array, Array]:
    """Return L (below the diagonal) and U in one matrix, and which row (from 1) was swapped with each row."""
    needs_matrix(A, "torch.lu_factor")
    _needs_pivot(pivot, "linalg.lu_factor")
    packed, pivots, _ = lax.linalg.lu(A)
    return packed, pivots.astype(np.int32) + 1


@op(grad="LinalgLuFactorExBackward0", names="linalg.lu_factor_ex", results="LU pivots info", keep="residuals")
def lu_factor_ex(A: Array, *, pivot: bool = True, check_errors: bool = False) -> tuple[Array, Array, Array]:
    """Return what `lu_factor` does, and for each matrix the place (from 1) of the first zero on U's diagonal, or 0."""
    packed, pivots = lu_factor(A, pivot=pivot)
    diagonal = jnp.diagonal(packed, axis1=-2, axis2=-1)
    beyond = diagonal.shape[-1] + 1
    places = jnp.where(diagonal == 0, jnp.arange(1, beyond), beyond)
    return packed, pivots, (places.min(-1, initial=beyond) % beyond).astype(np.int32)


@op(grad="LuUnpackBackward0", names="lu_unpack", results="P L U", constant="P")
def lu_unpack(
    LU_data: Array, LU_pivots: Indices, unpack_data: bool = True, unpack_pivots: bool = True
) -> tuple[Array, Array, Array]:  # fmt: skip
    """Return P, L and U from the results of `lu_factor`; empty tensors for what is not asked for.

    Shape: LU_data (*, m, n), LU_pivots (*, k), k = min(m, n), P (*, m, m), L (*, m, k), U (*, k, n).
    """
    if LU_data.ndim < 2:
        raise RuntimeError(
            f"torch.lu_unpack: Expected tensor with 2 or more dimensions. Got size: {list(LU_data.shape)} instead"
        )
    empty = jnp.zeros((0,), LU_data.dtype)
    places = lax.linalg.lu_pivots_to_permutation(LU_pivots - 1, LU_data.shape[-2])
    permutation = _permutation_matrix(places, LU_data.dtype) if unpack_pivots else empty
    return permutation, *(_lower_and_upper(LU_data) if unpack_data else (empty, empty))


def rank_threshold(shape: Sequence[int], kind: Any, largest: Array, atol: Any, rtol: Any) -> Array:
    """Return where singular values begin to count: max(atol, rtol * largest); by default rtol is eps * max(n, m).

    The bounds are numbers, tensors that broadcast with `largest`, or None.
    """
    above = jnp.zeros((), kind) if atol is None else jnp.asarray(atol).astype(kind)
    if rtol is None:
        rtol = jnp.where(above > 0, 0.0, float(np.finfo(kind).eps) * max(shape[-2:]))
    return jnp.maximum(jnp.asarray(rtol).astype(kind) * largest, above)


def _real_kind(array: Array) -> np.dtype[Any]:
    return dtypes.of_numpy(array.dtype).to_real().numpy


@op(names="linalg.matrix_rank")
def matrix_rank(
    A: Array,
    tol: Array | None = None,
    hermitian: bool = False,
    *,
    atol: Array | None = None,
    rtol: Array | None = None,
) -> Array:
    """Return how many singular values are above the larger of atol and rtol times the largest one.

    Shape: A (*, m, n), result (*).
    """
    if A.ndim < 2:
        raise RuntimeError("torch.linalg.matrix_rank: The input tensor input must have at least 2 dimensions.")
    needs_matrix(A, "linalg.matrix_rank")
    if A.size == 0:
        return jnp.zeros(A.shape[:-2], np.int64)
    if hermitian:
        sizes = jnp.abs(_symmetric_parts(A, "L", "linalg.matrix_rank")[0])
    else:
        sizes = jnp.linalg.svd(A, compute_uv=False)
    bounds = (atol, rtol) if tol is None else (tol, 0.0)
    threshold = rank_threshold(A.shape, _real_kind(A), sizes.max(-1), *bounds)
    return (sizes > threshold[..., None]).sum(-1, dtype=np.int64)


def _condition_node(shapes: Sequence[Any], statics: Sequence[Any]) -> str:
    return "SqueezeBackward1" if not statics or statics[0] in (None, 2, -2) else "NanToNumBackward0"


@op(grad=_condition_node, names="linalg.cond", keep="residuals")
def cond(A: Array, p: Any = None) -> Array:
    """Return the condition number: the p-norm of A times that of its inverse; for p = 2 singular values' ratio.

    Shape: A (*, m, n), result (*).
    """
    needs_matrix(A, "linalg.cond")
    if p not in (None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    if isinstance(p, str):
        needs_matrix(A, f"linalg.cond(ord={p})", square=True)
    if A.size == 0:
        return jnp.zeros(A.shape[:-2], _real_kind(A))
    if p in (None, 2, -2):
        singular = jnp.linalg.svd(A, compute_uv=False)
        ends = (singular[..., -1], singular[..., 0]) if p == -2 else (singular[..., 0], singular[..., -1])
        return ends[0] / ends[1]
    needs_matrix(A, f"linalg.cond(ord={p})", square=True)
    inverse = jnp.linalg.inv(A)
    return matrix_size(A, p, (-2, -1), False) * matrix_size(inverse, p, (-2, -1), False)


@op(names="geqrf .geqrf", results="a tau")
def geqrf(input: Array) -> tuple[Array, Array]:
    """Return R above, and the Householder vectors of Q below the diagonal, with the factors tau."""
    needs_matrix(input, "geqrf")
    packed, tau = jnp.linalg.qr(input, "raw")
    return jnp.swapaxes(packed, -1, -2), tau


@op(grad="LinalgHouseholderProductBackward0", names="linalg.householder_product orgqr .orgqr")
def householder_product(input: Array, tau: Array) -> Array:
    """Return the first columns of the product of the reflections I - tau[i] v v^H, v below the diagonal of column i.

    Shape: input (*, m, n), tau (*, k), result (*, m, n).
    """
    needs_matrix(input, "torch.linalg.householder_product")
    rows, columns = input.shape[-2:]
    if rows < columns:
        raise RuntimeError(
            "torch.linalg.householder_product: input.shape[-2] must be greater than or equal to input.shape[-1]"
        )
    if columns < tau.shape[-1]:
        raise RuntimeError(
            "torch.linalg.householder_product: input.shape[-1] must be greater than or equal to tau.shape[-1]"
        )
    if tau.dtype != input.dtype:
        raise RuntimeError(
            f"torch.linalg.householder_product: tau dtype {scalar_name(tau)} does not match input dtype "
            f"{scalar_name(input)}"
        )
    return _reflected(input, tau, jnp.broadcast_to(jnp.eye(rows, columns, dtype=input.dtype), input.shape))


def _reflected(input: Array, tau: Array, product: Array, *, adjoint: bool = False) -> Array:
    """Return Q (or its adjoint) times `product`; Q is the product of the reflections that `input` and `tau` hold."""
    places, count = np.arange(input.shape[-2])[:, None], tau.shape[-1]
    if count == 0:
        return product

    def reflect(step: Array, product: Array) -> Array:
        i = step if adjoint else count - 1 - step
        column = lax.dynamic_slice_in_dim(input, i, 1, -1)
        vector = jnp.where(places == i, 1, jnp.where(places > i, column, 0))
        factor = lax.dynamic_slice_in_dim(tau, i, 1, -1)[..., None]
        factor = jnp.conj(factor) if adjoint else factor
        return product - factor * vector * jnp.matmul(adjoint_of(vector), product)

    return jax.lax.fori_loop(0, count, reflect, product)


@op(grad="OrmqrBackward0", names="ormqr .ormqr")
def ormqr(input: Array, tau: Array, other: Array, left: bool = True, transpose: bool = False) -> Array:
    """Q times `other`, or `other` times Q (left=False); Q, or its adjoint (transpose), is square, of reflections.

    Shape: input (*, m, k), tau (*, k), other (*, m, n) or, with left=False, (*, n, m); result as `other`.
    """
    if input.ndim < 2:
        raise RuntimeError("torch.ormqr: input must have at least 2 dimensions.")
    if other.ndim < 2:
        raise RuntimeError("torch.ormqr: other must have at least 2 dimensions.")
    size = other.shape[-2 if left else -1]
    if input.shape[-2] != size:
        side = "2" if left else "1"
        raise RuntimeError(f"torch.ormqr: other.shape[-{side}] must be equal to input.shape[-2]")
    if tau.shape[-1] > size:
        raise RuntimeError(
            f"torch.ormqr: other.shape[-{2 if left else 1}] must be greater than or equal to tau.shape[-1]"
        )
    if tau.shape != (*input.shape[:-2], tau.shape[-1]) or other.shape[:-2] != input.shape[:-2]:
        raise RuntimeError(
            f"torch.ormqr: Expected batch dimensions of input, tau and other to be equal, but got {list(input.shape)}, "
            f"{list(tau.shape)} and {list(other.shape)}"
        )
    if tau.shape[-1] != min(size, input.shape[-1]):
        raise RuntimeError(
            f"torch.ormqr: tau.shape[-1] must be equal to min(other.shape[-{2 if left else 1}], input.shape[-1])"
        )
    for name, array in (("tau", tau), ("other", other)):
        if array.dtype != input.dtype:
            raise RuntimeError(f"torch.ormqr: Expected input and {name} to have the same dtype")
    require_floating(input, "ormqr_cpu")
    if left:
        return _reflected(input, tau, other, adjoint=transpose)
    return adjoint_of(_reflected(input, tau, adjoint_of(other), adjoint=not transpose))
