"""Matrices that cannot be factored or solved with: refused at the call, which waits for them, as torch does on a GPU.

The check reads what the call computes anyway (XLA merges the factorisations of one program). The `_ex` functions do not
wait, and inside of JAX's transformations there are no numbers to look at: what failed there is NaN.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad._base.dtypes import bfloat16, float16
from funcgrad._base.errors import LinAlgError
from funcgrad._ops.table import TABLE
from funcgrad._tensor.call import call
from funcgrad._tensor.interop import can_be_read, to_host
from funcgrad._tensor.tensor import Tensor


def refuse_singular(matrices: Any, message: str, kind: type[Exception] = LinAlgError) -> None:
    """Raise `kind` for the first matrix whose LU factors have a zero on the diagonal: its place, from 1, is `{0}`."""
    if _has_numbers(matrices):
        _raise_first(_infos("lu_factor_ex", matrices), message, kind)


def refuse_indefinite(matrices: Any, function: str, upper: bool = False) -> None:
    """Raise LinAlgError for the first matrix that is not positive definite."""
    if not _has_numbers(matrices):
        return
    failed = to_host(call(TABLE["is_indefinite"], (_wide(matrices),), (upper,)))
    if failed.any():
        batch = np.flatnonzero(failed)[0]
        first = to_host(matrices.detach()).reshape(-1, *matrices.shape[-2:])[batch]
        order = np.zeros(failed.shape, np.int64)
        order.flat[batch] = _first_minor(first.conj().T if upper else first)
        _raise_first(order, f"{function}: {_INDEFINITE}", LinAlgError)


def refuse_zeros(factors: Any, function: str) -> None:
    """Raise LinAlgError for the first triangular matrix with a zero on its diagonal."""
    if _has_numbers(factors):
        zeros = to_host(factors.detach().diagonal(dim1=-2, dim2=-1)) == 0
        _raise_first(np.where(zeros.any(-1), zeros.argmax(-1) + 1, 0), f"{function}: {_SINGULAR}", LinAlgError)


def refuse_nan(matrices: Any, values: Any, message: str, kind: type[Exception] = LinAlgError) -> None:
    """Raise `kind` for the first matrix with a NaN in it; `values` are its singular values or eigenvalues."""
    if _has_numbers(matrices) and np.isnan(to_host(values.detach())).any():
        _raise_first(np.asarray(np.isnan(to_host(matrices.detach())).any((-2, -1))), message, kind)


def unknowns_last(A: Any, dims: Any) -> Any:
    """Return what `linalg.tensorsolve` solves with: `dims` moved to the end."""
    return A if dims is None else A.movedim(dims, tuple(range(A.ndim - len(dims), A.ndim)))


_SINGULAR = (
    "The diagonal element {0} is zero, the inversion could not be completed because the input matrix is singular."
)
_UNSOLVABLE = "The solver failed because the input matrix is singular."
_UNFACTORED = (
    "U[{0},{0}] is zero and using it on lu_solve would result in a division by zero. If you still want to perform the "
    "factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)"
)
_INDEFINITE = (
    "The factorization could not be completed because the input is not positive-definite (the leading minor of order "
    "{0} is not positive-definite)."
)


def _has_numbers(matrices: Any) -> bool:
    return isinstance(matrices, Tensor) and matrices.ndim > 1 and matrices.numel() > 0 and can_be_read(matrices)


def _infos(row: str, matrices: Tensor, *statics: Any) -> np.ndarray[Any, Any]:
    """Return, of each matrix, where its factorisation failed (0: nowhere)."""
    return to_host(call(TABLE[row], (_wide(matrices),), statics)[-1])


def _wide(matrices: Tensor) -> Tensor:
    return matrices.detach().float() if matrices.dtype in (float16, bfloat16) else matrices.detach()


def _raise_first(infos: np.ndarray[Any, Any], message: str, kind: type[Exception]) -> None:
    if infos.any():
        batch = int(np.flatnonzero(infos)[0])
        function, _, text = message.partition(": ")
        element = f"(Batch element {batch}): " if infos.ndim else ""
        raise kind(f"{function}: {element}{text.format(int(infos.flat[batch]))}")


def _first_minor(matrix: np.ndarray[Any, Any]) -> int:
    """Return the order of the first leading minor that is not positive definite."""
    for order in range(1, len(matrix) + 1):
        minor = matrix[:order, :order]
        try:
            np.linalg.cholesky(minor)
        except np.linalg.LinAlgError:
            return order
        if not np.isfinite(minor).all():
            return order
    return len(matrix)


REFUSED = {  # what a function of the table checks when it has been called
    "inv": "refuse_singular(A, INV)",
    "inv_ex": "if check_errors: refuse_singular(A, INV_EX)",
    "matrix_power": "if n < 0: refuse_singular(input, INV)",
    "tensorinv": "refuse_singular(A.reshape(A.shape[:ind].numel(), -1), INV)",
    "solve": "refuse_singular(A, SOLVE)",
    "solve_ex": "if check_errors: refuse_singular(A, SOLVE_EX)",
    "tensorsolve": "refuse_singular(unknowns_last(A, dims).reshape(B.numel(), -1), SOLVE)",
    "lu_factor": "refuse_singular(A, LU_FACTOR, RuntimeError)",
    "lu_factor_ex": "if check_errors: refuse_singular(A, LU_FACTOR_EX, RuntimeError)",
    "linalg_cholesky": "refuse_indefinite(A, 'linalg.cholesky', upper)",
    "cholesky": "refuse_indefinite(input, 'cholesky', upper)",
    "cholesky_ex": "if check_errors: refuse_indefinite(A, 'linalg.cholesky_ex', upper)",
    "cholesky_inverse": "refuse_zeros(L, 'cholesky_inverse')",
    "svd": "refuse_nan(A, result[1], SVD); result = with_free_singular_phases(result, True)",
    "old_svd": "refuse_nan(input, result[1], SVD); result = with_free_singular_phases(result, False)",
    "svdvals": "refuse_nan(A, result, SVD)",
    "eig": "refuse_nan(A, result[0], EIG, RuntimeError); result = with_free_phases(result, 'linalg_eig')",
    "eigvals": "refuse_nan(A, result, EIG, RuntimeError)",
}
SCOPE = {
    **{f.__name__: f for f in (refuse_singular, refuse_indefinite, refuse_zeros, refuse_nan, unknowns_last)},
    "INV": f"linalg.inv: {_SINGULAR}", "INV_EX": f"linalg.inv_ex: {_SINGULAR}",
    "SOLVE": f"torch.linalg.solve: {_UNSOLVABLE}", "SOLVE_EX": f"torch.linalg.solve_ex: {_UNSOLVABLE}",
    "LU_FACTOR": f"torch.linalg.lu_factor: {_UNFACTORED}",
    "LU_FACTOR_EX": f"torch.linalg.lu_factor_ex: {_UNFACTORED}",
    "SVD": "linalg.svd: The algorithm failed to converge because the input matrix contained non-finite values.",
    "EIG": "torch.linalg.eig: input tensor should not contain infs or NaNs.",
}  # fmt: skip
