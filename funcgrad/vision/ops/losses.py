"""Losses of detectors."""

from __future__ import annotations

from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn import functional as F


def sigmoid_focal_loss(
    inputs: Tensor, targets: Tensor, alpha: float = 0.25, gamma: float = 2, reduction: str = "none"
) -> Tensor:
    """Binary cross-entropy of logits, weighed down by (1 - p_t) ** gamma. Source: https://arxiv.org/abs/1708.02002."""
    p = fg.sigmoid(inputs)
    loss = F.binary_cross_entropy_with_logits(inputs, targets, reduction="none")
    loss = loss * (1 - (p * targets + (1 - p) * (1 - targets))) ** gamma
    if alpha >= 0:
        loss = (alpha * targets + (1 - alpha) * (1 - targets)) * loss
    if reduction == "none":
        return loss
    if reduction not in ("mean", "sum"):
        raise ValueError(f"Invalid Value for arg 'reduction': '{reduction}'; 'none', 'mean' and 'sum' are supported")
    return loss.mean() if reduction == "mean" else loss.sum()
