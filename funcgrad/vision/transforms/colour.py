"""What the pixels of a picture look like: brightness, contrast, colour, sharpness, noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad._tensor import functions as fg
from funcgrad._tensor.interop import from_host
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn import functional as F
from funcgrad.vision.images import check, dimensions, is_pil, pillow
from funcgrad.vision.transforms.conversion import pil_to_tensor, to_pil_image


def _most(img: Tensor) -> float:
    return 1.0 if img.is_floating_point() else 255.0


def _blend(img: Tensor, other: Tensor, ratio: float) -> Tensor:
    """Return ratio * img + (1 - ratio) * other, kept in range."""
    return (img * ratio + other * (1.0 - ratio)).clamp(0, _most(img)).to(img.dtype)


def _not_negative(name: str, factor: float) -> None:
    if factor < 0:
        raise ValueError(f"{name} ({factor}) is not non-negative.")


def adjust_brightness(img: Any, brightness_factor: float) -> Any:
    """Multiply by a factor: 0 is black, 1 changes nothing."""
    check(img)
    _not_negative("brightness_factor", brightness_factor)
    if is_pil(img):
        return pillow("ImageEnhance").Brightness(img).enhance(brightness_factor)
    return _blend(img, fg.zeros_like(img), brightness_factor)


def adjust_contrast(img: Any, contrast_factor: float) -> Any:
    """Move away from (or, below 1, towards) the mean of the greys."""
    check(img)
    _not_negative("contrast_factor", contrast_factor)
    if is_pil(img):
        return pillow("ImageEnhance").Contrast(img).enhance(contrast_factor)
    grey = rgb_to_grayscale(img) if img.shape[-3] == 3 else img
    mean = grey.to(fg.result_type(img, 1.0)).mean((-3, -2, -1), keepdim=True)
    return _blend(img, mean, contrast_factor)


def adjust_saturation(img: Any, saturation_factor: float) -> Any:
    """Move away from (or, below 1, towards) grey."""
    check(img)
    _not_negative("saturation_factor", saturation_factor)
    if is_pil(img):
        return pillow("ImageEnhance").Color(img).enhance(saturation_factor)
    return img if img.shape[-3] == 1 else _blend(img, rgb_to_grayscale(img), saturation_factor)


def adjust_sharpness(img: Any, sharpness_factor: float) -> Any:
    """0 blurs, 1 changes nothing, 2 sharpens."""
    check(img)
    _not_negative("sharpness_factor", sharpness_factor)
    if is_pil(img):
        return pillow("ImageEnhance").Sharpness(img).enhance(sharpness_factor)
    channels, high, wide = dimensions(img)
    if high <= 2 or wide <= 2:
        return img
    weights = np.ones((3, 3), np.float32)
    weights[1, 1] = 5
    floats = img if img.is_floating_point() else img.float()
    kernel = from_host(weights / weights.sum(), device=img.device).expand(channels, 1, 3, 3)
    inside = F.conv2d(floats.reshape(-1, channels, high, wide), kernel, groups=channels)
    smooth = floats.clone()
    smooth[..., 1:-1, 1:-1] = inside.reshape(*img.shape[:-2], high - 2, wide - 2)
    return _blend(img, smooth if img.is_floating_point() else smooth.round(), sharpness_factor)


def adjust_hue(img: Any, hue_factor: float) -> Any:
    """Turn the circle of hues by `hue_factor` rounds, from -0.5 to 0.5."""
    check(img)
    if not -0.5 <= hue_factor <= 0.5:
        raise ValueError(f"hue_factor ({hue_factor}) is not in [-0.5, 0.5].")
    if is_pil(img):
        if img.mode in ("L", "1", "I", "F"):
            return img
        hue, saturation, value = img.convert("HSV").split()
        turned = np.array(hue, np.uint8) + np.int32(hue_factor * 255).astype(np.uint8)
        return pillow().merge("HSV", (pillow().fromarray(turned), saturation, value)).convert(img.mode)
    if img.shape[-3] == 1:
        return img
    floats = img if img.is_floating_point() else img.float() / 255.0
    turned = _hsv_to_rgb(*_turned(_rgb_to_hsv(floats), hue_factor))
    return turned if img.is_floating_point() else (turned * (255.0 + 1.0 - 1e-3)).to(img.dtype)


def _turned(hsv: tuple[Tensor, Tensor, Tensor], rounds: float) -> tuple[Tensor, Tensor, Tensor]:
    return (hsv[0] + rounds) % 1.0, hsv[1], hsv[2]


def _rgb_to_hsv(img: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    red, green, blue = img.unbind(-3)
    most, least = fg.amax(img, -3), fg.amin(img, -3)
    flat, spread = most == least, most - least
    ones = fg.ones_like(most)
    saturation = spread / fg.where(flat, ones, most)
    r, g, b = ((most - colour) / fg.where(flat, ones, spread) for colour in (red, green, blue))
    hue = (most == red) * (b - g)
    hue = hue + ((most == green) & (most != red)) * (2.0 + r - b)
    hue = hue + ((most != green) & (most != red)) * (4.0 + g - r)
    return fg.fmod(hue / 6.0 + 1.0, 1.0), saturation, most


def _hsv_to_rgb(hue: Tensor, saturation: Tensor, value: Tensor) -> Tensor:
    sector = fg.floor(hue * 6.0)
    part = hue * 6.0 - sector
    p = (value * (1.0 - saturation)).clamp(0.0, 1.0)
    q = (value * (1.0 - saturation * part)).clamp(0.0, 1.0)
    t = (value * (1.0 - saturation * (1.0 - part))).clamp(0.0, 1.0)
    masks = [(sector % 6 == i).to(value.dtype) for i in range(6)]
    rows = ((value, q, p, p, t, value), (t, value, value, q, p, p), (p, p, t, value, value, q))
    return fg.stack([sum(m * x for m, x in zip(masks, row, strict=True)) for row in rows], -3)


def adjust_gamma(img: Any, gamma: float, gain: float = 1) -> Any:
    """Return gain * img ** gamma, on a scale from 0 to 1."""
    check(img)
    _not_negative("gamma", gamma)
    if is_pil(img):
        table = [int((255 + 1 - 1e-3) * gain * pow(level / 255.0, gamma)) for level in range(256)]
        mode = img.mode
        made = img.convert("RGB") if mode not in ("L", "RGB") else img
        return made.point([min(level, 255) for level in table] * len(made.getbands())).convert(mode)
    most = _most(img)
    result = (gain * (img / most) ** gamma).clamp(0, 1)
    return result if img.is_floating_point() else (result * (most + 1.0 - 1e-3)).to(img.dtype)


def rgb_to_grayscale(img: Any, num_output_channels: int = 1) -> Any:
    """Return the greys 0.2989 R + 0.587 G + 0.114 B, in one channel or in three."""
    check(img)
    if num_output_channels not in (1, 3):
        raise ValueError("num_output_channels should be either 1 or 3")
    if is_pil(img):
        grey = img.convert("L")
        return grey if num_output_channels == 1 else pillow().merge("RGB", (grey, grey, grey))
    if img.shape[-3] == 1:
        grey = img
    else:
        red, green, blue = img.unbind(-3)
        grey = (0.2989 * red + 0.587 * green + 0.114 * blue).to(img.dtype).unsqueeze(-3)
    return grey if num_output_channels == 1 else grey.expand(*img.shape[:-3], 3, *img.shape[-2:])


def to_grayscale(img: Any, num_output_channels: int = 1) -> Any:
    """Return a PIL image in grey."""
    if not is_pil(img):
        raise TypeError("Input should be PIL Image")
    return rgb_to_grayscale(img, num_output_channels)


def invert(img: Any) -> Any:
    """Return the negative."""
    check(img)
    return pillow("ImageOps").invert(img) if is_pil(img) else (_most(img) - img).to(img.dtype)


def solarize(img: Any, threshold: float) -> Any:
    """Invert what is at least as bright as the threshold."""
    check(img)
    return pillow("ImageOps").solarize(img, threshold) if is_pil(img) else fg.where(img >= threshold, invert(img), img)


def posterize(img: Any, bits: int) -> Any:
    """Keep only the highest bits of each byte."""
    check(img)
    if is_pil(img):
        return pillow("ImageOps").posterize(img, bits)
    return img & (256 - (1 << (8 - bits)))


def _through_pil(img: Tensor, name: str) -> Any:
    made = getattr(pillow("ImageOps"), name)(to_pil_image(img))
    return pil_to_tensor(made).to(img.dtype) / (255.0 if img.is_floating_point() else 1)


def autocontrast(img: Any) -> Any:
    """Spread each channel so that its darkest pixel is black and its brightest white."""
    check(img)
    if is_pil(img):
        return pillow("ImageOps").autocontrast(img)
    least, most = fg.amin(img, (-2, -1), keepdim=True), fg.amax(img, (-2, -1), keepdim=True)
    spread = most - least
    scaled = (img - least) * _most(img) / fg.where(spread == 0, fg.ones_like(spread), spread)
    return fg.where(spread == 0, img, scaled.clamp(0, _most(img)).to(img.dtype))


def equalize(img: Any) -> Any:
    """Spread the brightnesses so that all occur alike often."""
    check(img)
    return pillow("ImageOps").equalize(img) if is_pil(img) else _through_pil(img, "equalize").to(img.dtype)


def gaussian_blur(img: Any, kernel_size: Any, sigma: Any = None) -> Any:
    """Blur with a Gaussian of odd size (one number, or across and down). Without sigma: 0.15 size + 0.35."""
    check(img)
    across, down = (kernel_size, kernel_size) if isinstance(kernel_size, int) else (kernel_size[0], kernel_size[-1])
    if any(size <= 0 or size % 2 == 0 for size in (across, down)):
        raise ValueError(f"kernel_size should have odd and positive integers. Got {(across, down)}")
    widths = _widths(sigma, (across, down))
    if is_pil(img):
        return to_pil_image(gaussian_blur(pil_to_tensor(img), (across, down), widths), img.mode)
    channels = img.shape[-3]
    kernel = np.outer(_gaussian(down, widths[1]), _gaussian(across, widths[0])).astype(np.float32)
    weights = from_host(kernel, device=img.device).expand(channels, 1, down, across)
    floats = (img if img.is_floating_point() else img.float()).reshape(-1, channels, *img.shape[-2:])
    padded = F.pad(floats, (across // 2, across // 2, down // 2, down // 2), mode="reflect")
    result = F.conv2d(padded, weights.to(floats.dtype), groups=channels).reshape(img.shape)
    return result if img.is_floating_point() else result.round().to(img.dtype)


def _widths(sigma: Any, sizes: Sequence[int]) -> tuple[float, float]:
    if sigma is None:
        return sizes[0] * 0.15 + 0.35, sizes[1] * 0.15 + 0.35
    both = (sigma, sigma) if isinstance(sigma, (int, float)) else (sigma[0], sigma[-1])
    if min(both) <= 0:
        raise ValueError(f"sigma should have positive values. Got {both}")
    return both


def _gaussian(size: int, width: float) -> np.ndarray[Any, Any]:
    places = np.linspace(-(size - 1) / 2, (size - 1) / 2, size)
    heights = np.exp(-0.5 * (places / width) ** 2)
    return heights / heights.sum()


def erase(img: Any, i: int, j: int, h: int, w: int, v: Any, inplace: bool = False) -> Any:
    """Write `v` into the rectangle of height h and width w at row i and column j."""
    if not isinstance(img, Tensor):
        raise TypeError(f"img should be Tensor Image. Got {type(img)}")
    result = img if inplace else img.clone()
    result[..., i : i + h, j : j + w] = v
    return result
