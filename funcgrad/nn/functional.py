"""nn.functional: the table's functions of that name, and what is composed of several of them or of random numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from funcgrad._tensor.functions import lookup
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn.attention_forward import multi_head_attention_forward
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
    "alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout", "gumbel_softmax",
    "multi_head_attention_forward", "rrelu", "rrelu_", "sigmoid", "triplet_margin_with_distance_loss",
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


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """max(0, distance to the positive - distance to the negative + margin). Shape: all (N, *), result () or (N).

    With `swap` the negative's distance to the positive is taken where it is smaller.
    """
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(
            f"The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {anchor.ndim}D, positive {positive.ndim}D, and negative {negative.ndim}D inputs"
        )
    distance = distance_function or _of_table("pairwise_distance")
    far = distance(anchor, negative)
    if swap:
        far = far.minimum(distance(positive, negative))
    loss = (margin + distance(anchor, positive) - far).clamp_min(0)
    return loss if reduction == "none" else loss.mean() if reduction == "mean" else loss.sum()
