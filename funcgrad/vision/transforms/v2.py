"""torchvision.transforms.v2: the transforms, and those that v2 has more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad import nn
from funcgrad._base.dtypes import dtype as DType
from funcgrad._tensor.interop import from_host
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn import functional as NF
from funcgrad.vision import draws
from funcgrad.vision.images import dimensions, is_pil
from funcgrad.vision.transforms import *  # type: ignore[assignment]  # noqa: F403 - v2 has all, and its own Compose
from funcgrad.vision.transforms import containers
from funcgrad.vision.transforms import functional as functional


def _is_picture(item: Any) -> bool:
    return is_pil(item) or (isinstance(item, Tensor) and item.ndim >= 2)


class Compose(containers.Compose):
    """One transform after the other; of several inputs, the first is the picture and the others pass."""

    def __call__(self, *inputs: Any) -> Any:
        """Return the picture after all of them, with what came along."""
        for transform in self.transforms:
            inputs = (transform(inputs[0]), *inputs[1:])
        return inputs[0] if len(inputs) == 1 else inputs


class ToImage(nn.Module):
    """A PIL image or an array becomes a tensor (C, H, W) of its own numbers."""

    def forward(self, inpt: Any) -> Any:
        """Return the tensor."""
        if isinstance(inpt, np.ndarray):
            pixels = inpt[:, :, None] if inpt.ndim == 2 else inpt
            return from_host(np.ascontiguousarray(pixels.transpose(2, 0, 1)))
        return functional.pil_to_tensor(inpt) if is_pil(inpt) else inpt


class ToDtype(nn.Module):
    """A tensor in another dtype, scaled to its range or not."""

    def __init__(self, dtype: DType, scale: bool = False) -> None:
        super().__init__()
        self.dtype, self.scale = dtype, scale

    def forward(self, inpt: Any) -> Any:
        """Return the tensor in that dtype."""
        if not isinstance(inpt, Tensor):
            return inpt
        return functional.convert_image_dtype(inpt, self.dtype) if self.scale else inpt.to(self.dtype)


class ToPureTensor(nn.Module):
    """Pictures are plain tensors here."""

    def forward(self, *inputs: Any) -> Any:
        """Return what came."""
        return inputs[0] if len(inputs) == 1 else inputs


class Identity(ToPureTensor):
    """Changes nothing."""


class RGB(nn.Module):
    """Three channels of a picture that has one."""

    def forward(self, img: Any) -> Any:
        """Return the picture in three channels."""
        if is_pil(img):
            return img.convert("RGB")
        return img.expand(*img.shape[:-3], 3, *img.shape[-2:]) if img.shape[-3] == 1 else img


class _Mixed(nn.Module):
    """Mixes a batch with itself in another order, labels too. Write `_mix`."""

    def __init__(self, *, alpha: float = 1.0, num_classes: int | None = None, labels_getter: Any = None) -> None:
        super().__init__()
        self.alpha, self.num_classes = float(alpha), num_classes

    def forward(self, images: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        """Return the mixed pictures (N, C, H, W), and the classes' shares (N, num_classes)."""
        if images.ndim != 4:
            raise ValueError(f"Expected a batch of images (N, C, H, W), got {tuple(images.shape)}")
        if labels.ndim == 1:
            if self.num_classes is None:
                raise ValueError("num_classes must be given where labels are class numbers")
            labels = NF.one_hot(labels.long(), self.num_classes)
        share = float(np.random.default_rng(draws.integer(2**31)).beta(self.alpha, self.alpha))
        mixed, share = self._mix(images, images.roll(1, 0), share)
        return mixed, labels.roll(1, 0).float() * (1.0 - share) + labels.float() * share


class MixUp(_Mixed):
    """Sums of two pictures. Source: https://arxiv.org/abs/1710.09412."""

    def _mix(self, images: Tensor, others: Tensor, share: float) -> tuple[Tensor, float]:
        return images * share + others * (1.0 - share), share


class CutMix(_Mixed):
    """A rectangle of one picture in another. Source: https://arxiv.org/abs/1905.04899."""

    def _mix(self, images: Tensor, others: Tensor, share: float) -> tuple[Tensor, float]:
        _, high, wide = dimensions(images)
        x, y = draws.integer(wide), draws.integer(high)
        half = 0.5 * (1.0 - share) ** 0.5
        left, top = max(x - int(half * wide), 0), max(y - int(half * high), 0)
        right, bottom = min(x + int(half * wide), wide), min(y + int(half * high), high)
        mixed = images.clone()
        mixed[..., top:bottom, left:right] = others[..., top:bottom, left:right]
        return mixed, 1.0 - (right - left) * (bottom - top) / (wide * high)


def query_size(flat_inputs: Any) -> tuple[int, int]:
    """Return height and width of the first picture among the inputs."""
    _, high, wide = dimensions(next(item for item in flat_inputs if _is_picture(item)))
    return high, wide


ConvertDtype: Callable[..., Any] = ToDtype
