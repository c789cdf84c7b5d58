"""Losses of detectors."""

from __future__ import annotations

from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn import functional as F
from funcgrad.vision.ops.boxes import centre_distance, ratio_penalty


def sigmoid_focal_loss(
    inputs: Tensor, targets: Tensor, alpha: float = 0.25, gamma: float = 2, reduction: str = "none"
) -> Tensor:
    """Binary cross-entropy of logits, weighed down by (1 - p_t) ** gamma. Source: https://arxiv.org/abs/1708.02002."""
    p = fg.sigmoid(inputs)
    loss = F.binary_cross_entropy_with_logits(inputs, targets, reduction="none")
    loss = loss * (1 - (p * targets + (1 - p) * (1 - targets))) ** gamma
    if alpha >= 0:
        loss = (alpha * targets + (1 - alpha) * (1 - targets)) * loss
    return _reduced(loss, reduction)


def generalized_box_iou_loss(boxes1: Tensor, boxes2: Tensor, reduction: str = "none", eps: float = 1e-7) -> Tensor:
    """Return 1 - GIoU of pairs. Shape: both (N, 4), result (N,) or (). Source: https://arxiv.org/abs/1902.09630."""
    inter, union = _inter_and_union(boxes1, boxes2)
    sides = fg.max(boxes1[..., 2:], boxes2[..., 2:]) - fg.min(boxes1[..., :2], boxes2[..., :2])
    hull = sides[..., 0] * sides[..., 1]
    return _reduced(1 - inter / (union + eps) + (hull - union) / (hull + eps), reduction)


def distance_box_iou_loss(boxes1: Tensor, boxes2: Tensor, reduction: str = "none", eps: float = 1e-7) -> Tensor:
    """Return 1 - DIoU of pairs. Shape: both (N, 4), result (N,) or (). Source: https://arxiv.org/abs/1911.08287."""
    inter, union = _inter_and_union(boxes1, boxes2)
    return _reduced(1 - inter / (union + eps) + centre_distance(boxes1, boxes2, eps), reduction)


def complete_box_iou_loss(boxes1: Tensor, boxes2: Tensor, reduction: str = "none", eps: float = 1e-7) -> Tensor:
    """Return 1 - CIoU of pairs. Shape: both (N, 4), result (N,) or (). Source: https://arxiv.org/abs/1911.08287."""
    inter, union = _inter_and_union(boxes1, boxes2)
    iou = inter / (union + eps)
    penalty = ratio_penalty(boxes1, boxes2, iou, eps)
    return _reduced(1 - iou + centre_distance(boxes1, boxes2, eps) + penalty, reduction)


def _inter_and_union(boxes1: Tensor, boxes2: Tensor) -> tuple[Tensor, Tensor]:
    sides = (fg.min(boxes1[..., 2:], boxes2[..., 2:]) - fg.max(boxes1[..., :2], boxes2[..., :2])).clamp(min=0)
    inter = sides[..., 0] * sides[..., 1]
    areas = [(b[..., 2] - b[..., 0]) * (b[..., 3] - b[..., 1]) for b in (boxes1, boxes2)]
    return inter, areas[0] + areas[1] - inter


def _reduced(loss: Tensor, reduction: str) -> Tensor:
    if reduction == "none":
        return loss
    if reduction not in ("mean", "sum"):
        raise ValueError(f"Invalid Value for arg 'reduction': '{reduction}'; 'none', 'mean' and 'sum' are supported")
    return loss.mean() if reduction == "mean" and loss.numel() else loss.sum()
