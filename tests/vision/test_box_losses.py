"""Boxes by the distance of centres and the ratio of sides, their losses, boxes around masks: checked by hand."""

from __future__ import annotations

import math

import pytest

import funcgrad as torch
from funcgrad.vision import ops

FIRST = torch.tensor([[0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 1.0, 4.0]])
SECOND = torch.tensor([[1.0, 1.0, 3.0, 3.0], [0.0, 0.0, 1.0, 4.0]])


def test_distance_of_centres_is_taken_from_the_overlap() -> None:
    found = ops.distance_box_iou(FIRST, SECOND)
    assert found[0, 0].item() == pytest.approx(1 / 7 - 2 / 18)
    assert found[1, 1].item() == pytest.approx(1.0)
    losses = ops.distance_box_iou_loss(FIRST, SECOND)
    assert losses.tolist() == pytest.approx([1 - 1 / 7 + 2 / 18, 0.0], abs=1e-6)
    assert ops.generalized_box_iou_loss(FIRST, SECOND).tolist() == pytest.approx([1 - 1 / 7 + 2 / 9, 0.0], abs=1e-6)


def test_the_ratio_of_sides_is_taken_too() -> None:
    iou, distance = 2 / 6, (0.5**2 + 1) / 20
    v = 4 / math.pi**2 * (math.atan(1) - math.atan(1 / 4)) ** 2
    expected = iou - distance - v * v / (1 - iou + v)
    assert ops.complete_box_iou(FIRST, SECOND)[0, 1].item() == pytest.approx(expected, abs=1e-6)
    assert ops.complete_box_iou_loss(FIRST[:1], SECOND[1:], reduction="sum").item() == pytest.approx(1 - expected)


def test_gradients_of_the_losses_move_boxes_together() -> None:
    boxes = torch.tensor([[0.0, 0.0, 1.0, 1.0]], requires_grad=True)
    ops.complete_box_iou_loss(boxes, torch.tensor([[2.0, 0.0, 3.0, 1.0]]), reduction="mean").backward()
    assert boxes.grad is not None and boxes.grad[0, 2].item() < 0


def test_boxes_lie_around_masks() -> None:
    masks = torch.zeros(2, 4, 5)
    masks[0, 1:3, 2:5] = 1
    masks[1, 3, 0] = 7
    assert ops.masks_to_boxes(masks).tolist() == [[2.0, 1.0, 4.0, 2.0], [0.0, 3.0, 0.0, 3.0]]
    assert ops.masks_to_boxes(masks[:0]).shape == (0, 4)
