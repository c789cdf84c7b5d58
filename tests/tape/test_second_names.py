"""A gradient with a graph of its own is printed with torch's name of the last function of its formula."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import funcgrad as torch
from funcgrad.nn import functional as F

SECOND: list[tuple[Callable[[torch.Tensor], torch.Tensor], str]] = [
    (lambda x: (x**2).sum(), "MulBackward0"),
    (lambda x: (x * x * x).sum(), "AddBackward0"),
    (lambda x: x.sin().sum(), "MulBackward0"),
    (lambda x: x.log().sum(), "DivBackward0"),
    (lambda x: x.tanh().sum(), "TanhBackwardBackward0"),
    (lambda x: (1 / x).sum(), "MulBackward0"),
    (lambda x: x.sum() ** 2, "ExpandBackward0"),
    (lambda x: x.mean() ** 2, "DivBackward1"),
    (lambda x: x.norm(), "MulBackward0"),
    (lambda x: x.relu().square().sum(), "ThresholdBackwardBackward0"),
    (lambda x: (F.softmax(x, 0) ** 2).sum(), "SoftmaxBackwardDataBackward0"),
    (lambda x: F.cross_entropy(x, torch.tensor([1, 0])), "LogSoftmaxBackwardDataBackward0"),
    (lambda x: (F.linear(x, torch.ones(3, 2)) ** 2).sum(), "MmBackward0"),
    (lambda x: (x.view(4) ** 2).sum(), "ViewBackward0"),
    (lambda x: F.silu(x).sum(), "MulBackward0"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "name"), SECOND)
def test_the_gradients_node_has_torchs_name(function: Callable[[torch.Tensor], torch.Tensor], name: str) -> None:
    x = torch.tensor([[0.5, 0.7], [0.2, 0.9]], requires_grad=True)
    (gradient,) = torch.autograd.grad(function(x), x, create_graph=True)
    assert gradient.grad_fn.name() == name


def test_higher_derivatives_print_as_in_torch() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    shown, derivative = [], x**3
    for _ in range(3):
        (derivative,) = torch.autograd.grad(derivative, x, create_graph=True)
        shown.append(str(derivative))
    assert shown == ["tensor(12., grad_fn=<MulBackward0>)"] * 2 + ["tensor(6., grad_fn=<MulBackward0>)"]
