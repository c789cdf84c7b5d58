"""Transforms that draw what the pixels look like, in torchvision's order of draws."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

from funcgrad import nn
from funcgrad.vision import draws
from funcgrad.vision.images import dimensions
from funcgrad.vision.transforms import functional as F

Range = tuple[float, float] | None


class ColorJitter(nn.Module):
    """Brightness, contrast, saturation and hue, changed by amounts and in an order that are drawn."""

    def __init__(self, brightness: Any = 0, contrast: Any = 0, saturation: Any = 0, hue: Any = 0) -> None:
        super().__init__()
        self.brightness = _range(brightness, "brightness")
        self.contrast = _range(contrast, "contrast")
        self.saturation = _range(saturation, "saturation")
        self.hue = _range(hue, "hue", center=0, bound=(-0.5, 0.5), at_zero=False)

    @staticmethod
    def get_params(
        brightness: Range, contrast: Range, saturation: Range, hue: Range
    ) -> tuple[list[int], float | None, float | None, float | None, float | None]:
        """Draw the order, and the amounts of those that change."""
        order = draws.permutation(4)
        amounts = [
            None if given is None else draws.uniform(*given) for given in (brightness, contrast, saturation, hue)
        ]
        return order, amounts[0], amounts[1], amounts[2], amounts[3]

    def forward(self, img: Any) -> Any:
        """Return the changed picture."""
        order, *amounts = self.get_params(self.brightness, self.contrast, self.saturation, self.hue)
        changes = (F.adjust_brightness, F.adjust_contrast, F.adjust_saturation, F.adjust_hue)
        for i in order:
            amount = amounts[i]
            if amount is not None:
                img = changes[i](img, amount)
        return img

    def __repr__(self) -> str:
        shown = f"brightness={self.brightness}, contrast={self.contrast}, saturation={self.saturation}, hue={self.hue}"
        return f"{type(self).__name__}({shown})"


def _range(
    value: Any, name: str, center: float = 1, bound: tuple[float, float] = (0, float("inf")), at_zero: bool = True
) -> Range:
    """Return the interval that an amount is drawn from; None where it changes nothing."""
    if isinstance(value, numbers.Real):
        if value < 0:
            raise ValueError(f"If {name} is a single number, it must be non negative.")
        low, high = center - float(value), center + float(value)
        low = max(low, 0.0) if at_zero else low
    elif isinstance(value, (tuple, list)) and len(value) == 2:
        low, high = float(value[0]), float(value[1])
    else:
        raise TypeError(f"{name} should be a single number or a list/tuple with length 2.")
    if not bound[0] <= low <= high <= bound[1]:
        raise ValueError(f"{name} values should be between {bound}, but got {(low, high)}.")
    return None if low == high == center else (low, high)


class RandomGrayscale(nn.Module):
    """Grey with probability p, in as many channels as before."""

    def __init__(self, p: float = 0.1) -> None:
        super().__init__()
        self.p = p

    def forward(self, img: Any) -> Any:
        """Return the picture, grey or not."""
        channels, _, _ = dimensions(img)
        return F.rgb_to_grayscale(img, channels) if draws.uniform() < self.p else img

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p={self.p})"


class GaussianBlur(nn.Module):
    """Blur with a width that is drawn."""

    def __init__(self, kernel_size: Any, sigma: Any = (0.1, 2.0)) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.sigma = (float(sigma), float(sigma)) if isinstance(sigma, (int, float)) else tuple(sigma)
        if not 0.0 < self.sigma[0] <= self.sigma[1]:
            raise ValueError(f"sigma values should be positive and of the form (min, max). Got {self.sigma}")

    def forward(self, img: Any) -> Any:
        """Return the blurred picture."""
        width = draws.uniform(self.sigma[0], self.sigma[1])
        return F.gaussian_blur(img, self.kernel_size, [width, width])

    def __repr__(self) -> str:
        return f"{type(self).__name__}(kernel_size={self.kernel_size}, sigma={self.sigma})"


class _Sometimes(nn.Module):
    """One change with probability p."""

    def __init__(self, change: Callable[..., Any], p: float, **options: Any) -> None:
        super().__init__()
        self.change, self.p, self.options = change, p, options

    def forward(self, img: Any) -> Any:
        """Return the picture, changed or not."""
        return self.change(img, **self.options) if draws.uniform() < self.p else img

    def __repr__(self) -> str:
        return f"{type(self).__name__}({''.join(f'{k}={v},' for k, v in self.options.items())}p={self.p})"


class RandomInvert(_Sometimes):
    """The negative with probability p."""

    def __init__(self, p: float = 0.5) -> None:
        super().__init__(F.invert, p)


class RandomPosterize(_Sometimes):
    """Fewer bits with probability p."""

    def __init__(self, bits: int, p: float = 0.5) -> None:
        super().__init__(F.posterize, p, bits=bits)


class RandomSolarize(_Sometimes):
    """Bright pixels inverted with probability p."""

    def __init__(self, threshold: float, p: float = 0.5) -> None:
        super().__init__(F.solarize, p, threshold=threshold)


class RandomAdjustSharpness(_Sometimes):
    """Sharper or smoother with probability p."""

    def __init__(self, sharpness_factor: float, p: float = 0.5) -> None:
        super().__init__(F.adjust_sharpness, p, sharpness_factor=sharpness_factor)


class RandomAutocontrast(_Sometimes):
    """Contrast spread with probability p."""

    def __init__(self, p: float = 0.5) -> None:
        super().__init__(F.autocontrast, p)


class RandomEqualize(_Sometimes):
    """Brightnesses spread with probability p."""

    def __init__(self, p: float = 0.5) -> None:
        super().__init__(F.equalize, p)
