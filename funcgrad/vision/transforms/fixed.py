"""Transforms that do the same to every picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad import nn
from funcgrad._base import dtypes
from funcgrad._base.dtypes import dtype as DType
from funcgrad._tensor.tensor import Tensor
from funcgrad.vision.transforms import functional as F
from funcgrad.vision.transforms.geometry import InterpolationMode, sizes


class ToTensor:
    """A PIL image or an (H, W, C) array becomes a tensor (C, H, W), bytes become floats from 0 to 1."""

    def __call__(self, pic: Any) -> Tensor:
        """Return the tensor."""
        return F.to_tensor(pic)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class PILToTensor(ToTensor):
    """A PIL image becomes a tensor (C, H, W) of its own numbers."""

    def __call__(self, pic: Any) -> Tensor:
        """Return the tensor."""
        return F.pil_to_tensor(pic)


class ToPILImage:
    """A tensor (C, H, W) or an array (H, W, C) becomes a PIL image."""

    def __init__(self, mode: str | None = None) -> None:
        self.mode = mode

    def __call__(self, pic: Any) -> Any:
        """Return the PIL image."""
        return F.to_pil_image(pic, self.mode)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({'' if self.mode is None else f'mode={self.mode}'})"


class ConvertImageDtype(nn.Module):
    """A tensor in another dtype, scaled to its range."""

    def __init__(self, dtype: DType = dtypes.float32) -> None:
        super().__init__()
        self.dtype = dtype

    def forward(self, image: Tensor) -> Tensor:
        """Return the picture in that dtype."""
        return F.convert_image_dtype(image, self.dtype)


class Normalize(nn.Module):
    """(picture - mean) / std, channel by channel."""

    def __init__(self, mean: Sequence[float], std: Sequence[float], inplace: bool = False) -> None:
        super().__init__()
        self.mean, self.std, self.inplace = mean, std, inplace

    def forward(self, tensor: Tensor) -> Tensor:
        """Return the normalised picture."""
        return F.normalize(tensor, self.mean, self.std, self.inplace)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(mean={self.mean}, std={self.std})"


class Resize(nn.Module):
    """One number: the length of the shorter side. Two: height and width."""

    def __init__(
        self, size: Any, interpolation: Any = InterpolationMode.BILINEAR, max_size: int | None = None,
        antialias: bool | None = True,
    ) -> None:  # fmt: skip
        super().__init__()
        if not isinstance(size, (int, Sequence)):
            raise TypeError(f"Size should be int or sequence. Got {type(size)}")
        if isinstance(size, Sequence) and len(size) not in (1, 2):
            raise ValueError("If size is a sequence, it should have 1 or 2 values")
        self.size, self.max_size = size, max_size
        self.interpolation, self.antialias = interpolation, antialias

    def forward(self, img: Any) -> Any:
        """Return the picture in that size."""
        return F.resize(img, self.size, self.interpolation, self.max_size, self.antialias)

    def __repr__(self) -> str:
        mode = getattr(self.interpolation, "value", self.interpolation)
        options = f"size={self.size}, interpolation={mode}, max_size={self.max_size}, antialias={self.antialias}"
        return f"{type(self).__name__}({options})"


class CenterCrop(nn.Module):
    """The middle of the picture."""

    def __init__(self, size: Any) -> None:
        super().__init__()
        self.size = sizes(size)

    def forward(self, img: Any) -> Any:
        """Return the middle."""
        return F.center_crop(img, self.size)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(size={self.size})"


class FiveCrop(nn.Module):
    """The four corners and the middle, as a tuple."""

    def __init__(self, size: Any) -> None:
        super().__init__()
        self.size = sizes(size)

    def forward(self, img: Any) -> tuple[Any, ...]:
        """Return five pictures."""
        return F.five_crop(img, self.size)


class TenCrop(nn.Module):
    """The five crops of the picture and of its mirror image, as a tuple."""

    def __init__(self, size: Any, vertical_flip: bool = False) -> None:
        super().__init__()
        self.size, self.vertical_flip = sizes(size), vertical_flip

    def forward(self, img: Any) -> tuple[Any, ...]:
        """Return ten pictures."""
        return F.ten_crop(img, self.size, self.vertical_flip)


class Pad(nn.Module):
    """A border."""

    def __init__(self, padding: Any, fill: Any = 0, padding_mode: str = "constant") -> None:
        super().__init__()
        self.padding, self.fill, self.padding_mode = padding, fill, padding_mode

    def forward(self, img: Any) -> Any:
        """Return the picture with its border."""
        return F.pad(img, self.padding, self.fill, self.padding_mode)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(padding={self.padding}, fill={self.fill}, padding_mode={self.padding_mode})"


class Grayscale(nn.Module):
    """Grey, in one channel or in three."""

    def __init__(self, num_output_channels: int = 1) -> None:
        super().__init__()
        self.num_output_channels = num_output_channels

    def forward(self, img: Any) -> Any:
        """Return the greys."""
        return F.rgb_to_grayscale(img, self.num_output_channels)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(num_output_channels={self.num_output_channels})"


class LinearTransformation(nn.Module):
    """(picture - mean) @ matrix, the picture flattened: whitening."""

    def __init__(self, transformation_matrix: Tensor, mean_vector: Tensor) -> None:
        super().__init__()
        rows, columns = transformation_matrix.shape
        if rows != columns or mean_vector.shape[0] != rows:
            raise ValueError(
                f"transformation_matrix should be square and as long as mean_vector. Got {[rows, columns]} rectangular "
                f"matrix and {mean_vector.shape[0]} means."
            )
        self.transformation_matrix, self.mean_vector = transformation_matrix, mean_vector

    def forward(self, tensor: Tensor) -> Tensor:
        """Return the picture in the same shape."""
        flat = tensor.reshape(*tensor.shape[:-3], -1) - self.mean_vector
        return (flat @ self.transformation_matrix).reshape(tensor.shape)
