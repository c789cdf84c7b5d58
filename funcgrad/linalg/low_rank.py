"""Randomized decompositions of low rank: svd_lowrank, pca_lowrank; lobpcg's extreme eigenvalues."""

from __future__ import annotations

import math
from typing import Any

from funcgrad._tensor.functions import lookup
from funcgrad._tensor.overriding import all_ask
from funcgrad._tensor.tensor import Tensor
from funcgrad.random.functions import randn

__all__ = ["lobpcg", "pca_lowrank", "svd_lowrank"]

_linalg = lookup("linalg")


def _range_basis(A: Tensor, q: int, niter: int, M: Tensor | None) -> Tensor:
    """Return an orthonormal basis of nearly the range of A - M: Halko et al. 2009, arXiv:0909.4061, algorithm 4.4."""

    def orthonormal(x: Tensor) -> Tensor:
        return _linalg("qr")(x).Q

    guess = randn(A.shape[-1], q, dtype=A.dtype, device=A.device)
    basis = orthonormal(_applied(A, guess, M))
    for _ in range(niter):
        basis = orthonormal(_applied(A.mH, basis, None if M is None else M.mH))
        basis = orthonormal(_applied(A, basis, M))
    return basis


def _applied(A: Tensor, x: Tensor, M: Tensor | None) -> Tensor:
    return A.matmul(x) if M is None else A.matmul(x) - M.matmul(x)


def svd_lowrank(
    A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Return U, S and V with A - M about U diag(S) V^H, for the `q` largest singular values.

    Shape: A (*, m, n), U (*, m, q), S (*, q), V (*, n, q).
    """
    q, niter = 6 if q is None else q, 2 if niter is None else niter
    rows, columns = A.shape[-2:]
    shift = None if M is None else M.expand(A.shape)
    if rows < columns:
        V, S, U = _of_tall(A.mH, q, niter, None if shift is None else shift.mH)
        return U, S, V
    return _of_tall(A, q, niter, shift)


def _of_tall(A: Tensor, q: int, niter: int, M: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
    basis = _range_basis(A, q, niter, M)
    U, S, Vh = _linalg("svd")(_applied(basis.mH, A, None) if M is None else basis.mH.matmul(A - M), False)
    return basis.matmul(U), S, Vh.mH


def pca_lowrank(
    A: Tensor, q: int | None = None, center: bool = True, niter: int = 2
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Return U, S and V of the (centred) rows of A: V's columns are the principal directions.

    Raises ValueError for a `q` or `niter` that makes no sense. Shape: as `svd_lowrank`.
    """
    rows, columns = A.shape[-2:]
    q = min(6, rows, columns) if q is None else q
    if not 0 <= q <= min(rows, columns):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(rows, columns)}")
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    return svd_lowrank(A - A.mean(dim=(-2,), keepdim=True) if center else A, q, niter)


def lobpcg(
    A: Tensor, k: int | None = None, B: Tensor | None = None, X: Tensor | None = None, n: int | None = None,
    iK: Tensor | None = None, niter: int | None = None, tol: float | None = None, largest: bool | None = None,
    method: str | None = None, tracker: Any = None, ortho_iparams: Any = None, ortho_fparams: Any = None,
    ortho_bparams: Any = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return the `k` largest (or smallest) eigenvalues of a symmetric A, or of A x = b B x, and their vectors.

    Here by a full decomposition, which is exact; what steers torch's iteration is accepted, and the vectors that it
    would begin with are drawn.
    """
    size = A.shape[-1]
    count = (1 if X is None else X.shape[-1]) if k is None else k
    width = (count if n is None else n) if X is None else X.shape[-1]
    if size < 3 * width:
        raise ValueError(f"LOBPCG algorithm is not applicable when the number of A rows (={size}) is smaller than 3 x "
                         f"the number of requested eigenpairs (={width})")  # fmt: skip
    if X is None:
        for _ in range(math.prod(A.shape[:-2])):
            randn(size, width, dtype=A.dtype, device=A.device)
    if B is None:
        values, vectors = _linalg("eigh")(A)
    else:
        root = _linalg("cholesky")(B)
        inner = _linalg("solve_triangular")(root, A, upper=False)
        values, turned = _linalg("eigh")(_linalg("solve_triangular")(root, inner.mH, upper=False))
        vectors = _linalg("solve_triangular")(root.mH, turned, upper=True)
    if largest is None or largest:
        return values.flip(-1)[..., :count], vectors.flip(-1)[..., :count]
    return values[..., :count], vectors[..., :count]


all_ask(globals(), __all__)
