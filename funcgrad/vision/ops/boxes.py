"""Boxes as rows x1, y1, x2, y2: their areas, how they overlap, and which to keep of those that overlap."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from funcgrad._tape.modes import no_grad
from funcgrad._tensor import functions as fg
from funcgrad._tensor.interop import from_host, to_host
from funcgrad._tensor.tensor import Tensor


def box_area(boxes: Tensor) -> Tensor:
    """Return the areas. Shape: boxes (N, 4), result (N,)."""
    return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])


def _inter_and_union(boxes1: Tensor, boxes2: Tensor) -> tuple[Tensor, Tensor]:
    sides = (
        fg.min(boxes1[:, None, 2:], boxes2[:, 2:]) - fg.max(boxes1[:, None, :2], boxes2[:, :2])
    ).clamp(min=0)  # fmt: skip
    inter = sides[..., 0] * sides[..., 1]
    return inter, box_area(boxes1)[:, None] + box_area(boxes2) - inter


def box_iou(boxes1: Tensor, boxes2: Tensor) -> Tensor:
    """Return intersection over union of each pair. Shape: (N, 4) and (M, 4), result (N, M)."""
    inter, union = _inter_and_union(boxes1, boxes2)
    return inter / union


def generalized_box_iou(boxes1: Tensor, boxes2: Tensor) -> Tensor:
    """Return IoU less the share of the hull that neither covers. Source: https://arxiv.org/abs/1902.09630."""
    inter, union = _inter_and_union(boxes1, boxes2)
    sides = fg.max(boxes1[:, None, 2:], boxes2[:, 2:]) - fg.min(boxes1[:, None, :2], boxes2[:, :2])
    hull = sides.clamp(min=0)[..., 0] * sides.clamp(min=0)[..., 1]
    return inter / union - (hull - union) / hull


def distance_box_iou(boxes1: Tensor, boxes2: Tensor, eps: float = 1e-7) -> Tensor:
    """Return IoU less the squared distance of the centres over the hull's diagonal. Shape: (N, 4), (M, 4) -> (N, M).

    Source: https://arxiv.org/abs/1911.08287.
    """
    return box_iou(boxes1, boxes2) - centre_distance(boxes1[:, None], boxes2, eps)


def complete_box_iou(boxes1: Tensor, boxes2: Tensor, eps: float = 1e-7) -> Tensor:
    """Return `distance_box_iou` less what the boxes differ in their sides' ratio. Shape: (N, 4), (M, 4) -> (N, M).

    Source: https://arxiv.org/abs/1911.08287.
    """
    iou = box_iou(boxes1, boxes2)
    return iou - centre_distance(boxes1[:, None], boxes2, eps) - ratio_penalty(boxes1[:, None], boxes2, iou, eps)


def centre_distance(boxes1: Tensor, boxes2: Tensor, eps: float) -> Tensor:
    """Return the squared distance of the centres, as a share of the hull's squared diagonal. Shape: (*, 4) -> (*,)."""
    hull = (fg.max(boxes1[..., 2:], boxes2[..., 2:]) - fg.min(boxes1[..., :2], boxes2[..., :2])).clamp(min=0)
    apart = (boxes1[..., :2] + boxes1[..., 2:] - boxes2[..., :2] - boxes2[..., 2:]) / 2
    return apart.square().sum(-1) / (hull.square().sum(-1) + eps)


def ratio_penalty(boxes1: Tensor, boxes2: Tensor, iou: Tensor, eps: float) -> Tensor:
    """Return alpha v: v says how the ratios of the sides differ, alpha (without gradient) how much that counts."""
    angles = [fg.atan((b[..., 2] - b[..., 0]) / (b[..., 3] - b[..., 1])) for b in (boxes1, boxes2)]
    differing = (4 / math.pi**2) * (angles[0] - angles[1]).square()
    with no_grad():
        weight = differing / (1 - iou + differing + eps)
    return weight * differing


def masks_to_boxes(masks: Tensor) -> Tensor:
    """Return the box around what is not zero in each mask, with inclusive ends. Shape: masks (N, H, W), result (N, 4).

    A mask of zeros gives the whole picture.
    """
    if masks.numel() == 0:
        return fg.zeros((0, 4), device=masks.device)
    filled = masks != 0
    left, right = _ends(filled.any(1))
    top, bottom = _ends(filled.any(2))
    return fg.stack((left, top, right, bottom), 1).float()


def _ends(filled: Tensor) -> tuple[Tensor, Tensor]:
    """Return the first and the last true place of each row."""
    places = filled.int()
    return places.argmax(1), filled.shape[1] - 1 - places.flip(1).argmax(1)


def nms(boxes: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    """Return the indices of the boxes that no better one overlaps by more than the threshold, best first."""
    host, order = to_host(boxes.detach()), np.argsort(-to_host(scores.detach()), kind="stable")
    areas = (host[:, 2] - host[:, 0]) * (host[:, 3] - host[:, 1])
    kept: list[int] = []
    while order.size:
        best, rest = order[0], order[1:]
        kept.append(int(best))
        corners = np.minimum(host[best, 2:], host[rest, 2:]) - np.maximum(host[best, :2], host[rest, :2])
        inter = np.prod(np.maximum(corners, 0), axis=1)
        order = rest[inter / (areas[best] + areas[rest] - inter) <= iou_threshold]
    return from_host(np.array(kept, np.int64), device=boxes.device)


def batched_nms(boxes: Tensor, scores: Tensor, idxs: Tensor, iou_threshold: float) -> Tensor:
    """Return what `nms` keeps where only boxes of one class can push each other out."""
    if boxes.numel() == 0:
        return fg.zeros(0, dtype=idxs.dtype, device=boxes.device)
    apart = idxs.to(boxes.dtype) * (boxes.max() + 1)
    return nms(boxes + apart[:, None], scores, iou_threshold)


def clip_boxes_to_image(boxes: Tensor, size: Any) -> Tensor:
    """Return the boxes, cut off at the edges of a picture of size (height, width)."""
    height, width = size
    x, y = boxes[..., 0::2].clamp(0, width), boxes[..., 1::2].clamp(0, height)
    return fg.stack((x, y), boxes.ndim).reshape(boxes.shape)


def remove_small_boxes(boxes: Tensor, min_size: float) -> Tensor:
    """Return the indices of the boxes whose sides are at least `min_size`."""
    wide, high = boxes[:, 2] - boxes[:, 0] >= min_size, boxes[:, 3] - boxes[:, 1] >= min_size
    return fg.where(wide & high)[0]


def box_convert(boxes: Tensor, in_fmt: str, out_fmt: str) -> Tensor:
    """Return boxes written "xyxy", "xywh" or "cxcywh" in another of these forms."""
    for form in (in_fmt, out_fmt):
        if form not in ("xyxy", "xywh", "cxcywh"):
            raise ValueError(f"Unsupported Bounding Box Conversions for given in_fmt {in_fmt} and out_fmt {out_fmt}")
    if in_fmt == out_fmt:
        return boxes.clone()
    a, b, c, d = boxes.unbind(-1)
    if in_fmt == "xywh":
        a, b, c, d = a, b, a + c, b + d
    elif in_fmt == "cxcywh":
        a, b, c, d = a - 0.5 * c, b - 0.5 * d, a + 0.5 * c, b + 0.5 * d
    if out_fmt == "xywh":
        a, b, c, d = a, b, c - a, d - b
    elif out_fmt == "cxcywh":
        a, b, c, d = (a + c) / 2, (b + d) / 2, c - a, d - b
    return fg.stack((a, b, c, d), -1)
