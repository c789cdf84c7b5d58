"""roi_align gives the mean of each bin of each box, sampled between the pixels."""

from __future__ import annotations

import pytest

import funcgrad as torch
from funcgrad.vision.ops import RoIAlign, roi_align

ROWS, COLUMNS = torch.meshgrid(torch.arange(8.0), torch.arange(10.0), indexing="ij")
SLOPE = torch.stack([ROWS, COLUMNS])[None]  # a bin's mean of it is its middle


@pytest.mark.parametrize("sampling_ratio", [-1, 1, 2, 3])
def test_bins_of_a_slope_have_the_value_of_their_middle(sampling_ratio: int) -> None:
    boxes = torch.tensor([[0.0, 1.0, 2.0, 7.0, 6.0]])
    found = roi_align(SLOPE, boxes, (2, 3), sampling_ratio=sampling_ratio)
    torch.testing.assert_close(found[0, 0], torch.tensor([[3.0] * 3, [5.0] * 3]))
    torch.testing.assert_close(found[0, 1], torch.tensor([[2.0, 4.0, 6.0]] * 2))
    aligned = roi_align(SLOPE, boxes, (2, 3), sampling_ratio=sampling_ratio, aligned=True)
    torch.testing.assert_close(aligned, found - 0.5)


def test_boxes_are_of_their_picture_and_in_their_units() -> None:
    pictures = torch.cat([SLOPE, -SLOPE])
    boxes = [torch.tensor([[2.0, 4.0, 14.0, 12.0]]), torch.tensor([[2.0, 4.0, 14.0, 12.0], [0.0, 0.0, 4.0, 4.0]])]
    found = RoIAlign((1, 1), spatial_scale=0.5, sampling_ratio=2)(pictures, boxes)
    assert found.flatten(1).tolist() == [[4.0, 4.0], [-4.0, -4.0], [-1.0, -1.0]]
    assert roi_align(pictures, torch.zeros(0, 5), 2).shape == (0, 2, 2, 2)


def test_what_lies_outside_is_zero_and_the_last_pixel_goes_on_to_the_edge() -> None:
    picture = torch.ones(1, 1, 4, 4)
    boxes = torch.tensor([[0.0, 3.0, 0.0, 7.0, 4.0], [0.0, -4.0, 0.0, 0.0, 4.0]])
    found = roi_align(picture, boxes, (1, 4), sampling_ratio=1)
    assert found[:, 0, 0].tolist() == [[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]


def test_a_box_smaller_than_a_pixel_is_one_wide_unless_aligned() -> None:
    boxes = torch.tensor([[0.0, 2.0, 2.0, 2.2, 2.2]])
    assert roi_align(SLOPE, boxes, 1, sampling_ratio=1).flatten().tolist() == [2.5, 2.5]
    aligned = roi_align(SLOPE, boxes, 1, sampling_ratio=1, aligned=True)
    torch.testing.assert_close(aligned.flatten(), torch.tensor([1.6, 1.6]))


def test_gradients_reach_the_picture() -> None:
    picture = torch.zeros(1, 1, 4, 4, requires_grad=True)
    roi_align(picture, torch.tensor([[0.0, 0.5, 0.5, 2.5, 1.5]]), 1, sampling_ratio=1).sum().backward()
    assert picture.grad is not None
    assert picture.grad[0, 0].tolist() == [[0.0] * 4, [0.0, 0.5, 0.5, 0.0], [0.0] * 4, [0.0] * 4]


def test_boxes_of_another_shape_are_refused() -> None:
    with pytest.raises(ValueError, match=r"not correct as Tensor\[K, 5\]"):
        roi_align(SLOPE, torch.zeros(1, 4), 2)
    with pytest.raises(ValueError, match=r"not correct as List\[Tensor\[L, 4\]\]"):
        roi_align(SLOPE, [torch.zeros(1, 5)], 2)
