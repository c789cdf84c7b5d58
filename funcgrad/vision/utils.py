"""torchvision.utils: pictures side by side, and into files."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from funcgrad._tensor import functions as fg
from funcgrad._tensor.interop import from_host, to_host
from funcgrad._tensor.tensor import Tensor
from funcgrad.vision.images import pillow


def make_grid(
    tensor: Any, nrow: int = 8, padding: int = 2, normalize: bool = False, value_range: Any = None,
    scale_each: bool = False, pad_value: float = 0.0, **old: Any,
) -> Tensor:  # fmt: skip
    """Return several pictures as one, `nrow` of them in a row.

    Shape: tensor (N, C, H, W), a list of (C, H, W), or one picture; result (3, height, width).
    normalize: shift and scale to 0 ... 1, by the least and greatest number or by `value_range`, each picture by its
    own with scale_each; `range` is that option's older name. TypeError for what is neither a tensor nor a list of
    tensors, and for options that there are not.
    """
    value_range = old.pop("range", value_range)
    if old:
        raise TypeError(f"make_grid() got an unexpected keyword argument '{next(iter(old))}'")
    if isinstance(tensor, (list, tuple)):
        if not all(isinstance(picture, Tensor) for picture in tensor):
            raise TypeError("tensor or list of tensors expected, got a list containing other things")
        tensor = fg.stack(list(tensor), 0)
    if not isinstance(tensor, Tensor):
        raise TypeError(f"tensor or list of tensors expected, got {type(tensor)}")
    pictures = _batch(to_host(tensor.detach()))
    if normalize:
        pictures = _normalised(pictures, value_range, scale_each)
    if len(pictures) == 1:
        return from_host(pictures[0])
    count, channels, high, wide = pictures.shape
    columns = min(nrow, count)
    rows = math.ceil(count / columns)
    high, wide = high + padding, wide + padding
    grid = np.full((channels, high * rows + padding, wide * columns + padding), pad_value, pictures.dtype)
    for i, picture in enumerate(pictures):
        top, left = i // columns * high + padding, i % columns * wide + padding
        grid[:, top : top + high - padding, left : left + wide - padding] = picture
    return from_host(grid)


def _batch(pictures: NDArray[Any]) -> NDArray[Any]:
    """Return (N, C, H, W) with three channels where there was one."""
    if pictures.ndim == 2:
        pictures = pictures[None]
    if pictures.ndim == 3:
        pictures = pictures[None]
    return np.concatenate([pictures] * 3, 1) if pictures.shape[1] == 1 else pictures


def _normalised(pictures: NDArray[Any], given: Any, each: bool) -> NDArray[Any]:
    if given is not None and not isinstance(given, tuple):
        raise TypeError("value_range has to be a tuple (min, max) if specified. min and max are numbers")
    axes = (1, 2, 3) if each else None
    if given is not None:
        low, high = np.asarray(given[0], pictures.dtype), np.asarray(given[1], pictures.dtype)
    else:
        low, high = pictures.min(axes, keepdims=True), pictures.max(axes, keepdims=True)
    return (np.clip(pictures, low, high) - low) / np.maximum(high - low, np.asarray(1e-5, pictures.dtype))


def save_image(tensor: Any, fp: Any, format: str | None = None, **options: Any) -> None:
    """Write a picture, or several side by side (`make_grid`'s options), to a file; floats from 0 to 1 become bytes."""
    grid = to_host(make_grid(tensor, **options))
    pixels = np.clip(grid * 255 + 0.5, 0, 255).transpose(1, 2, 0).astype(np.uint8)
    pillow().fromarray(np.ascontiguousarray(pixels)).save(fp, format=format)


def draw_bounding_boxes(
    image: Tensor, boxes: Tensor, labels: Any = None, colors: Any = "white", fill: bool = False, width: int = 1,
    font: str | None = None, font_size: int | None = None,
) -> Tensor:  # fmt: skip
    """Return a picture (3, H, W) of bytes with boxes (N, 4; x1, y1, x2, y2) drawn on it.

    font: the file of a TrueType font for the labels, of `font_size` (10); by default Pillow's own.
    """
    picture = pillow().fromarray(np.ascontiguousarray(to_host(image).transpose(1, 2, 0)))
    pen = pillow("ImageDraw").Draw(picture)
    letters = None if font is None else pillow("ImageFont").truetype(font, font_size or 10)
    for i, box in enumerate(to_host(boxes).tolist()):
        colour = colors[i] if isinstance(colors, list) else colors
        pen.rectangle(box, outline=colour, width=width, fill=colour if fill else None)
        if labels is not None and labels[i] is not None:
            pen.text((box[0] + width, box[1] + width), str(labels[i]), fill=colour, font=letters)
    return from_host(np.ascontiguousarray(np.asarray(picture).transpose(2, 0, 1)))
