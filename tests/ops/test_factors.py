"""Factors of matrices have torch's derivatives: of what they solve, and of values that are equal."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import funcgrad as torch


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_factors_have_the_gradients_of_their_product_above_the_diagonal_too(upper: bool, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    lower = torch.randn(2, 4, 4, dtype=dtype).tril() + 3 * torch.eye(4)
    factor = (lower.mH if upper else lower).clone().requires_grad_()
    right = torch.randn(4, 3, dtype=dtype, requires_grad=True)
    weight, second = torch.randn(2, 4, 3, dtype=dtype), torch.randn(2, 4, 4, dtype=dtype)

    def derivatives(solved: torch.Tensor) -> list[torch.Tensor]:
        first = torch.autograd.grad(solved, (right, factor), weight, create_graph=True)
        return [*first, *torch.autograd.grad(first[1], (right, factor), second)]

    product = factor.mH @ factor if upper else factor @ factor.mH
    expected = derivatives(torch.linalg.solve(product, right.expand(2, 4, 3)))
    for found, wanted in zip(derivatives(torch.cholesky_solve(right, factor, upper)), expected, strict=True):
        np.testing.assert_allclose(found.detach().numpy(), wanted.detach().numpy(), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (lambda a: torch.linalg.eigh(a)[0].sum(), torch.eye(3)),
        (lambda a: torch.linalg.eigh(a)[0].prod(), 4 * torch.eye(3)),
        (lambda a: torch.linalg.svd(a)[1].sum(), torch.eye(3)),
        (lambda a: torch.linalg.eig(a)[0].real.sum(), torch.eye(3)),
    ],
)
def test_values_that_are_equal_have_a_gradient_where_nobody_asks_for_their_vectors(
    values: Callable[[torch.Tensor], torch.Tensor], expected: torch.Tensor
) -> None:
    matrix = (2 * torch.eye(3)).requires_grad_()
    (found,) = torch.autograd.grad(values(matrix), matrix)
    assert torch.allclose(found, expected), found
