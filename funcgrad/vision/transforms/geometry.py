"""Where the pixels of a picture go: cut, padded, resized, flipped, turned."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from enum import Enum
from typing import Any

import numpy as np

from funcgrad._tensor import functions as fg
from funcgrad._tensor.interop import from_host
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn import functional as F
from funcgrad.vision.images import changed, check, dimensions, is_pil, pillow


class InterpolationMode(Enum):
    """How pixels between pixels are found."""

    NEAREST = "nearest"
    NEAREST_EXACT = "nearest-exact"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"
    BOX = "box"
    HAMMING = "hamming"
    LANCZOS = "lanczos"


_PIL_NUMBERS = {"nearest": 0, "nearest-exact": 0, "lanczos": 1, "bilinear": 2, "bicubic": 3, "box": 4, "hamming": 5}
_OF_NUMBER = {0: "nearest", 1: "lanczos", 2: "bilinear", 3: "bicubic", 4: "box", 5: "hamming"}


def mode_of(given: Any) -> str:
    """Return the word for an interpolation, given as a mode or as PIL's number."""
    if isinstance(given, InterpolationMode):
        return given.value
    if isinstance(given, int):
        return _OF_NUMBER[int(given)]
    raise TypeError("Argument interpolation should be a InterpolationMode or a corresponding Pillow integer constant")


def crop(img: Any, top: int, left: int, height: int, width: int) -> Any:
    """Cut out a rectangle; what lies outside of the picture is 0."""
    check(img)
    if is_pil(img):
        return img.crop((left, top, left + width, top + height))
    _, high, wide = dimensions(img)
    beyond = (max(-left, 0), max(left + width - wide, 0), max(-top, 0), max(top + height - high, 0))
    rows, columns = slice(max(top, 0), top + height), slice(max(left, 0), left + width)
    inside = changed(img, lambda x: x[..., rows, columns], lambda x: x[..., rows, columns])
    return F.pad(inside, beyond) if any(beyond) else inside


