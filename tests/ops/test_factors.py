"""Solving by a Cholesky factor has the derivatives of the product of the factors, as in torch."""

from __future__ import annotations

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
