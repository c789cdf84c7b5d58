"""Where functions have corners and numbers are undefined, gradients are torch's: as torch 2.13 gives them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf, nan

import pytest

import funcgrad as torch
from funcgrad import Tensor
from funcgrad._base.config import settings
from funcgrad.nn import functional as F

Numbers = list[float]
LINE = [nan, -2.0, -1.0, 0.0, 1.0, 2.0, 5.0]


def constant(number: float) -> Numbers:
    return [float(number)] * 7


def gradients(function: Callable[..., Tensor], *given: Numbers) -> list[Numbers]:
    leaves = [torch.tensor(numbers, requires_grad=True) for numbers in given]
    return [found.tolist() for found in torch.autograd.grad(function(*leaves).sum(), leaves)]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((constant(-1), constant(1)), ([0, 0, 1, 1, 1, 0, 0], [0, 1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 1, 1])),
        ((constant(1), constant(1)), ([0, 0, 0, 0, 1, 0, 0], constant(0), [0, 0, 0, 0, 0, 1, 1])),
        ((constant(2), constant(1)), (constant(0), constant(0), constant(1))),
        (([-1, nan, nan, 0, 1, 2, 5], constant(1)), ([0, 0, 0, 1, 1, 0, 0], constant(0), [0, 0, 0, 0, 0, 1, 1])),
    ],
)
def test_bounds_of_clamp_share_its_gradient_as_in_torch(
    given: tuple[Numbers, ...], expected: tuple[Numbers, ...]
) -> None:
    bounds = [[float(number) for number in numbers] for numbers in given]
    assert gradients(torch.clamp, LINE, *bounds) == [*expected]


def test_a_clamp_between_numbers_passes_nothing_for_nan() -> None:
    assert gradients(lambda x: x.clamp(-1, 1), LINE) == [[0, 0, 1, 1, 1, 0, 0]]
    assert gradients(lambda x: x.clamp(min=0), LINE) == [[0, 0, 0, 1, 1, 1, 1]]
    assert gradients(lambda x: x.clamp(2, -2), LINE) == [constant(0)]
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    (first,) = torch.autograd.grad(x.clamp(-1, 3).pow(3).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert first.tolist() == [3, 0] and second.tolist() == [6, 0]


@pytest.mark.parametrize(
    ("function", "given", "expected"),
    [
        (torch.maximum, ([nan, 1, 1, 2], [1, nan, 1, 3]), ([1, 1, 0.5, 0], [1, 1, 0.5, 1])),
        (torch.minimum, ([nan, 1, 1, 2], [1, nan, 1, 3]), ([1, 1, 0.5, 1], [1, 1, 0.5, 0])),
        (torch.max, ([1, nan, 2, nan],), ([0, 0.5, 0, 0.5],)),
        (torch.min, ([1, nan, 2, nan],), ([0, 0.5, 0, 0.5],)),
        (torch.max, ([1, 2, 2, -inf],), ([0, 0.5, 0.5, 0],)),
        (torch.abs, ([nan, 0, -1, inf],), ([0, 0, -1, 1],)),
        (torch.atan2, ([0, 0, 1], [0, -1, 0]), ([0, -1, 0], [0, 0, -1])),
        (partial(torch.div, rounding_mode="floor"), ([1, 0, 5], [0, 0, 2]), ([0, 0, 0], [0, 0, 0])),
        (partial(torch.div, rounding_mode="trunc"), ([1, 0, 5], [0, 0, 2]), ([0, 0, 0], [0, 0, 0])),
        (F.hardswish, ([-inf, -3, 0, 3, inf],), ([0, 0, 0.5, 1, 1],)),
        (torch.special.erfcx, ([-inf, -30],), ([-inf, -inf],)),
    ],
)
def test_gradients_at_corners_are_torchs(
    function: Callable[..., Tensor], given: tuple[Numbers, ...], expected: tuple[Numbers, ...]
) -> None:
    floats = [[float(number) for number in numbers] for numbers in given]
    assert gradients(function, *floats) == [*expected]


def test_the_slope_of_a_remainder_is_the_quotient_rounded_down_exactly() -> None:
    """0.9 / 0.1 rounds to 9 in single precision, though 0.1 goes into 0.9 only eight times."""
    given = [0.9, 0.7, -0.7, 5.0], [0.1, 0.1, 0.1, -2.0]
    assert gradients(torch.remainder, *given) == [[1, 1, 1, 1], [-8, -6, 7, 3]]
    assert gradients(lambda x: x % 2, [5.0, inf]) == [[1, 1]]
    (lost,) = gradients(lambda y: torch.tensor([inf]) % y, [2.0])
    assert lost[0] != lost[0]


@pytest.mark.parametrize(
    ("function", "at_zero"),
    [(F.elu, 1), (lambda x: F.elu(x, 2.5), 2.5), (F.selu, 1.7580993), (partial(F.celu, alpha=2.0), 1), (F.softsign, 1)],
)
def test_the_second_derivative_at_a_kink_is_zero(function: Callable[..., Tensor], at_zero: float) -> None:
    x = torch.tensor([0.0, -0.0], requires_grad=True)
    (first,) = torch.autograd.grad(function(x).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert first.tolist() == pytest.approx([at_zero] * 2) and second.tolist() == [0, 0]


def test_losses_and_entropies_have_torchs_gradients_at_the_ends() -> None:
    ends = [0.0, 1.0, 0.5]
    by_input, by_target = gradients(F.binary_cross_entropy, ends, [0.0, 1.0, 0.25])
    assert by_target == [inf, -inf, 0] and by_input == pytest.approx([0, 0, 1 / 3])
    (slopes,) = gradients(torch.special.entr, [0.0, 1.0, -1.0])
    assert slopes[:2] == [inf, -1] and slopes[2] != slopes[2]
    target = torch.tensor([0.0, 1.0, -1.0])
    assert gradients(lambda x: F.hinge_embedding_loss(x, target, reduction="sum"), [nan, 1, 0.5]) == [[1, 1, -1]]
    assert str(F.softshrink(torch.tensor([-0.25, 0.25]))) == "tensor([-0., 0.])"


def test_an_eight_bit_float_without_infinities_stops_at_its_largest_number() -> None:
    x = torch.tensor([1000.0, -1e30, inf, 465.0, 3.0, nan], requires_grad=True)
    for given in (x, x.double(), x.bfloat16(), x.half()):
        found = given.to(torch.float8_e4m3fn).float()
        assert found[:5].tolist() == [448, -448, 448, 448, 3] and found[5].isnan().item()
    assert torch.tensor([1000, -5]).to(torch.float8_e4m3fn).float().tolist() == [448, -5]
    (gradient,) = torch.autograd.grad(x.to(torch.float8_e4m3fn).float()[:5].sum(), x)
    assert gradient.tolist() == [1, 1, 1, 1, 1, 0]


def test_the_gradient_of_zeta_by_its_order() -> None:
    # central differences of SciPy's zeta, step 1e-5
    order = torch.tensor([1.5, 2.0, 3.3, 6.0, 20.0], dtype=torch.float64, requires_grad=True)
    start = torch.tensor([0.3, 1.0, 2.5, 7.0, 3.0], dtype=torch.float64)
    (gradient,) = torch.autograd.grad(torch.special.zeta(order, start).sum(), order)
    expected = [3.29203776, -0.937548254, -0.0968874887, -3.4869272e-05, -3.16357147e-10]
    assert gradient.tolist() == pytest.approx(expected, rel=1e-7)
    (by_start,) = torch.autograd.grad(torch.special.polygamma(1, start.requires_grad_()).sum(), start)
    assert by_start[1].item() == pytest.approx(-2.4041138063, rel=1e-9)


@pytest.mark.parametrize("many", [1, 30])
def test_places_in_what_is_not_sorted_are_those_of_torchs_bisection(many: int) -> None:
    boundaries, numbers = torch.tensor([3.0, -1, nan, 2, 0, 5]), torch.tensor([-2, 0, 2.5, 4, nan, 9] * many)
    for right in (False, True):
        assert torch.searchsorted(boundaries, numbers, right=right).tolist() == [0, 3, 5, 5, 6, 6] * many
    assert torch.bucketize(numbers, torch.tensor([1.0, 2.0, nan, nan])).tolist() == [4] * 6 * many
    rows = torch.searchsorted(torch.stack([boundaries, boundaries.flip(0)]), torch.stack([numbers, numbers]))
    assert rows.tolist() == [[0, 3, 5, 5, 6, 6] * many, [4, 5, 5, 6, 6, 6] * many]
    assert torch.searchsorted(boundaries[:0], numbers).tolist() == [0] * 6 * many


@pytest.mark.parametrize("masked", [lambda m, x: m * x, lambda m, x: (x.detach() > 0).float() * x])
def test_a_mask_times_infinity_is_nan_in_compiled_programs_too(
    masked: Callable[[Tensor, Tensor], Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "host", False)
    mask = torch.tensor([True, False, True, False])
    product = masked(mask, torch.tensor([inf, -inf, 2.0, -3.0], requires_grad=True))
    torch.testing.assert_close(product.detach(), torch.tensor([inf, nan, 2.0, 0.0]), equal_nan=True)


def test_hard_activations_have_torchs_slope_at_nan() -> None:
    given = [nan, -3.0, -2.5, 0.0, 3.0, inf, -inf]
    assert gradients(lambda x: F.hardsigmoid(x) * 6, given) == [[0, 0, 1, 1, 0, 0, 0]]
    assert gradients(F.hardswish, [nan, -4.0, 4.0, inf, -inf]) == [[1, 0, 1, 1, 0]]


@pytest.mark.parametrize("loss", [F.huber_loss, F.smooth_l1_loss])
def test_the_slope_of_a_huber_loss_at_infinity_is_that_of_its_line(loss: Callable[..., Tensor]) -> None:
    apart = partial(loss, reduction="none")
    assert gradients(apart, [inf, -inf, 0.5, 3.0], [0.0] * 4) == [[1, -1, 0.5, 1], [-1, 1, -0.5, -1]]
    ((slope,),) = gradients(lambda x: apart(x, torch.zeros(1)), [nan])
    assert slope != slope


def test_products_with_a_logarithm_have_torchs_slopes_where_the_factor_is_0() -> None:
    by_factor, by_other = gradients(torch.xlogy, [0.0, 0.0, 0.0, 2.0], [0.0, inf, -1.0, 4.0])
    assert by_factor[:3] == [0, inf, 0]
    assert by_other[0] != by_other[0]
    assert by_other[1:] == [0, 0, 0.5]
    by_factor, by_other = gradients(torch.special.xlog1py, [0.0, 0.0, 2.0], [-1.0, inf, 3.0])
    assert by_factor[:2] == [0, inf]
    assert by_other[0] != by_other[0]
    assert by_other[1:] == [0, 0.5]


def test_special_functions_have_torchs_slopes_at_their_ends() -> None:
    assert gradients(torch.special.ndtri, [0.0, 1.0]) == [[inf, inf]]
    x = torch.tensor([nan, 1e-30], requires_grad=True)
    (first,) = torch.autograd.grad(torch.special.i1(x).sum(), x, create_graph=True)
    assert first.tolist() == [0.5, 0.5]
    assert torch.autograd.grad(first.sum(), x)[0].tolist() == [0, 0]
