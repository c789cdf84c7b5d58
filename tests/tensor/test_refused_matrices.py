"""Matrices that cannot be factored or solved with raise LinAlgError at the call, so that a script can mend them."""

from __future__ import annotations

from collections.abc import Callable

import jax
import pytest

import funcgrad as torch
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
    assert torch.linalg.cholesky_ex(torch.tensor(INDEFINITE)).info.item() == 1
    assert torch.linalg.solve_ex(torch.tensor(SINGULAR), torch.ones(2)).info.item() == 2


def test_inside_of_transformations_there_is_nothing_to_look_at() -> None:
    assert not torch.func.vmap(torch.linalg.inv)(torch.zeros(2, 2, 2)).isfinite().all()
    assert not jax.numpy.isfinite(jax.jit(torch.linalg.inv)(jax.numpy.zeros((2, 2)))).all()


def test_the_class_has_torchs_name() -> None:
    assert LinAlgError.__name__ == "_LinAlgError"
    assert torch.linalg.LinAlgError is LinAlgError
