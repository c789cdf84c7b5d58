"""torchvision.io: pictures from files and into files, as tensors (C, H, W) of bytes."""

from __future__ import annotations

import io
import os
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np

from funcgrad._tensor.interop import from_host, to_host
from funcgrad._tensor.tensor import Tensor
from funcgrad.vision.images import pillow
from funcgrad.vision.transforms.conversion import pil_to_tensor, to_pil_image


class ImageReadMode(Enum):
    """Which channels a picture is read with."""

    UNCHANGED = None
    GRAY = "L"
    GRAY_ALPHA = "LA"
    RGB = "RGB"
    RGB_ALPHA = "RGBA"


def read_image(
    path: str | os.PathLike[str], mode: Any = ImageReadMode.UNCHANGED, apply_exif_orientation: bool = False
) -> Tensor:
    """Return a file's picture."""
    return decode_image(read_file(path), mode, apply_exif_orientation)


def decode_image(input: Tensor, mode: Any = ImageReadMode.UNCHANGED, apply_exif_orientation: bool = False) -> Tensor:
    """Return the picture in the bytes of a file (a tensor of uint8), turned as the camera was held if asked for."""
    wanted = ImageReadMode[mode] if isinstance(mode, str) else mode
    picture = pillow().open(io.BytesIO(to_host(input).tobytes()))
    if apply_exif_orientation:
        picture = pillow("ImageOps").exif_transpose(picture)
    return pil_to_tensor(picture if wanted.value is None else picture.convert(wanted.value))


decode_png = decode_image


def decode_jpeg(
    input: Tensor, mode: Any = ImageReadMode.UNCHANGED, device: Any = "cpu", apply_exif_orientation: bool = False
) -> Tensor:
    """Return the picture in the bytes of a JPEG file, on a device."""
    return decode_image(input, mode, apply_exif_orientation).to(device)


def read_file(path: str | os.PathLike[str]) -> Tensor:
    """Return a file's bytes."""
    return from_host(np.frombuffer(Path(path).read_bytes(), np.uint8))


def write_file(filename: str | os.PathLike[str], data: Tensor) -> None:
    """Write bytes to a file."""
    Path(filename).write_bytes(to_host(data).tobytes())


def _encoded(picture: Tensor, form: str, **options: Any) -> Tensor:
    file = io.BytesIO()
    to_pil_image(picture).save(file, format=form, **options)
    return from_host(np.frombuffer(file.getvalue(), np.uint8))


def encode_png(input: Tensor, compression_level: int = 6) -> Tensor:
    """Return a picture as the bytes of a PNG file."""
    return _encoded(input, "PNG", compress_level=compression_level)


def encode_jpeg(input: Tensor, quality: int = 75) -> Tensor:
    """Return a picture as the bytes of a JPEG file."""
    return _encoded(input, "JPEG", quality=quality)


def write_png(input: Tensor, filename: str | os.PathLike[str], compression_level: int = 6) -> None:
    """Write a picture to a PNG file."""
    write_file(filename, encode_png(input, compression_level))


def write_jpeg(input: Tensor, filename: str | os.PathLike[str], quality: int = 75) -> None:
    """Write a picture to a JPEG file."""
    write_file(filename, encode_jpeg(input, quality))