def center_crop(img: Any, output_size: Any) -> Any:
    """Cut out the middle, padded with 0 where the picture is smaller."""
    height, width = sizes(output_size)
    _, high, wide = dimensions(img)
    if width > wide or height > high:
        sides = [max(width - wide, 0), max(height - high, 0)]
        img = pad(img, [sides[0] // 2, sides[1] // 2, (sides[0] + 1) // 2, (sides[1] + 1) // 2])
        _, high, wide = dimensions(img)
    return crop(img, round((high - height) / 2.0), round((wide - width) / 2.0), height, width)


def sizes(given: Any) -> tuple[int, int]:
    """Return height and width of one number or of two. ValueError for anything else."""
    if isinstance(given, numbers.Number):
        return int(given), int(given)  # type: ignore[arg-type]  # a number
    if len(given) not in (1, 2):
        raise ValueError("Please provide only two dimensions (h, w) for size.")
    return int(given[0]), int(given[-1])


def resized_size(high: int, wide: int, size: Any, max_size: int | None = None) -> tuple[int, int]:
    """Return height and width after resizing: two numbers as they are, one as the length of the shorter side."""
    if not isinstance(size, int) and len(size) == 2:
        return size[0], size[1]
    wanted = size if isinstance(size, int) else size[0]
    short, long = sorted((high, wide))
    new_short, new_long = wanted, int(wanted * long / short)
    if max_size is not None:
        if max_size <= wanted:
            raise ValueError(f"max_size = {max_size} must be strictly greater than the requested size = {size}")
        if new_long > max_size:
            new_short, new_long = int(max_size * new_short / new_long), max_size
    return (new_long, new_short) if wide <= high else (new_short, new_long)


def resize(
    img: Any, size: Any, interpolation: Any = InterpolationMode.BILINEAR, max_size: int | None = None,
    antialias: bool | None = True,
) -> Any:  # fmt: skip
    """Change the size: one number is the length of the shorter side, two are height and width."""
    mode = mode_of(interpolation)
    _, high, wide = dimensions(img)
    height, width = resized_size(high, wide, size, max_size)
    if (height, width) == (high, wide):
        return img
    if is_pil(img):
        return img.resize((width, height), _PIL_NUMBERS[mode])
    smooth = mode in ("bilinear", "bicubic")
    options: dict[str, Any] = {"align_corners": False, "antialias": bool(antialias)} if smooth else {}
    return _as_floats(img, lambda x: F.interpolate(x, size=(height, width), mode=mode, **options))


def _as_floats(img: Tensor, change: Any) -> Tensor:
    """Apply what takes float batches to a picture of any dtype and number of dimensions."""
    batch = img if img.ndim == 4 else img.reshape(-1, *img.shape[-3:]) if img.ndim > 2 else img[None, None]
    result = change(batch if img.is_floating_point() else batch.float())
    if not img.is_floating_point():
        result = result.round().clamp(0, 255 if img.dtype.itemsize == 1 else None).to(img.dtype)
    return result.reshape(*img.shape[:-2], *result.shape[-2:])


def _paddings(padding: Any) -> tuple[int, int, int, int]:
    """Return left, top, right and bottom."""
    listed: list[Any] = [padding] if isinstance(padding, numbers.Number) else list(padding)
    if len(listed) not in (1, 2, 4):
        raise ValueError(f"Padding must be an int or a 1, 2, or 4 element tuple, not a {len(listed)} element tuple")
    left, top, right, bottom = listed * (4 // len(listed))
    return left, top, right, bottom


def pad(img: Any, padding: Any, fill: Any = 0, padding_mode: str = "constant") -> Any:
    """Add a border: all sides, left-right and top-bottom, or left, top, right, bottom.

    padding_mode: "constant" (filled with `fill`), "edge", "reflect" or "symmetric".
    """
    if padding_mode not in ("constant", "edge", "reflect", "symmetric"):
        raise ValueError("Padding mode should be either constant, edge, reflect or symmetric")
    check(img)
    left, top, right, bottom = _paddings(padding)
    if is_pil(img):
        return _padded_picture(img, (left, top, right, bottom), fill, padding_mode)
    if padding_mode == "constant" and not isinstance(fill, (tuple, list)):
        return F.pad(img, (left, right, top, bottom), value=fill)
    rows = _places(img.shape[-2], top, bottom, padding_mode)
    columns = _places(img.shape[-1], left, right, padding_mode)
    if padding_mode == "constant":
        padded = F.pad(img, (left, right, top, bottom))
        inside = F.pad(fg.ones_like(img[..., :1, :, :]), (left, right, top, bottom))
        return padded + (1 - inside) * fg.tensor(list(fill), dtype=img.dtype, device=img.device).reshape(-1, 1, 1)
    return changed(
        img,
        lambda x: x[..., rows, :][..., columns],
        lambda x: x[..., from_host(rows), :][..., from_host(columns)],
    )


def _places(size: int, before: int, after: int, mode: str) -> np.ndarray[Any, Any]:
    kind: Any = mode if mode != "constant" else "edge"
    return np.pad(np.arange(size), (max(before, 0), max(after, 0)), kind)


def _padded_picture(img: Any, sides: tuple[int, int, int, int], fill: Any, mode: Any) -> Any:
    left, top, right, bottom = sides
    if mode == "constant":
        colour = _colour(img, fill)
        palette = img.getpalette() if img.mode == "P" else None
        image = pillow("ImageOps").expand(img, border=sides, fill=colour)
        if palette:
            image.putpalette(palette)
        return image
    cut = [max(-side, 0) for side in sides]
    img = img.crop((cut[0], cut[1], img.width - cut[2], img.height - cut[3])) if any(cut) else img
    left, top, right, bottom = (max(side, 0) for side in sides)
    pixels = np.asarray(img)
    around: Any = ((top, bottom), (left, right), (0, 0))[: pixels.ndim]
    return pillow().fromarray(np.pad(pixels, around, mode))


def _colour(img: Any, fill: Any) -> Any:
    bands = len(img.getbands())
    if isinstance(fill, (list, tuple)):
        fill = tuple(fill) * (bands if len(fill) == 1 else 1)
        if len(fill) != bands:
            raise ValueError(
                f"The number of elements in 'fill' does not match the number of channels of the image ({len(fill)} != "
                f"{bands})"
            )
        return fill if bands > 1 else fill[0]
    colour = float(fill) if img.mode == "F" else int(fill)
    return (colour,) * bands if bands > 1 else colour


def resized_crop(
    img: Any, top: int, left: int, height: int, width: int, size: Any,
    interpolation: Any = InterpolationMode.BILINEAR, antialias: bool | None = True,
) -> Any:  # fmt: skip
    """Cut out a rectangle, then resize it."""
    return resize(crop(img, top, left, height, width), size, interpolation, antialias=antialias)


def hflip(img: Any) -> Any:
    """Swap left and right."""
    check(img)
    if is_pil(img):
        return img.transpose(0)
    return changed(img, lambda x: np.flip(x, -1), lambda x: x.flip(-1))


def vflip(img: Any) -> Any:
    """Swap top and bottom."""
    check(img)
    if is_pil(img):
        return img.transpose(1)
    return changed(img, lambda x: np.flip(x, -2), lambda x: x.flip(-2))


def five_crop(img: Any, size: Any) -> tuple[Any, ...]:
    """Return the four corners and the middle."""
    height, width = sizes(size)
    _, high, wide = dimensions(img)
    if width > wide or height > high:
        raise ValueError(f"Requested crop size {size} is bigger than input size {(high, wide)}")
    corners = [(0, 0), (0, wide - width), (high - height, 0), (high - height, wide - width)]
    return (*(crop(img, *corner, height, width) for corner in corners), center_crop(img, (height, width)))


def ten_crop(img: Any, size: Any, vertical_flip: bool = False) -> tuple[Any, ...]:
    """Return the five crops of the picture and of its mirror image."""
    return five_crop(img, size) + five_crop(vflip(img) if vertical_flip else hflip(img), size)


def inverse_affine_matrix(
    center: Sequence[float], angle: float, translate: Sequence[float], scale: float, shear: Sequence[float]
) -> list[float]:
    """Return, as two rows, where a pixel of the result comes from: shear, scale, turn about the centre, then move."""
    turn, shear_x, shear_y = math.radians(angle), math.radians(shear[0]), math.radians(shear[1])
    (cx, cy), (tx, ty) = center, translate
    a = math.cos(turn - shear_y) / math.cos(shear_y)
    b = -math.cos(turn - shear_y) * math.tan(shear_x) / math.cos(shear_y) - math.sin(turn)
    c = math.sin(turn - shear_y) / math.cos(shear_y)
    d = -math.sin(turn - shear_y) * math.tan(shear_x) / math.cos(shear_y) + math.cos(turn)
    m = [d / scale, -b / scale, 0.0, -c / scale, a / scale, 0.0]
    m[2] = m[0] * (-cx - tx) + m[1] * (-cy - ty) + cx
    m[5] = m[3] * (-cx - tx) + m[4] * (-cy - ty) + cy
    return m


def _sampled(img: Tensor, matrix: Sequence[float], mode: str, fill: Any, size: tuple[int, int]) -> Tensor:
    """Return the picture whose pixel at p (from the middle) is the picture's at matrix @ p."""
    _, high, wide = dimensions(img)
    height, width = size
    x = np.arange(width) - width * 0.5 + 0.5
    y = np.arange(height) - height * 0.5 + 0.5
    a, b, c, d, e, f = matrix
    across = (a * x + b * y[:, None] + c) / (0.5 * wide)
    down = (d * x + e * y[:, None] + f) / (0.5 * high)
    grid = from_host(np.stack([across, down], -1)[None].astype(np.float32), device=img.device)

    def sample(batch: Tensor) -> Tensor:
        places = grid.to(batch.dtype).expand(batch.shape[0], height, width, 2)
        found = F.grid_sample(batch, places, mode=mode, padding_mode="zeros", align_corners=False)
        if fill is None or not np.any(fill):
            return found
        covered = F.grid_sample(fg.ones_like(batch[:, :1]), places, mode=mode, align_corners=False)
        colour = fg.tensor(fill, dtype=batch.dtype, device=batch.device).reshape(1, -1, 1, 1)
        return fg.where(covered < 0.5, colour, found) if mode == "nearest" else found * covered + (1 - covered) * colour

    return _as_floats(img, sample)


def rotate(
    img: Any, angle: float, interpolation: Any = InterpolationMode.NEAREST, expand: bool = False,
    center: Sequence[float] | None = None, fill: Any = None,
) -> Any:  # fmt: skip
    """Turn by degrees against the clock; `expand` makes room for the corners; `center` counts from the upper left."""
    check(img)
    mode = mode_of(interpolation)
    if is_pil(img):
        return img.rotate(
            angle, _PIL_NUMBERS[mode], expand, center, fillcolor=_colour(img, 0 if fill is None else fill)
        )
    _, high, wide = dimensions(img)
    offset = [0.0, 0.0] if center is None else [center[0] - wide * 0.5, center[1] - high * 0.5]
    matrix = inverse_affine_matrix(offset, -angle, [0.0, 0.0], 1.0, [0.0, 0.0])
    size = _expanded(high, wide, angle) if expand else (high, wide)
    return _sampled(img, matrix, mode, fill, size)


def _expanded(high: int, wide: int, angle: float) -> tuple[int, int]:
    cos, sin = abs(math.cos(math.radians(angle))), abs(math.sin(math.radians(angle)))
    return math.ceil(high * cos + wide * sin - 1e-6), math.ceil(wide * cos + high * sin - 1e-6)


def affine(
    img: Any, angle: float, translate: Sequence[float], scale: float, shear: Any,
    interpolation: Any = InterpolationMode.NEAREST, fill: Any = None, center: Sequence[float] | None = None,
) -> Any:  # fmt: skip
    """Turn (with the clock), move, scale and shear about the centre."""
    check(img)
    if scale <= 0:
        raise ValueError("Argument scale should be positive")
    mode = mode_of(interpolation)
    shears = [shear, 0.0] if isinstance(shear, numbers.Number) else [*shear, 0.0][:2]
    _, high, wide = dimensions(img)
    if is_pil(img):
        middle = [wide * 0.5, high * 0.5] if center is None else center
        matrix = inverse_affine_matrix(middle, angle, translate, scale, shears)
        colour = _colour(img, 0 if fill is None else fill)
        return img.transform((wide, high), 0, matrix, _PIL_NUMBERS[mode], fillcolor=colour)
    offset = [0.0, 0.0] if center is None else [center[0] - wide * 0.5, center[1] - high * 0.5]
    return _sampled(img, inverse_affine_matrix(offset, angle, translate, scale, shears), mode, fill, (high, wide))


def perspective_coefficients(startpoints: Sequence[Any], endpoints: Sequence[Any]) -> list[float]:
    """Return the eight numbers that map the four end points to the four start points."""
    rows, wanted = [], []
    for (x, y), (u, v) in zip(endpoints, startpoints, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        wanted += [u, v]
    return np.linalg.lstsq(np.array(rows, np.float64), np.array(wanted, np.float64), rcond=None)[0].tolist()


def perspective(
    img: Any, startpoints: Sequence[Any], endpoints: Sequence[Any],
    interpolation: Any = InterpolationMode.BILINEAR, fill: Any = None,
) -> Any:  # fmt: skip
    """Bend a PIL image so that its corners go from the start points to the end points (lists of (x, y))."""
    if not is_pil(img):
        raise TypeError(f"perspective takes a PIL Image. Got {type(img)}")
    numbers_ = perspective_coefficients(startpoints, endpoints)
    colour = _colour(img, 0 if fill is None else fill)
    return img.transform(img.size, 2, numbers_, _PIL_NUMBERS[mode_of(interpolation)], fillcolor=colour)
