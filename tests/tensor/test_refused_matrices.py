"""Matrices that cannot be factored or solved with raise LinAlgError at the call, so that a script can mend them."""

from __future__ import annotations

from collections.abc import Callable

import jax
import numpy as np
import pytest

import funcgrad as torch
from funcgrad._ops import solving
from funcgrad.linalg import LinAlgError

SINGULAR, INDEFINITE = [[1.0, 2.0], [2.0, 4.0]], [[1.0, 2.0], [2.0, 1.0]]
NAN = torch.full((2, 2), float("nan"))
REFUSED: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "inv": (lambda: torch.linalg.inv(torch.tensor(SINGULAR)), LinAlgError, "inv: The diagonal element 2 is zero"),
    "inverse": (lambda: torch.zeros(3, 2, 2).inverse(), LinAlgError, r"\(Batch element 0\): The diagonal element 1"),
    "solve": (
        lambda: torch.linalg.solve(torch.stack([torch.eye(2), torch.zeros(2, 2)]), torch.ones(2, 2)), LinAlgError,
        r"torch.linalg.solve: \(Batch element 1\): The solver failed because the input matrix is singular",
    ),
    "tensorsolve": (lambda: torch.linalg.tensorsolve(torch.zeros(2, 2), torch.ones(2)), LinAlgError, "singular"),
    "tensorinv": (lambda: torch.linalg.tensorinv(torch.zeros(4, 2, 2), 1), LinAlgError, "singular"),
    "matrix_power": (lambda: torch.linalg.matrix_power(torch.zeros(2, 2), -1), LinAlgError, "linalg.inv: "),
    "lu_factor": (lambda: torch.linalg.lu_factor(torch.zeros(2, 2)), RuntimeError, r"U\[1,1\] is zero"),
    "cholesky": (
        lambda: torch.linalg.cholesky(torch.tensor(INDEFINITE)), LinAlgError,
        "linalg.cholesky: The factorization could not be completed because the input is not positive-definite "
        r"\(the leading minor of order 2 is not positive-definite\).",
    ),
    "cholesky_ex": (lambda: torch.linalg.cholesky_ex(-torch.eye(2), check_errors=True), LinAlgError, "of order 1"),
    "cholesky_inverse": (lambda: torch.cholesky_inverse(torch.zeros(2, 2)), LinAlgError, "diagonal element 1 is zero"),
    "svd": (lambda: torch.linalg.svd(NAN), LinAlgError, "the input matrix contained non-finite values"),
    "eig": (lambda: torch.linalg.eig(NAN), RuntimeError, "should not contain infs or NaNs"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_factored_is_refused_at_the_call(name: str) -> None:
    refused, kind, words = REFUSED[name]
    with pytest.raises(kind, match=words):
        refused()


def test_a_script_adds_to_the_diagonal_until_it_succeeds() -> None:
    covariance, jitter = torch.ones(3, 3, requires_grad=True), 1e-8
    while True:
        try:
            factor = torch.linalg.cholesky(covariance - torch.eye(3) * (1e-3 - jitter))
            break
        except RuntimeError:
            jitter *= 10
    factor.sum().backward()
    assert jitter == pytest.approx(1e-2) and covariance.grad is not None and covariance.grad.isfinite().all()


def test_the_functions_that_tell_do_not_raise() -> None:
    assert torch.linalg.inv_ex(torch.tensor(SINGULAR)).info.item() == 2
    assert torch.linalg.solve_ex(torch.tensor(SINGULAR), torch.ones(2)).info.item() == 2


@pytest.mark.parametrize("upper", [False, True])
def test_a_factor_stops_at_the_first_minor_that_is_not_positive(upper: bool) -> None:
    matrices = torch.tensor([[[4.0, 2, 2], [2, 5, 3], [2, 3, -9]], [[4.0, 2, 1], [2, 1, 3], [1, 3, 5]]])
    factors, info = torch.linalg.cholesky_ex(matrices, upper=upper)
    factors = factors.mT if upper else factors
    assert info.tolist() == [3, 2]
    assert factors[0].tolist() == [[2.0, 0, 0], [1, 2, 0], [1, 1, -11]]  # torch's numbers
    assert factors[1].tolist() == [[2.0, 0, 0], [1, 0, 0], [0.5, 3, 5]]


def test_what_has_a_factor_beside_what_has_none_is_factored() -> None:
    matrices = torch.stack([torch.eye(2) * 4, torch.tensor(INDEFINITE)]).requires_grad_()
    factors, info = torch.linalg.cholesky_ex(matrices)
    factors[0].sum().backward()
    assert info[0].item() == 0 and factors[0].tolist() == [[2.0, 0.0], [0.0, 2.0]]
    assert matrices.grad is not None and matrices.grad[0].tolist() == [[0.25, 0.25], [0.25, 0.25]]


@pytest.mark.parametrize("shape", [(0, 0), (0, 3, 3), (2, 0, 0)])
def test_what_has_no_elements_is_factored(shape: tuple[int, ...]) -> None:
    factors, info = torch.linalg.cholesky_ex(torch.zeros(shape))
    assert (factors.shape, info.shape, info.sum().item()) == (shape, shape[:-2], 0)


def test_inside_of_transformations_there_is_nothing_to_look_at() -> None:
    assert not torch.func.vmap(torch.linalg.inv)(torch.zeros(2, 2, 2)).isfinite().all()
    assert not jax.numpy.isfinite(jax.jit(torch.linalg.inv)(jax.numpy.zeros((2, 2)))).all()


def test_the_class_has_torchs_name() -> None:
    assert LinAlgError.__name__ == "_LinAlgError"
    assert torch.linalg.LinAlgError is LinAlgError


@pytest.mark.parametrize("kind", ["float32", "complex128"])
def test_the_loop_stops_where_lapack_does(kind: str) -> None:
    matrices = np.array([[[4, 2, 2], [2, 5, 3], [2, 3, -9]], [[4, 2, 1], [2, 1, 3], [1, 3, 5]], np.eye(3)], kind)
    if kind == "complex128":
        matrices[0, 1, 0], matrices[0, 0, 1] = 2 + 1j, 2 - 1j
    with jax.enable_x64(True):
        for found, wanted in zip(solving._minor_by_minor(matrices), solving._by_lapack(matrices), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_what_a_factorisation_tells_can_be_vectorised() -> None:
    matrices = torch.tensor([[[4.0, 2, 2], [2, 5, 3], [2, 3, -9]], [[4.0, 2, 1], [2, 1, 3], [1, 3, 5]]])
    factors, info = torch.func.vmap(torch.linalg.cholesky_ex)(matrices)
    whole = torch.linalg.cholesky_ex(matrices)
    assert info.tolist() == whole.info.tolist() == [3, 2]
    assert factors.tolist() == whole.L.tolist()
