"""A first gradient requires grad where torch's does: where it depends on an input, or a kernel is given that."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import funcgrad as torch
from funcgrad.nn import functional as F

CLASSES = torch.tensor([0, 2, 1])
KEPT: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "nll_loss": lambda x: F.nll_loss(x, CLASSES),
    "pad": lambda x: F.pad(x[None], (1, 1), mode="reflect"),
    "avg_pool1d": lambda x: F.avg_pool1d(x, 2),
    "avg_pool2d": lambda x: F.avg_pool2d(x[None], 2),
    "grid_sample": lambda x: F.grid_sample(x[None, None], torch.zeros(1, 2, 2, 2), align_corners=False),
    "conv2d": lambda x: F.conv2d(x[None], torch.ones(1, 1, 2, 2)),
    "relu": lambda x: (x - 0.5).relu(),
    "abs": torch.abs,
    "l1_loss": lambda x: F.l1_loss(x, torch.ones(3, 3)),
    "max_pool1d": lambda x: F.max_pool1d(x, 2),
    "norm": lambda x: x.norm(float("inf")),
}
CONSTANT: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "hinge_embedding_loss": lambda x: F.hinge_embedding_loss(x, torch.ones(3, 3)),
    "clamp": lambda x: x.clamp(0.2, 0.7),
    "sort": lambda x: x.sort().values,
    "max": torch.max,
    "max_dim": lambda x: x.max(1).values,
    "topk": lambda x: x.topk(2).values,
    "maximum": lambda x: torch.maximum(x, x.flip(0)),
    "margin_ranking_loss": lambda x: F.margin_ranking_loss(x, torch.ones(3, 3), torch.ones(3, 3), margin=1.0),
    "median": lambda x: x.median(1).values,
    "nansum": torch.nansum,
}


def _gradient(function: Callable[[torch.Tensor], torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    x = (torch.arange(9.0).reshape(3, 3) / 10 + 0.1).requires_grad_()
    return x, torch.autograd.grad(function(x).sum(), x, create_graph=True)[0]


@pytest.mark.parametrize("name", KEPT)
def test_what_a_kernel_is_given_the_gradient_depends_on(name: str) -> None:
    x, gradient = _gradient(KEPT[name])
    assert gradient.requires_grad
    assert torch.autograd.grad(gradient.sum(), x)[0].tolist() == torch.zeros(3, 3).tolist()


@pytest.mark.parametrize("name", CONSTANT)
def test_a_gradient_that_is_the_same_nearby_has_no_history(name: str) -> None:
    _, gradient = _gradient(CONSTANT[name])
    assert not gradient.requires_grad


def test_each_gradient_of_a_call_depends_on_what_it_is_computed_from() -> None:
    bias, a, b = (torch.ones(2, 2, requires_grad=True) for _ in range(3))
    gradients = torch.autograd.grad(torch.addmm(bias, a, b).sum(), (bias, a, b), create_graph=True)
    assert [gradient.requires_grad for gradient in gradients] == [False, True, True]


def test_the_node_of_a_constant_gradient_has_torchs_name() -> None:
    x = torch.ones(1, 1, 4, 4, requires_grad=True)
    (gradient,) = torch.autograd.grad(F.avg_pool2d(x, 2).sum(), x, create_graph=True)
    assert gradient.grad_fn.name() == "AvgPool2DBackwardBackward0"
    assert gradient.grad_fn.next_functions[0][0].variable is x


@pytest.mark.parametrize("function", [torch.maximum, torch.minimum, torch.atan2])
def test_gradients_of_nothing_have_a_history(function: Callable[..., torch.Tensor]) -> None:
    x, y = (torch.ones(0, 2, requires_grad=True) for _ in range(2))
    first = torch.autograd.grad(function(x, y).sum(), (x, y), torch.ones((), requires_grad=True), create_graph=True)
    assert [gradient.requires_grad for gradient in first] == [True, True]
