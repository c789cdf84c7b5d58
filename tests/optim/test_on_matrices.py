"""Steps of Muon and Adafactor on lists of tensors are those of the optimizers."""

from __future__ import annotations

from typing import Any

import pytest

import funcgrad as torch
from funcgrad import explain
from funcgrad.optim import on_matrices

MUON = {"ns_coefficients": (3.4445, -4.775, 2.0315), "ns_steps": 5, "eps": 1e-7, "momentum": 0.9, "weight_decay": 0.1}


def _numbers(*shape: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(shape, generator=generator) for _ in range(4)]


def _stepped(optimizer: Any, param: torch.Tensor, grads: list[torch.Tensor]) -> torch.Tensor:
    for grad in grads:
        param.grad = grad.clone()
        optimizer.step()
    return param.detach()


@pytest.mark.parametrize("adjust", [None, "match_rms_adamw"])
@pytest.mark.parametrize("nesterov", [False, True])
@pytest.mark.parametrize("shape", [(4, 6), (6, 3)])
def test_muon_on_lists_is_muon(shape: tuple[int, int], nesterov: bool, adjust: str | None) -> None:
    start, *grads = _numbers(*shape)
    leaf = start.clone().requires_grad_()
    expected = _stepped(torch.optim.Muon([leaf], 0.1, nesterov=nesterov, adjust_lr_fn=adjust, **MUON), leaf, grads)
    buffer = torch.zeros(shape)
    for grad in grads:
        on_matrices.muon(
            [start], [grad], [buffer], lr=0.1, nesterov=nesterov, adjust_lr_fn=adjust, has_complex=False, **MUON
        )
    torch.testing.assert_close(start, expected, rtol=1e-3, atol=1e-3)  # the update has three digits


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("shape", [(4, 6), (5,), (), (2, 3, 4)])
def test_adafactor_on_lists_is_adafactor(shape: tuple[int, ...], maximize: bool) -> None:
    start, *grads = _numbers(*shape)
    leaf = start.clone().requires_grad_()
    optimizer = torch.optim.Adafactor([leaf], 0.1, eps=(1e-5, 1e-3), weight_decay=0.1, maximize=maximize)
    expected = _stepped(optimizer, leaf, grads)
    is_matrix = len(shape) > 1
    row = torch.zeros(*shape[:-1], 1) if is_matrix else None
    column = torch.zeros(*shape[:-2], 1, shape[-1]) if is_matrix else None
    variance, step = None if is_matrix else torch.zeros(shape), torch.zeros(())
    with explain.counted() as seen:
        for grad in grads:
            on_matrices.adafactor(
                [start], [grad], [row], [column], [variance], [step], d=1.0, lr=0.1, beta2_decay=-0.8,
                weight_decay=0.1, eps1=1e-5, eps2=1e-3, maximize=maximize,
            )  # fmt: skip
    assert seen.runs == 0  # nothing waits for a norm
    torch.testing.assert_close(start, expected)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(RuntimeError, match="Foreach is not supported"):
        on_matrices.muon([], [], [], foreach=True, lr=0.1, nesterov=True, adjust_lr_fn=None, has_complex=False, **MUON)
    with pytest.raises(ValueError, match="must be a 2D matrix"):
        on_matrices._zeropower_via_newtonschulz(torch.ones(3), (1, 2, 3), 5, 1e-7)
    counts: list[Any] = [1]
    with pytest.raises(RuntimeError, match="singleton tensors"):
        on_matrices.adafactor(
            [],
            [],
            [],
            [],
            [],
            counts,
            d=1.0,
            lr=0.1,
            beta2_decay=-0.8,
            weight_decay=0,
            eps1=None,
            eps2=1,
            maximize=False,
        )
