"""From pictures to tensors and back, and from one dtype to another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad._base import dtypes
from funcgrad._base.dtypes import dtype as DType
from funcgrad._tensor import functions as fg
from funcgrad._tensor.interop import from_host, to_host
from funcgrad._tensor.tensor import Tensor
from funcgrad.vision.images import changed, is_pil, pillow

_WIDE_MODES = {"I": np.int32, "I;16": np.int16, "I;16L": np.int16, "I;16B": np.int16, "F": np.float32}


def to_tensor(pic: Any) -> Tensor:
    """Return a PIL image or an (H, W, C) array as a tensor (C, H, W); bytes become floats from 0 to 1.

    TypeError for anything else, ValueError for an array of another number of dimensions.
    """
    if isinstance(pic, np.ndarray):
        if pic.ndim not in (2, 3):
            raise ValueError(f"pic should be 2/3 dimensional. Got {pic.ndim} dimensions.")
        pixels = pic[:, :, None] if pic.ndim == 2 else pic
    elif is_pil(pic):
        pixels = _pixels(pic)
    else:
        raise TypeError(f"pic should be PIL Image or ndarray. Got {type(pic)}")
    pixels = pixels.transpose(2, 0, 1)
    if pixels.dtype != np.uint8:
        return from_host(np.ascontiguousarray(pixels))
    kind = dtypes.get_default_dtype().numpy
    return from_host(np.divide(pixels, np.asarray(255, kind), dtype=kind, order="C"))


def _pixels(picture: Any) -> np.ndarray[Any, Any]:
    """Return a PIL image as (H, W, C)."""
    if picture.mode == "1":
        found = np.array(picture, np.uint8) * 255
    else:
        found = np.array(picture, _WIDE_MODES.get(picture.mode))
    return found[:, :, None] if found.ndim == 2 else found


def pil_to_tensor(pic: Any) -> Tensor:
    """Return a PIL image as a tensor (C, H, W) of its own numbers."""
    if not is_pil(pic):
        raise TypeError(f"pic should be PIL Image. Got {type(pic)}")
    pixels = np.array(pic)
    return from_host(np.ascontiguousarray((pixels[:, :, None] if pixels.ndim == 2 else pixels).transpose(2, 0, 1)))


def to_pil_image(pic: Any, mode: str | None = None) -> Any:
    """Return a tensor (C, H, W) or an array (H, W, C) as a PIL image; floats from 0 to 1 become bytes."""
    if isinstance(pic, Tensor):
        if pic.ndim not in (2, 3):
            raise ValueError(f"pic should be 2/3 dimensional. Got {pic.ndim} dimensions.")
        pixels = to_host(pic.detach())
        pixels = (pixels[None] if pixels.ndim == 2 else pixels).transpose(1, 2, 0)
        if pixels.dtype.kind == "f" and mode != "F":
            pixels = (pixels * 255).astype(np.uint8)
    elif isinstance(pic, np.ndarray):
        if pic.ndim not in (2, 3):
            raise ValueError(f"pic should be 2/3 dimensional. Got {pic.ndim} dimensions.")
        pixels = pic[:, :, None] if pic.ndim == 2 else pic
    else:
        raise TypeError(f"pic should be Tensor or ndarray. Got {type(pic)}.")
    if pixels.shape[2] > 4:
        raise ValueError(f"pic should not have > 4 channels. Got {pixels.shape[2]} channels.")
    return _as_picture(np.ascontiguousarray(pixels), mode)


def _as_picture(pixels: np.ndarray[Any, Any], mode: str | None) -> Any:
    if pixels.shape[2] == 1:
        usual = {"u1": "L", "i2": "I;16", "i4": "I", "f4": "F"}.get(pixels.dtype.str[1:])
        if usual is None:
            raise TypeError(f"Input type {pixels.dtype} is not supported")
        if mode is not None and mode != usual:
            raise ValueError(f"Incorrect mode ({mode}) supplied for input type {pixels.dtype}. Should be {usual}")
        return pillow().fromarray(pixels[:, :, 0])
    permitted = {2: ("LA",), 3: ("RGB", "YCbCr", "HSV"), 4: ("RGBA", "CMYK", "RGBX")}[pixels.shape[2]]
    if pixels.dtype != np.uint8:
        raise TypeError(f"Input type {pixels.dtype} is not supported")
    if mode is not None and mode not in permitted:
        raise ValueError(f"Only modes {permitted} are supported for {pixels.shape[2]}D inputs")
    height, width, _ = pixels.shape
    return pillow().frombytes(mode or permitted[0], (width, height), pixels.tobytes())


def convert_image_dtype(image: Tensor, dtype: DType = dtypes.float32) -> Tensor:
    """Return a picture in another dtype, scaled: integers use their whole range, floats 0 to 1."""
    before, after = image.dtype, dtype
    if before == after:
        return image
    if before.is_floating_point and after.is_floating_point:
        return image.to(after)
    if before.is_floating_point:
        if (before, after) in ((dtypes.float32, dtypes.int32), (dtypes.float32, dtypes.int64)):
            raise RuntimeError(f"The cast from {before} to {after} cannot be performed safely.")
        return (image * (_most(after) + 1.0 - 1e-3)).to(after)
    if after.is_floating_point:
        kind, most = after.numpy, _most(before)
        return changed(image, lambda x: np.divide(x.astype(kind), kind.type(most)), lambda x: x.to(after) / most)
    factor = (_most(before) + 1) // (_most(after) + 1)
    if factor:
        return fg.div(image, factor, rounding_mode="floor").to(after)
    return image.to(after) * ((_most(after) + 1) // (_most(before) + 1))


def _most(kind: DType) -> int:
    return 1 if kind == dtypes.bool_ else int(np.iinfo(kind.numpy).max)


def normalize(tensor: Tensor, mean: Sequence[float], std: Sequence[float], inplace: bool = False) -> Tensor:
    """Return (tensor - mean) / std, channel by channel. TypeError for integers, ValueError for a zero in `std`."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"img should be Tensor Image. Got {type(tensor)}")
    if not tensor.is_floating_point():
        raise TypeError(f"Input tensor should be a float tensor. Got {tensor.dtype}.")
    if tensor.ndim < 3:
        raise ValueError(f"Expected tensor to be a tensor image of size (..., C, H, W). Got {tuple(tensor.shape)}")
    kind = tensor.dtype.numpy
    middle, width = (np.asarray(_plain(x), kind).reshape(-1, 1, 1) for x in (mean, std))
    if (width == 0).any():
        raise ValueError(f"std evaluated to zero after conversion to {tensor.dtype}, leading to division by zero.")
    if inplace:
        return tensor.sub_(from_host(middle, device=tensor.device)).div_(from_host(width, device=tensor.device))
    return changed(
        tensor,
        lambda x: (x - middle) / width,
        lambda x: (x - from_host(middle, device=x.device)) / from_host(width, device=x.device),
    )


def _plain(numbers: Any) -> Any:
    return to_host(numbers) if isinstance(numbers, Tensor) else numbers
