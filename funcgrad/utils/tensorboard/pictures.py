"""Pictures as TensorBoard wants them: PNG files made of arrays and figures."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from funcgrad._base.rooms import imported
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


def film(frames: NDArray[Any]) -> NDArray[np.uint8]:
    """Return films side by side as frames of uint8. Shape: (N, T, C, H, W), uint8 or from 0 to 1; result (T, H, W, C).

    N is filled up to a power of two with black films. Rows: 2 ** floor(floor(log2 N) / 2) of the N given.
    """
    if frames.dtype != np.uint8:
        frames = np.clip(frames.astype(np.float32) * 255, 0, 255).astype(np.uint8)
    count, length, colours, height, width = frames.shape
    if count & (count - 1):
        black = np.zeros((2 ** count.bit_length() - count, *frames.shape[1:]), np.uint8)
        frames = np.concatenate([frames, black])
    rows = 2 ** ((count.bit_length() - 1) // 2)
    placed = frames.reshape(rows, len(frames) // rows, length, colours, height, width).transpose(2, 0, 4, 1, 5, 3)
    return placed.reshape(length, rows * height, -1, colours)


def film_value(frames: NDArray[np.uint8], fps: float) -> bytes:
    """Return the summary's image field of (T, H, W, C) frames: an animated GIF, which Pillow writes.

    ModuleNotFoundError where Pillow is not installed.
    """
    image = imported("PIL.Image")
    pictures = [image.fromarray(frame if frame.shape[2] > 1 else frame[..., 0]) for frame in frames]
    file = io.BytesIO()
    pictures[0].save(
        file, "GIF", save_all=True, append_images=pictures[1:], duration=round(1000 / fps), loop=0, disposal=2
    )
    _, height, width, colours = frames.shape
    return content(4, integer(1, height) + integer(2, width) + integer(3, colours) + content(4, file.getvalue()))


def boxed(pixels: NDArray[Any], boxes: NDArray[Any], labels: Sequence[str] | None, rescale: float) -> bytes:
    """Return the summary's image field of an (H, W, 3) picture with red frames (left, top, right, bottom) drawn on it.

    Pillow draws and scales; ModuleNotFoundError where it is not installed.
    """
    image, draws, font = imported("PIL.Image"), imported("PIL.ImageDraw"), imported("PIL.ImageFont").load_default()
    if pixels.dtype != np.uint8:
        pixels = np.clip(pixels.astype(np.float32) * 255, 0, 255).astype(np.uint8)
    picture = image.fromarray(np.ascontiguousarray(pixels))
    draw = draws.Draw(picture)
    for i, (left, top, right, bottom) in enumerate(boxes.tolist()):
        corners = [(left, top), (left, bottom), (right, bottom), (right, top), (left, top)]
        draw.line(corners, width=2, fill="Red")
        if labels is not None:
            first, above, last, below = font.getbbox(labels[i])
            width, height, margin = last - first, below - above, np.ceil(0.05 * (below - above))
            draw.rectangle([(left, bottom - height - 2 * margin), (left + width, bottom)], fill="Red")
            draw.text((left + margin, bottom - height - margin), labels[i], fill="black", font=font)
    height, width, colours = pixels.shape
    picture = picture.resize((int(width * rescale), int(height * rescale)), image.Resampling.LANCZOS)
    file = io.BytesIO()
    picture.save(file, "PNG")
    return content(4, integer(1, height) + integer(2, width) + integer(3, colours) + content(4, file.getvalue()))


def drawn(figure: Any) -> NDArray[np.uint8]:
    """Return a matplotlib figure as (H, W, 3)."""
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba())[..., :3]
