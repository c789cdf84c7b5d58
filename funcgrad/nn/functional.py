"""nn.functional: the table's functions of that name, and what is composed of several of them or of random numbers."""

from __future__ import annotations

from typing import Any

from funcgrad._tensor.functions import lookup
from funcgrad._tensor.tensor import Tensor
from funcgrad.random.dropout import (
    alpha_dropout,
    dropout,
    dropout1d,
    dropout2d,
    dropout3d,
    feature_alpha_dropout,
    gumbel_softmax,
    rrelu,
)

__all__ = [
    "alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout", "gumbel_softmax", "rrelu",
    "rrelu_", "sigmoid", "triplet_margin_with_distance_loss",
]  # fmt: skip

_of_table = lookup("nn.functional")


def __getattr__(name: str) -> Any:
    """Make a function of the table at its first use, and keep it."""
    found = globals()[name] = _of_table(name)
    return found


def sigmoid(input: Tensor) -> Tensor:
    """1 / (1 + exp(-input)). Shape: input (*), result the same."""
    return input.sigmoid()


def rrelu_(input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False) -> Tensor:
    """Do what `rrelu` does, in place."""
    return rrelu(input, lower, upper, training, inplace=True)
