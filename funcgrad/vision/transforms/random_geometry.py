"""Transforms that draw where the pixels go, in torchvision's order of draws."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import Any

from funcgrad import nn
from funcgrad._tensor import functions as fg
from funcgrad._tensor.interop import from_host
from funcgrad._tensor.tensor import Tensor
from funcgrad.vision import draws
from funcgrad.vision.images import dimensions
from funcgrad.vision.transforms import functional as F
from funcgrad.vision.transforms.geometry import InterpolationMode, sizes


class RandomHorizontalFlip(nn.Module):
    """Swap left and right with probability p."""

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self.p = p

    def forward(self, img: Any) -> Any:
        """Return the picture, flipped or not."""
        return F.hflip(img) if draws.uniform() < self.p else img

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p={self.p})"


class RandomVerticalFlip(RandomHorizontalFlip):
    """Swap top and bottom with probability p."""

    def forward(self, img: Any) -> Any:
        """Return the picture, flipped or not."""
        return F.vflip(img) if draws.uniform() < self.p else img


class RandomCrop(nn.Module):
    """A rectangle at a place that is drawn, after padding."""

    def __init__(
        self, size: Any, padding: Any = None, pad_if_needed: bool = False, fill: Any = 0,
        padding_mode: str = "constant",
    ) -> None:  # fmt: skip
        super().__init__()
        self.size, self.padding, self.pad_if_needed = sizes(size), padding, pad_if_needed
        self.fill, self.padding_mode = fill, padding_mode

    @staticmethod
    def get_params(img: Any, output_size: tuple[int, int]) -> tuple[int, int, int, int]:
        """Draw top and left; return them with height and width. ValueError where the picture is too small."""
        _, high, wide = dimensions(img)
        height, width = output_size
        if high < height or wide < width:
            raise ValueError(f"Required crop size {(height, width)} is larger than input image size {(high, wide)}")
        if (wide, high) == (width, height):
            return 0, 0, high, wide
        return draws.integer(high - height + 1), draws.integer(wide - width + 1), height, width

    def forward(self, img: Any) -> Any:
        """Return the rectangle."""
        if self.padding is not None:
            img = F.pad(img, self.padding, self.fill, self.padding_mode)
        _, high, wide = dimensions(img)
        if self.pad_if_needed and wide < self.size[1]:
            img = F.pad(img, [self.size[1] - wide, 0], self.fill, self.padding_mode)
        if self.pad_if_needed and high < self.size[0]:
            img = F.pad(img, [0, self.size[0] - high], self.fill, self.padding_mode)
        return F.crop(img, *self.get_params(img, self.size))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(size={self.size}, padding={self.padding})"


class RandomResizedCrop(nn.Module):
    """A rectangle of an area and shape that are drawn, resized."""

    def __init__(
        self, size: Any, scale: Sequence[float] = (0.08, 1.0), ratio: Sequence[float] = (3.0 / 4.0, 4.0 / 3.0),
        interpolation: Any = InterpolationMode.BILINEAR, antialias: bool | None = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self.size, self.scale, self.ratio = sizes(size), scale, ratio
        self.interpolation, self.antialias = interpolation, antialias

    @staticmethod
    def get_params(img: Any, scale: Sequence[float], ratio: Sequence[float]) -> tuple[int, int, int, int]:
        """Draw top, left, height and width; the middle, if ten draws do not fit."""
        _, high, wide = dimensions(img)
        for _ in range(10):
            area = high * wide * draws.uniform(scale[0], scale[1])
            shape = draws.log_uniform(ratio[0], ratio[1])
            width, height = round(math.sqrt(area * shape)), round(math.sqrt(area / shape))
            if 0 < width <= wide and 0 < height <= high:
                return draws.integer(high - height + 1), draws.integer(wide - width + 1), height, width
        whole = float(wide) / float(high)
        width = wide if whole <= max(ratio) else round(high * max(ratio))
        height = high if whole >= min(ratio) else round(wide / min(ratio))
        return (high - height) // 2, (wide - width) // 2, height, width

    def forward(self, img: Any) -> Any:
        """Return the rectangle in the wanted size."""
        place = self.get_params(img, self.scale, self.ratio)
        return F.resized_crop(img, *place, self.size, self.interpolation, self.antialias)

    def __repr__(self) -> str:
        mode = getattr(self.interpolation, "value", self.interpolation)
        shown = f"scale={tuple(round(s, 4) for s in self.scale)}, ratio={tuple(round(r, 4) for r in self.ratio)}"
        return f"{type(self).__name__}(size={self.size}, {shown}, interpolation={mode}, antialias={self.antialias})"


def interval(given: Any, name: str) -> tuple[float, ...]:
    """Return one number as an interval around 0, several as they are."""
    if isinstance(given, numbers.Real):
        if given < 0:
            raise ValueError(f"If {name} is a single number, it must be positive.")
        return -float(given), float(given)
    return tuple(map(float, given))


class RandomRotation(nn.Module):
    """Turn by an angle in degrees that is drawn."""

    def __init__(
        self, degrees: Any, interpolation: Any = InterpolationMode.NEAREST, expand: bool = False, center: Any = None,
        fill: Any = 0,
    ) -> None:  # fmt: skip
        super().__init__()
        self.degrees = interval(degrees, "degrees")
        self.interpolation, self.expand, self.center, self.fill = interpolation, expand, center, fill

    @staticmethod
    def get_params(degrees: Sequence[float]) -> float:
        """Draw the angle."""
        return draws.uniform(degrees[0], degrees[1])

    def forward(self, img: Any) -> Any:
        """Return the turned picture."""
        fill = self.fill
        if isinstance(img, Tensor):
            fill = [float(fill)] * dimensions(img)[0] if isinstance(fill, (int, float)) else [float(f) for f in fill]
        return F.rotate(img, self.get_params(self.degrees), self.interpolation, self.expand, self.center, fill)

    def __repr__(self) -> str:
        mode = getattr(self.interpolation, "value", self.interpolation)
        shown = f"degrees={list(self.degrees)}, interpolation={mode}, expand={self.expand}, fill={self.fill}"
        return f"{type(self).__name__}({shown})"


class RandomAffine(nn.Module):
    """Turn, move, scale and shear by amounts that are drawn."""

    def __init__(
        self, degrees: Any, translate: Sequence[float] | None = None, scale: Sequence[float] | None = None,
        shear: Any = None, interpolation: Any = InterpolationMode.NEAREST, fill: Any = 0, center: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.degrees, self.translate, self.scale = interval(degrees, "degrees"), translate, scale
        self.shear = None if shear is None else interval(shear, "shear")
        self.interpolation, self.fill, self.center = interpolation, fill, center
        if translate is not None and not all(0.0 <= part <= 1.0 for part in translate):
            raise ValueError("translation values should be between 0 and 1")
        if scale is not None and min(scale) <= 0:
            raise ValueError("scale values should be positive")

    @staticmethod
    def get_params(
        degrees: Any, translate: Any, scale_ranges: Any, shears: Any, img_size: Sequence[int]
    ) -> tuple[float, tuple[int, int], float, tuple[float, float]]:
        """Draw angle, moves, scale and shears, for a picture of (width, height)."""
        angle = draws.uniform(degrees[0], degrees[1])
        moves = (0, 0)
        if translate is not None:
            most = [float(part * size) for part, size in zip(translate, img_size, strict=True)]
            moves = round(draws.uniform(-most[0], most[0])), round(draws.uniform(-most[1], most[1]))
        scale = 1.0 if scale_ranges is None else draws.uniform(scale_ranges[0], scale_ranges[1])
        across = down = 0.0
        if shears is not None:
            across = draws.uniform(shears[0], shears[1])
            down = draws.uniform(shears[2], shears[3]) if len(shears) == 4 else 0.0
        return angle, moves, scale, (across, down)

    def forward(self, img: Any) -> Any:
        """Return the changed picture."""
        channels, high, wide = dimensions(img)
        fill = self.fill
        if isinstance(img, Tensor):
            fill = [float(fill)] * channels if isinstance(fill, (int, float)) else [float(f) for f in fill]
        drawn = self.get_params(self.degrees, self.translate, self.scale, self.shear, (wide, high))
        return F.affine(img, *drawn, interpolation=self.interpolation, fill=fill, center=self.center)

    def __repr__(self) -> str:
        shown = {"translate": self.translate, "scale": self.scale, "shear": self.shear}
        options = "".join(f", {name}={value}" for name, value in shown.items() if value is not None)
        return f"{type(self).__name__}(degrees={list(self.degrees)}{options})"


class RandomPerspective(nn.Module):
    """Bend the picture, with probability p, by corners that are drawn."""

    def __init__(
        self, distortion_scale: float = 0.5, p: float = 0.5, interpolation: Any = InterpolationMode.BILINEAR,
        fill: Any = 0,
    ) -> None:  # fmt: skip
        super().__init__()
        self.distortion_scale, self.p, self.interpolation, self.fill = distortion_scale, p, interpolation, fill

    @staticmethod
    def get_params(width: int, height: int, distortion_scale: float) -> tuple[list[list[int]], list[list[int]]]:
        """Draw where the corners go; return the corners and where they go."""
        across, down = int(distortion_scale * (width // 2)) + 1, int(distortion_scale * (height // 2)) + 1
        ends = [
            [draws.integer(across), draws.integer(down)],
            [draws.integer(width, width - across), draws.integer(down)],
            [draws.integer(width, width - across), draws.integer(height, height - down)],
            [draws.integer(across), draws.integer(height, height - down)],
        ]
        return [[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]], ends

    def forward(self, img: Any) -> Any:
        """Return the picture, bent or not."""
        _, high, wide = dimensions(img)
        if not draws.uniform() < self.p:
            return img
        corners, ends = self.get_params(wide, high, self.distortion_scale)
        return F.perspective(img, corners, ends, self.interpolation, self.fill)


class RandomErasing(nn.Module):
    """Overwrite a rectangle of a tensor with probability p. Source: https://arxiv.org/abs/1708.04896."""

    def __init__(
        self, p: float = 0.5, scale: Sequence[float] = (0.02, 0.33), ratio: Sequence[float] = (0.3, 3.3),
        value: Any = 0, inplace: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        if isinstance(value, str) and value != "random":
            raise ValueError("If value is str, it should be 'random'")
        if not 0 <= p <= 1:
            raise ValueError("Random erasing probability should be between 0 and 1")
        self.p, self.scale, self.ratio, self.value, self.inplace = p, scale, ratio, value, inplace

    @staticmethod
    def get_params(
        img: Tensor, scale: Sequence[float], ratio: Sequence[float], value: Sequence[float] | None = None
    ) -> tuple[int, int, int, int, Any]:
        """Draw a rectangle and what to write: `value`, or noise where it is None."""
        channels, high, wide = dimensions(img)
        for _ in range(10):
            area = high * wide * draws.uniform(scale[0], scale[1])
            shape = draws.log_uniform(ratio[0], ratio[1])
            height, width = round(math.sqrt(area * shape)), round(math.sqrt(area / shape))
            if not (height < high and width < wide):
                continue
            sizes = (channels, height, width)
            written = from_host(draws.normals(sizes)) if value is None else fg.tensor(value)[:, None, None]
            return draws.integer(high - height + 1), draws.integer(wide - width + 1), height, width, written
        return 0, 0, high, wide, img

    def forward(self, img: Tensor) -> Tensor:
        """Return the picture, a rectangle erased or not."""
        if not draws.uniform() < self.p:
            return img
        value = None if self.value == "random" else self.value
        listed: Any = [float(value)] if isinstance(value, (int, float)) else value
        return F.erase(img, *self.get_params(img, self.scale, self.ratio, listed), self.inplace)
