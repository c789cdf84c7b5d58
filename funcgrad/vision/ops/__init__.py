"""torchvision.ops: boxes, what lies in them, and layers that models share."""

from __future__ import annotations

from funcgrad.vision.ops.boxes import (
    batched_nms,
    box_area,
    box_convert,
    box_iou,
    clip_boxes_to_image,
    complete_box_iou,
    distance_box_iou,
    generalized_box_iou,
    masks_to_boxes,
    nms,
    remove_small_boxes,
)
from funcgrad.vision.ops.losses import (
    complete_box_iou_loss,
    distance_box_iou_loss,
    generalized_box_iou_loss,
    sigmoid_focal_loss,
)
from funcgrad.vision.ops.misc import (
    MLP,
    Conv2dNormActivation,
    FrozenBatchNorm2d,
    Permute,
    SqueezeExcitation,
    StochasticDepth,
    stochastic_depth,
)
from funcgrad.vision.ops.regions import RoIAlign, roi_align

__all__ = [
    "MLP",
    "Conv2dNormActivation",
    "FrozenBatchNorm2d",
    "Permute",
    "RoIAlign",
    "SqueezeExcitation",
    "StochasticDepth",
    "batched_nms",
    "box_area",
    "box_convert",
    "box_iou",
    "clip_boxes_to_image",
    "complete_box_iou",
    "complete_box_iou_loss",
    "distance_box_iou",
    "distance_box_iou_loss",
    "generalized_box_iou",
    "generalized_box_iou_loss",
    "masks_to_boxes",
    "nms",
    "remove_small_boxes",
    "roi_align",
    "sigmoid_focal_loss",
    "stochastic_depth",
]
