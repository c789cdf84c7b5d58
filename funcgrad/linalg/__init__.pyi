"""Written by `python -m funcgrad.explain.stubs`; do not edit."""

from collections.abc import Sequence
from funcgrad._base.dtypes import dtype
from funcgrad._base.errors import LinAlgError as LinAlgError
from funcgrad._tensor.tensor import (
    Tensor,
    _CholeskyExResult,
    _EigResult,
    _EighResult,
    _InvExResult,
    _LdlFactorExResult,
    _LdlFactorResult,
    _LstsqResult,
    _LuFactorExResult,
    _LuFactorResult,
    _LuResult,
    _QrResult,
    _SlogdetResult,
    _SolveExResult,
    _SvdResult,
)
from typing import Any

def cholesky(A: Tensor, *, upper: bool = False, out: Any = None) -> Tensor: ...
def cholesky_ex(
    A: Tensor,
    *,
    upper: bool = False,
    check_errors: bool = False,
    out: Any = None,
) -> _CholeskyExResult: ...
def cond(A: Tensor, p: Any = None, *, out: Any = None) -> Tensor: ...
def cross(input: Tensor, other: Tensor, *, dim: int = -1, out: Any = None) -> Tensor: ...
def det(A: Tensor, *, out: Any = None) -> Tensor: ...
def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1, out: Any = None) -> Tensor: ...
def eig(A: Tensor, *, out: Any = None) -> _EigResult: ...
def eigh(A: Tensor, UPLO: str = 'L', *, out: Any = None) -> _EighResult: ...
def eigvals(A: Tensor, *, out: Any = None) -> Tensor: ...
def eigvalsh(A: Tensor, UPLO: str = 'L', *, out: Any = None) -> Tensor: ...
def householder_product(input: Tensor, tau: Tensor, *, out: Any = None) -> Tensor: ...
def inv(A: Tensor, *, out: Any = None) -> Tensor: ...
def inv_ex(A: Tensor, *, check_errors: bool = False, out: Any = None) -> _InvExResult: ...
def ldl_factor(A: Tensor, *, hermitian: bool = False, out: Any = None) -> _LdlFactorResult: ...
def ldl_factor_ex(
    A: Tensor,
    *,
    hermitian: bool = False,
    check_errors: bool = False,
    out: Any = None,
) -> _LdlFactorExResult: ...
def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False, out: Any = None) -> Tensor: ...
def lstsq(
    A: Tensor,
    B: Tensor,
    rcond: float | None = None,
    *,
    driver: str | None = None,
    out: Any = None,
) -> _LstsqResult: ...
def lu(A: Tensor, *, pivot: bool = True, out: Any = None) -> _LuResult: ...
def lu_factor(A: Tensor, *, pivot: bool = True, out: Any = None) -> _LuFactorResult: ...
def lu_factor_ex(
    A: Tensor,
    *,
    pivot: bool = True,
    check_errors: bool = False,
    out: Any = None,
) -> _LuFactorExResult: ...
def lu_solve(
    LU: Tensor,
    pivots: Tensor,
    B: Tensor,
    *,
    left: bool = True,
    adjoint: bool = False,
    out: Any = None,
) -> Tensor: ...
def matmul(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor: ...
def matrix_exp(A: Tensor, *, out: Any = None) -> Tensor: ...
def matrix_norm(
    input: Tensor,
    ord: Any = 'fro',
    dim: int | Sequence[int] = ...,
    keepdim: bool = False,
    *,
    dtype: dtype | None = None,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | None = None,
    out: Any = None,
) -> Tensor: ...
def matrix_power(input: Tensor, n: int, *, out: Any = None) -> Tensor: ...
def matrix_rank(
    A: Tensor,
    tol: Tensor | None = None,
    hermitian: bool = False,
    *,
    atol: Tensor | None = None,
    rtol: Tensor | None = None,
    out: Any = None,
) -> Tensor: ...
def multi_dot(tensors: Sequence[Tensor], *, out: Any = None) -> Tensor: ...
def norm(
    input: Tensor,
    ord: Any = None,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: dtype | None = None,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | None = None,
    out: Any = None,
) -> Tensor: ...
def pinv(
    A: Tensor,
    rcond: Tensor | None = None,
    hermitian: bool = False,
    *,
    atol: Tensor | None = None,
    rtol: Tensor | None = None,
    out: Any = None,
) -> Tensor: ...
def qr(A: Tensor, mode: str = 'reduced', *, out: Any = None) -> _QrResult: ...
def slogdet(A: Tensor, *, out: Any = None) -> _SlogdetResult: ...
def solve(A: Tensor, B: Tensor, *, left: bool = True, out: Any = None) -> Tensor: ...
def solve_ex(
    A: Tensor,
    B: Tensor,
    *,
    left: bool = True,
    check_errors: bool = False,
    out: Any = None,
) -> _SolveExResult: ...
def solve_triangular(
    A: Tensor,
    B: Tensor,
    *,
    upper: bool,
    left: bool = True,
    unitriangular: bool = False,
    out: Any = None,
) -> Tensor: ...
def svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None, out: Any = None) -> _SvdResult: ...
def svdvals(A: Tensor, *, driver: str | None = None, out: Any = None) -> Tensor: ...
def tensorinv(A: Tensor, ind: int = 2, *, out: Any = None) -> Tensor: ...
def tensorsolve(A: Tensor, B: Tensor, dims: tuple[int, ...] | None = None, *, out: Any = None) -> Tensor: ...
def vander(x: Tensor, *, N: int | None = None, out: Any = None) -> Tensor: ...
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1, out: Any = None) -> Tensor: ...
def vector_norm(
    x: Tensor,
    ord: float = 2,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: dtype | None = None,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | None = None,
    out: Any = None,
) -> Tensor: ...
