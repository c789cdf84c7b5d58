"""Pictures as TensorBoard wants them: PNG files made of arrays and figures."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from funcgrad.utils.tensorboard.event_file import content, integer

_COLOURS = {1: 0, 2: 4, 3: 2, 4: 6}  # channels -> PNG's kind of colour


def png(pixels: NDArray[np.uint8]) -> bytes:
    """Return an (H, W, C) array as a PNG file."""
    height, width, channels = pixels.shape
    head = struct.pack(">IIBBBBB", width, height, 8, _COLOURS[channels], 0, 0, 0)
    rows = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, -1)], axis=1)  # 0: no filter
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(rows.tobytes())), (b"IEND", b""))
    chunks = (struct.pack(">I", len(d)) + k + d + struct.pack(">I", zlib.crc32(k + d)) for k, d in parts)
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def image_value(pixels: NDArray[Any]) -> bytes:
    """Return the summary's image field of an (H, W, C) array of uint8, or of floats from 0 to 1."""
    if pixels.dtype != np.uint8:
        pixels = np.clip(pixels * 255.0, 0, 255).astype(np.uint8)
    height, width, channels = pixels.shape
    fields = integer(1, height) + integer(2, width) + integer(3, channels)
    return content(4, fields + content(4, png(np.ascontiguousarray(pixels))))


def arranged(picture: NDArray[Any], dataformats: str) -> NDArray[Any]:
    """Return one picture, or several side by side, as (H, W, C). AssertionError where the letters do not fit."""
    letters = dataformats.upper()
    if len(letters) != picture.ndim or len(set(letters)) != len(letters):
        raise AssertionError(f"size of input tensor and input format are different: {picture.shape} and {dataformats}")
    if "N" in letters:
        return _grid(picture.transpose([letters.index(letter) for letter in "NHWC"]))
    if "C" not in letters:
        picture, letters = picture[..., None], letters + "C"
    placed = picture.transpose([letters.index(letter) for letter in "HWC"])
    return np.repeat(placed, 3, axis=2) if placed.shape[2] == 1 else placed


def _grid(pictures: NDArray[Any], columns: int = 8) -> NDArray[Any]:
    count, height, width, channels = pictures.shape
    columns = min(count, columns)
    rows = -(-count // columns)
    full = np.zeros((rows * columns, height, width, channels), pictures.dtype)
    full[:count] = pictures
    joined = full.reshape(rows, columns, height, width, channels).swapaxes(1, 2)
    return joined.reshape(rows * height, columns * width, channels)


def drawn(figure: Any) -> NDArray[np.uint8]:
    """Return a matplotlib figure as (H, W, 3)."""
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba())[..., :3]
