"""What published weights expect a picture to go through."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad import nn
from funcgrad._tensor.tensor import Tensor
from funcgrad.vision.transforms import functional as F
from funcgrad.vision.transforms.geometry import InterpolationMode


class ImageClassification(nn.Module):
    """Resize, cut out the middle, scale to 0 ... 1, normalise with ImageNet's mean and deviation."""

    def __init__(
        self, *, crop_size: int, resize_size: int = 256, mean: Sequence[float] = (0.485, 0.456, 0.406),
        std: Sequence[float] = (0.229, 0.224, 0.225), interpolation: Any = InterpolationMode.BILINEAR,
        antialias: bool | None = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self.crop_size, self.resize_size = [crop_size], [resize_size]
        self.mean, self.std = list(mean), list(std)
        self.interpolation, self.antialias = interpolation, antialias

    def forward(self, img: Any) -> Tensor:
        """Return a model's input."""
        img = F.resize(img, self.resize_size, self.interpolation, antialias=self.antialias)
        img = F.center_crop(img, self.crop_size)
        tensor = img if isinstance(img, Tensor) else F.pil_to_tensor(img)
        return F.normalize(F.convert_image_dtype(tensor), self.mean, self.std)
