"""torchvision.transforms.functional: what is done to one picture, a PIL image or a tensor (..., C, H, W)."""

from __future__ import annotations

from typing import Any

from funcgrad.vision.images import dimensions, is_pil
from funcgrad.vision.transforms.colour import (
    adjust_brightness,
    adjust_contrast,
    adjust_gamma,
    adjust_hue,
    adjust_saturation,
    adjust_sharpness,
    autocontrast,
    equalize,
    erase,
    gaussian_blur,
    invert,
    posterize,
    rgb_to_grayscale,
    solarize,
    to_grayscale,
)
from funcgrad.vision.transforms.conversion import (
    convert_image_dtype,
    normalize,
    pil_to_tensor,
    to_pil_image,
    to_tensor,
)
from funcgrad.vision.transforms.geometry import (
    InterpolationMode,
    affine,
    center_crop,
    crop,
    five_crop,
    hflip,
    pad,
    perspective,
    resize,
    resized_crop,
    rotate,
    ten_crop,
    vflip,
)

to_image, to_dtype, to_tensor_image = pil_to_tensor, convert_image_dtype, to_tensor
horizontal_flip, vertical_flip = hflip, vflip

__all__ = [
    "InterpolationMode", "adjust_brightness", "adjust_contrast", "adjust_gamma", "adjust_hue", "adjust_saturation",
    "adjust_sharpness", "affine", "autocontrast", "center_crop", "convert_image_dtype", "crop", "equalize", "erase",
    "five_crop", "gaussian_blur", "get_dimensions", "get_image_num_channels", "get_image_size", "hflip",
    "horizontal_flip", "invert", "is_pil", "normalize", "pad", "perspective", "pil_to_tensor", "posterize", "resize",
    "resized_crop", "rgb_to_grayscale", "rotate", "solarize", "ten_crop", "to_dtype", "to_grayscale", "to_image",
    "to_pil_image", "to_tensor", "vertical_flip", "vflip",
]  # fmt: skip


def get_dimensions(img: Any) -> list[int]:
    """Return channels, height and width."""
    return list(dimensions(img))


def get_image_size(img: Any) -> list[int]:
    """Return width and height."""
    _, high, wide = dimensions(img)
    return [wide, high]


def get_image_num_channels(img: Any) -> int:
    """Return the number of channels."""
    return dimensions(img)[0]
