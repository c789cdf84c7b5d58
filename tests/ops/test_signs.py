"""Signs of zeros, as torch has them."""

from __future__ import annotations

import math

import funcgrad as torch


def test_the_sign_of_a_negative_zero_is_zero() -> None:
    found = torch.tensor([-0.0, 0.0, -2.0, math.nan]).sign().tolist()
    assert found == [0.0, 0.0, -1.0, 0.0]
    assert math.copysign(1, found[0]) == 1


def test_no_probability_is_beyond_its_bounds_by_rounding() -> None:
    x = torch.linspace(-8, 8, 100_001, requires_grad=True)
    below, above = torch.erf(x).aminmax()
    assert (below.item(), above.item()) == (-1, 1)
    for chance in (torch.special.ndtr(x), torch.distributions.Normal(0.0, 1.0).cdf(x)):
        assert (chance.min().item(), chance.max().item()) == (0, 1)
    (slope,) = torch.autograd.grad(torch.erf(x)[[0, 25_000]].sum(), x)
    assert slope[0].item() > 0
    assert math.isclose(slope[25_000].item(), 2 / math.sqrt(math.pi) * math.exp(-16), rel_tol=1e-5)


def test_a_quotient_that_is_rounded_down_to_zero_keeps_its_sign() -> None:
    one, other = torch.tensor([-0.3, 0.3, -0.0, 0.0, -0.0]), torch.tensor([-0.7, 0.7, 2.0, -2.0, -2.0])
    for found in (one // other, torch.div(one.double(), other.double(), rounding_mode="floor")):
        assert [math.copysign(1, x) for x in found.tolist()] == [1, 1, -1, -1, 1]
        assert found.tolist() == [0, 0, 0, 0, 0]


def test_half_a_hermitian_signal_is_the_conjugate_of_the_transform() -> None:
    for found in (torch.fft.ihfft(torch.arange(4.0)), torch.fft.ihfftn(torch.arange(4.0), norm="ortho")):
        assert [math.copysign(1, x) for x in found.imag.tolist()] == [-1, -1, -1]
