"""With torch at hand: the shapes that hooks on saved tensors see, of ops that save their inputs in both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import funcgrad

pytestmark = pytest.mark.parity

torch = pytest.importorskip("torch", minversion="2.13")

CALLS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "mul": lambda torch, x, y: x * y,
    "mul by a number": lambda torch, x, y: x * 2,
    "div": lambda torch, x, y: x / y,
    "add": lambda torch, x, y: x + y,
    "exp": lambda torch, x, y: x.exp(),
    "exp of a product": lambda torch, x, y: (x * y).exp(),
    "log": lambda torch, x, y: x.log(),
    "tanh": lambda torch, x, y: x.tanh(),
    "relu": lambda torch, x, y: x.relu(),
    "gelu": lambda torch, x, y: torch.nn.functional.gelu(x),
    "softmax": lambda torch, x, y: x.softmax(1),
    "log_softmax": lambda torch, x, y: x.log_softmax(1),
    "linear": lambda torch, x, y: torch.nn.Linear(4, 5)(x.detach()),
    "mse_loss": lambda torch, x, y: torch.nn.functional.mse_loss(x, y),
    "binary_cross_entropy": lambda torch, x, y: torch.nn.functional.binary_cross_entropy(x, y.detach()),
    "conv2d": lambda torch, x, y: torch.nn.Conv2d(1, 2, 3)((x * 1).reshape(1, 1, 3, 4)),
    "embedding": lambda torch, x, y: torch.nn.Embedding(5, 6)(torch.tensor([0, 1])),
    "var": lambda torch, x, y: x.var(),
    "where": lambda torch, x, y: torch.where(x > 0.5, x, y),
    "index": lambda torch, x, y: x[torch.tensor([0, 1])],
    "cumsum": lambda torch, x, y: x.cumsum(0),
    "cat": lambda torch, x, y: torch.cat([x, y]),
    "views": lambda torch, x, y: x.view(12).unsqueeze(0).t(),
}


def _packed(torch: Any, call: Callable[[Any, Any, Any], Any]) -> list[tuple[tuple[int, ...], str]]:
    """Return shape and dtype of what the call packs, in its order."""
    x, y = (torch.full((3, 4), value).requires_grad_() for value in (0.5, 0.25))
    seen: list[tuple[tuple[int, ...], str]] = []

    def pack(saved: Any) -> Any:
        seen.append((tuple(saved.shape), str(saved.dtype)))
        return saved

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda saved: saved):
        call(torch, x, y)
    return seen


@pytest.mark.parametrize("name", CALLS)
def test_hooks_see_the_shapes_that_they_see_in_torch(name: str) -> None:
    assert _packed(funcgrad, CALLS[name]) == _packed(torch, CALLS[name])
