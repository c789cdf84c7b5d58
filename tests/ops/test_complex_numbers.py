"""Complex numbers: a power by a small number is a product, and sizes are infinite where one part is."""

from __future__ import annotations

import pytest

import funcgrad as torch


def test_a_square_of_complex_numbers_is_exact() -> None:
    z = torch.tensor([1j, 1 + 2j])
    assert (z**2).tolist() == [-1 + 0j, -3 + 4j]


def test_a_power_that_varies_is_as_exact_as_one_that_is_known() -> None:
    z = torch.tensor([1j, 3 + 0j])
    expected = {2: [-1, 9], 3: [-1j, 27], -1: [-1j, 1 / 3], -2: [-1, 1 / 9], 0.5: [0.5**0.5 * (1 + 1j), 3**0.5]}
    for exponent, powers in expected.items():
        assert torch.equal(z**exponent, torch.tensor(powers, dtype=torch.complex64)), exponent
    for exponent in expected:
        w = z.clone().requires_grad_()
        (slope,) = torch.autograd.grad((w**exponent).real.sum(), w)
        assert torch.allclose(slope, (exponent * z ** (exponent - 1)).conj())


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


def test_a_conjugate_says_so_until_it_is_resolved() -> None:
    numbers = torch.tensor([[1 + 2j, 3 - 4j]])
    turned = numbers.conj()
    marked = (turned, turned[0], turned.view(2), turned.detach(), numbers.mH, numbers.T.conj())
    plain = (numbers, turned.conj(), turned.resolve_conj(), turned.clone(), turned * 1, numbers.conj_physical())
    assert all(x.is_conj() for x in marked) and not any(x.is_conj() for x in plain)
    assert turned.imag.is_neg() and torch.is_neg(turned.imag[0]) and turned.imag.tolist() == [[-2.0, 4.0]]
    assert not (turned.real.is_neg() or numbers.imag.is_neg() or turned.imag.resolve_neg().is_neg())


def test_a_conjugate_is_resolved_before_its_parts_are_shown() -> None:
    turned = torch.tensor([1 + 2j]).conj()
    with pytest.raises(RuntimeError, match=r"has conjugate bit set. Use tensor.resolve_conj\(\).numpy\(\) instead."):
        turned.numpy()
    with pytest.raises(RuntimeError, match=r"has negative bit set. Use tensor.resolve_neg\(\).numpy\(\) instead."):
        turned.imag.numpy()
    with pytest.raises(RuntimeError, match="work on unresolved conjugated tensors"):
        torch.view_as_real(turned)
    with pytest.raises(RuntimeError, match="view is not supported for conjugate view tensors when converting"):
        turned.view(torch.float32)
    assert turned.numpy(force=True)[0] == turned.resolve_conj().numpy()[0] == 1 - 2j
    assert torch.view_as_real(turned.resolve_conj()).tolist() == [[1.0, -2.0]]
