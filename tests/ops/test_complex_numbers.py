"""Complex numbers: a power by a small number is a product, and sizes are infinite where one part is."""

from __future__ import annotations

import funcgrad as torch


def test_a_square_of_complex_numbers_is_exact() -> None:
    z = torch.tensor([1j, 1 + 2j])
    assert (z**2).tolist() == [-1 + 0j, -3 + 4j]


def test_the_gradient_of_a_complex_square() -> None:
    z = torch.tensor([1j, 1 + 2j], requires_grad=True)
    (z**2).abs().sum().backward()
    assert torch.allclose(z.grad, torch.tensor([2j, 2 + 4j]))


def test_a_complex_number_with_an_infinite_part_is_infinite() -> None:
    inf, nan = float("inf"), float("nan")
    z = torch.tensor([complex(inf, nan), complex(nan, -inf), complex(-inf, 1.0), complex(3.0, -4.0)])
    assert z.abs().tolist() == [inf, inf, inf, 5.0]
    assert torch.tensor([complex(nan, 1.0)]).abs().isnan().all()


def test_the_gradient_of_acosh_has_the_sign_of_its_branch() -> None:
    z = torch.tensor([0.4 - 0.5j, -0.7 + 0.3j, -2.0 + 0.1j, 0.5 + 0j], requires_grad=True)
    (gradient,) = torch.autograd.grad(torch.acosh(z).real.sum(), z)
    expected = [0.16236363 - 0.9137327j, -0.35129637 + 1.1144404j, -0.57448363 + 0.03825659j, 1.1547005j]
    assert torch.allclose(gradient, torch.tensor(expected))
