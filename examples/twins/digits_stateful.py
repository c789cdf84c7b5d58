"""Reading digits, the stateful style: model, optimizer and schedule change. Its twin is digits_functional.py.

    python -m funcgrad compare examples/twins/digits_stateful.py examples/twins/digits_functional.py --out digits.html

`setup()` gives the step and the batches that `compare` runs it on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.datasets import load_digits

import funcgrad as torch
from funcgrad import nn
from funcgrad.nn import functional as F

BATCH, RATE, MOMENTUM = 64, 0.1, 0.9


def batches() -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Return images of 64 pixels between 0 and 1, and the digits that they show."""
    images, labels = load_digits(return_X_y=True)
    x, y = torch.tensor(images, dtype=torch.float32) / 16, torch.tensor(labels)
    return [(x[i : i + BATCH], y[i : i + BATCH]) for i in range(0, len(x) - BATCH, BATCH)]


def setup() -> tuple[Callable[..., Any], list[Any]]:
    """Return the step and its data."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE, momentum=MOMENTUM)

    def step(images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        return loss

    return step, batches()
