"""Grids, files and boxes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import funcgrad as torch
from funcgrad.vision import io, ops, utils

pytest.importorskip("PIL.Image")


def test_a_grid_puts_pictures_side_by_side() -> None:
    pictures = torch.arange(5.0).reshape(5, 1, 1, 1).expand(5, 1, 2, 3)
    grid = utils.make_grid(pictures, nrow=3, padding=1, pad_value=9.0)
    assert grid.shape == (3, 2 * 3 + 1, 3 * 4 + 1)
    assert grid[0, 1].tolist() == [9, 0, 0, 0, 9, 1, 1, 1, 9, 2, 2, 2, 9]
    assert grid[1, 4].tolist() == [9, 3, 3, 3, 9, 4, 4, 4, 9, 9, 9, 9, 9]
    assert utils.make_grid(torch.ones(2, 3)).shape == (3, 2, 3)
    assert utils.make_grid([torch.ones(3, 2, 2)] * 2).shape == (3, 6, 10)
    scaled = utils.make_grid(pictures, normalize=True, scale_each=False, padding=0)
    assert (scaled.min().item(), scaled.max().item()) == (0.0, 1.0)
    with pytest.raises(TypeError, match="tensor or list of tensors expected"):
        utils.make_grid("picture")
    with pytest.raises(TypeError, match="unexpected keyword argument 'nrows'"):
        utils.make_grid(pictures, nrows=3)


def test_a_saved_picture_is_read_back(tmp_path: Path) -> None:
    picture = torch.tensor([[[0.0, 0.5], [1.0, 2.0]]]).expand(3, 2, 2)
    utils.save_image(picture, tmp_path / "p.png")
    read = io.read_image(tmp_path / "p.png")
    assert (read.dtype, read[0].tolist()) == (torch.uint8, [[0, 128], [255, 255]])
    assert io.read_image(tmp_path / "p.png", io.ImageReadMode.GRAY).shape == (1, 2, 2)
    io.write_png(read, tmp_path / "q.png")
    assert torch.equal(io.read_image(tmp_path / "q.png"), read)


def test_a_picture_is_turned_as_the_camera_was_held(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image").new("RGB", (4, 2))
    exif = image.getexif()
    exif[0x0112] = 6  # the camera's right side was up
    image.save(tmp_path / "p.jpg", exif=exif)
    assert io.read_image(tmp_path / "p.jpg").shape == (3, 2, 4)
    assert io.read_image(tmp_path / "p.jpg", apply_exif_orientation=True).shape == (3, 4, 2)
    assert io.decode_jpeg(io.read_file(tmp_path / "p.jpg"), device="cpu").shape == (3, 2, 4)


def test_boxes_overlap_and_the_best_stay() -> None:
    boxes = torch.tensor([[0.0, 0, 10, 10], [1, 1, 11, 11], [20, 20, 30, 30]])
    scores = torch.tensor([0.8, 0.9, 0.1])
    overlap = ops.box_iou(boxes, boxes).numpy()
    np.testing.assert_allclose(overlap[0], [1.0, 81 / 119, 0.0], rtol=1e-6)
    assert ops.nms(boxes, scores, 0.5).tolist() == [1, 2]
    assert ops.nms(boxes, scores, 0.7).tolist() == [1, 0, 2]
    assert ops.batched_nms(boxes, scores, torch.tensor([0, 1, 0]), 0.5).tolist() == [1, 0, 2]
    converted = ops.box_convert(boxes, "xyxy", "cxcywh")
    assert converted[1].tolist() == [6, 6, 10, 10]
    assert torch.equal(ops.box_convert(converted, "cxcywh", "xyxy"), boxes)
    assert ops.generalized_box_iou(boxes[:1], boxes[2:]).item() == pytest.approx(-700 / 900)
    assert ops.remove_small_boxes(boxes, 5).tolist() == [0, 1, 2]
    assert ops.clip_boxes_to_image(boxes, (25, 9))[2].tolist() == [9, 20, 9, 25]


def test_stochastic_depth_drops_rows_and_scales_the_others() -> None:
    kept = ops.stochastic_depth(torch.ones(64, 2), 0.5, "row")
    assert set(kept.reshape(-1).tolist()) == {0.0, 2.0}
    assert torch.equal(kept[:, 0], kept[:, 1])
    assert ops.stochastic_depth(torch.ones(2), 0.5, "row", training=False).tolist() == [1.0, 1.0]


def test_focal_loss_is_cross_entropy_where_gamma_is_zero() -> None:
    logits, targets = torch.randn(5), torch.tensor([0.0, 1, 1, 0, 1])
    plain = torch.nn.functional.binary_cross_entropy_with_logits(logits, targets)
    assert ops.sigmoid_focal_loss(logits, targets, -1, 0.0, "mean").item() == pytest.approx(plain.item(), rel=1e-6)
