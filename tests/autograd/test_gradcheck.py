"""gradcheck finds wrong derivatives, backward and forward, one by one and in batches, of real and complex functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import funcgrad as torch
from funcgrad.autograd import GradcheckError, gradcheck, gradgradcheck


def inputs(*shapes: tuple[int, ...], kind: Any = torch.float64) -> tuple[torch.Tensor, ...]:
    torch.manual_seed(0)
    return tuple(torch.randn(shape, dtype=kind, requires_grad=True) for shape in shapes)


class Wrong(torch.autograd.Function):
    """x -> 2x whose backward says 3."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        return grad * 3

    @staticmethod
    def jvp(ctx: Any, moved: torch.Tensor) -> torch.Tensor:
        return moved * 2


class Wavering(Wrong):
    """x -> 2x whose backward says something else each time."""

    times = 0

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        Wavering.times += 1
        return grad * 2 + 1e-7 * Wavering.times


@pytest.mark.parametrize("fast_mode", [False, True])
def test_right_derivatives_pass_in_every_way(fast_mode: bool) -> None:
    def pair(x: torch.Tensor, y: torch.Tensor, n: int) -> tuple[torch.Tensor, ...]:
        return x.sin() @ y, (x**n).sum(), y.detach()

    given = (*inputs((2, 3), (3, 2)), 3)
    everything: dict[str, Any] = {
        "check_forward_ad": True, "check_batched_grad": True, "check_batched_forward_grad": True,
        "check_grad_dtypes": True, "fast_mode": fast_mode,
    }  # fmt: skip
    assert gradcheck(pair, given, **everything)
    assert gradgradcheck(pair, given, check_fwd_over_rev=True, check_batched_grad=True, fast_mode=fast_mode)


@pytest.mark.parametrize("function", [
    lambda z: z * z, lambda z: z.abs().sum(), lambda z: (z.conj() * z).real, lambda z: z.real * z.imag,
])  # fmt: skip
def test_complex_numbers_are_two_real_ones(function: Callable[[Any], Any]) -> None:
    z = inputs((3,), kind=torch.complex128)
    assert gradcheck(function, z, check_forward_ad=True)
    assert gradcheck(lambda x: torch.complex(x, x * x), inputs((2,)), check_forward_ad=True)


@pytest.mark.parametrize("fast_mode", [False, True])
def test_a_wrong_backward_is_found(fast_mode: bool) -> None:
    (x,) = inputs((3,))
    with pytest.raises(GradcheckError, match="Jacobian mismatch for output 0 with respect to input 0"):
        gradcheck(Wrong.apply, x, fast_mode=fast_mode)
    assert not gradcheck(Wrong.apply, x, raise_exception=False, fast_mode=fast_mode)
    assert gradcheck(Wrong.apply, x, check_forward_ad=True, check_backward_ad=False, fast_mode=fast_mode)


def test_a_backward_that_wavers_is_found() -> None:
    (x,) = inputs((2,))
    with pytest.raises(GradcheckError, match="Backward is not reentrant"):
        gradcheck(Wavering.apply, x)
    assert gradcheck(Wavering.apply, x, nondet_tol=1e-5)


def test_what_is_cut_off_must_not_move() -> None:
    (x,) = inputs((2,))
    with pytest.raises(GradcheckError, match="expected to be zero"):
        gradcheck(lambda x: x.detach() * 2, x)
    assert gradcheck(lambda x: torch.ones(2, dtype=torch.float64), x)
    with pytest.raises(ValueError, match="at least one input tensor to require gradient"):
        gradcheck(lambda x: x, torch.ones(2))
    with pytest.warns(UserWarning, match="not a double precision"):
        assert not gradcheck(lambda x: x.sin(), torch.ones(2, requires_grad=True), raise_exception=False)


def test_what_is_drawn_comes_from_torchs_stream() -> None:
    """The next number after each check is the one that PyTorch prints there."""
    x = torch.ones(3, dtype=torch.float64, requires_grad=True)
    torch.manual_seed(0)
    assert gradcheck(torch.sin, x)
    assert round(torch.rand(1).item(), 4) == 0.4963
    torch.manual_seed(0)
    assert gradgradcheck(torch.sin, x)
    assert round(torch.rand(1).item(), 4) == 0.4901
    torch.manual_seed(0)
    assert gradcheck(torch.sin, x, check_batched_grad=True)
    assert round(torch.rand(1).item(), 4) == 0.0223


def test_a_mismatch_is_told_as_tensors() -> None:
    x = torch.ones(1, dtype=torch.float64, requires_grad=True)
    with pytest.raises(GradcheckError) as told:
        gradcheck(lambda x: x.detach() * x, x)
    assert str(told.value) == (
        "Jacobian mismatch for output 0 with respect to input 0,\n"
        "numerical:tensor([[2.0000]], dtype=torch.float64)\nanalytical:tensor([[1.]], dtype=torch.float64)\n"
    )


@pytest.mark.filterwarnings("ignore:Input #0 requires gradient and is not a double precision")
def test_a_mismatch_of_single_precision_is_told_in_it() -> None:
    x = torch.ones(1, requires_grad=True)
    with pytest.raises(GradcheckError) as told:
        gradcheck(lambda x: x.detach() * x * 4, x)
    assert "analytical:tensor([[4.]])" in str(told.value) and "float64" not in str(told.value)


def test_a_module_that_reads_its_own_parameters_is_checked_too() -> None:
    layer = torch.nn.Linear(2, 3).double()
    (x,) = inputs((4, 2))
    before = layer.weight.clone()
    assert gradcheck(lambda *given: layer(given[0]), (x, *layer.parameters()))
    assert gradgradcheck(lambda *given: layer(given[0]).sin(), (x, *layer.parameters()))
    assert torch.equal(layer.weight, before)


class CubeAndSlope(torch.autograd.Function):
    """x -> x^3 and 3 x^2, which backward and jvp both use."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x**3, 3 * x**2

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(inputs[0], output[1])
        ctx.save_for_forward(inputs[0], output[1])

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor, grad_of_slope: torch.Tensor) -> torch.Tensor:
        x, slope = ctx.saved_tensors
        return grad * slope + 6 * grad_of_slope * x

    @staticmethod
    def jvp(ctx: Any, moved: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x, slope = ctx.saved_tensors
        return moved * slope, 6 * moved * x


def test_gradients_of_a_function_move_in_forward_mode() -> None:
    assert gradcheck(CubeAndSlope.apply, inputs((3,)), check_forward_ad=True)
    assert gradgradcheck(CubeAndSlope.apply, inputs((3,)), check_fwd_over_rev=True)
