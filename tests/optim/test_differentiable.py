"""With differentiable=True gradients flow through a step: to the weights before it and to the learning rate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as torch
from tests.optim.running import parameter

STEPPED: dict[str, dict[str, Any]] = {
    "SGD": {"momentum": 0.9, "weight_decay": 0.1}, "Adam": {"eps": 1e-3}, "AdamW": {}, "RMSprop": {}, "Adagrad": {},
    "Adadelta": {}, "Adamax": {}, "NAdam": {}, "RAdam": {}, "ASGD": {},
}  # fmt: skip


def outer_loss(name: str, options: dict[str, Any], start: Any, lr: Any) -> torch.Tensor:
    """Take two steps down sum(p^3) from start, then ask how large p is."""
    p = start.clone()
    optimizer = getattr(torch.optim, name)([p], lr=lr, differentiable=True, **options)
    for _ in range(2):
        (p.grad,) = torch.autograd.grad((p * p * p).sum(), [p], create_graph=True)
        optimizer.step()
    return (p * p).sum()


def slope(function: Callable[[Any], Any], at: np.ndarray, size: float = 1e-6) -> np.ndarray:
    found = np.zeros(at.shape)
    for i in np.ndindex(at.shape):
        step = np.zeros(at.shape)
        step[i] = size
        found[i] = (function(at + step).item() - function(at - step).item()) / (2 * size)
    return found


@pytest.mark.parametrize("name", list(STEPPED))
def test_an_outer_gradient_reaches_the_first_weights_and_the_rate(name: str) -> None:
    at, rate = np.array([0.7, -1.3]), np.array(0.05)
    start, lr = parameter(at), parameter(rate)
    outer_loss(name, STEPPED[name], start, lr).backward()

    def of_start(x: np.ndarray) -> Any:
        return outer_loss(name, STEPPED[name], parameter(x), torch.tensor(rate))

    def of_rate(x: np.ndarray) -> Any:
        return outer_loss(name, STEPPED[name], parameter(at), torch.tensor(x))

    np.testing.assert_allclose(start.grad.numpy(), slope(of_start, at), rtol=1e-5, atol=1e-7)
    if name != "ASGD":  # its first rate is copied into the state
        np.testing.assert_allclose(lr.grad.numpy(), slope(of_rate, rate), rtol=1e-5, atol=1e-7)


def test_a_leaf_cannot_be_stepped_with_history() -> None:
    w = parameter([1.0])
    w.grad = torch.ones(1)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        torch.optim.SGD([w], lr=0.1, differentiable=True).step()
