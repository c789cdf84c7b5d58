"""The exponential of a matrix is exact to rounding, whatever its norm."""

from __future__ import annotations

import pytest

import funcgrad as torch


@pytest.mark.parametrize(("dtype", "error"), [(torch.float32, 3e-7), (torch.float64, 1e-14)])
@pytest.mark.parametrize("angle", [0.0, 0.1, 3.0, 5.3, 7.0, 7.8, 10.6, 15.0, 60.0])
def test_the_exponential_of_a_turn_is_the_rotation(angle: float, dtype: torch.dtype, error: float) -> None:
    turn = torch.tensor([[0.0, -1.0], [1.0, 0.0]], dtype=dtype)
    angles = torch.tensor([angle, -angle / 2], dtype=dtype)
    found = torch.linalg.matrix_exp(angles[:, None, None] * turn)
    expected = angles.cos()[:, None, None] * torch.eye(2, dtype=dtype) + angles.sin()[:, None, None] * turn
    assert (found - expected).abs().max().item() < error * max(1, angle / 4)


def test_its_gradient_goes_through_all_squarings() -> None:
    x = torch.tensor([0.5, -40.0, 11.0], dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(torch.linalg.matrix_exp(x[:, None, None]).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(slope.sum(), x)
    assert torch.allclose(slope, x.exp(), rtol=1e-12) and torch.allclose(second, x.exp(), rtol=1e-12)


def test_a_norm_beyond_all_squarings_gives_nan() -> None:
    assert torch.linalg.matrix_exp(torch.eye(2) * 1e12).isnan().any()
    assert torch.linalg.matrix_exp(torch.zeros(2, 0, 0)).shape == (2, 0, 0)
