"""FakeData: noise in place of pictures, for trials."""

from __future__ import annotations

from typing import Any

from funcgrad._tensor.tensor import Tensor
from funcgrad.random.functions import randint, randn
from funcgrad.random.generator import get_rng_state, manual_seed, set_rng_state
from funcgrad.vision.datasets.vision import Change, VisionDataset
from funcgrad.vision.transforms import functional as F


class FakeData(VisionDataset):
    """Noise with random classes: the same for the same index."""

    def __init__(
        self, size: int = 1000, image_size: tuple[int, ...] = (3, 224, 224), num_classes: int = 10,
        transform: Change = None, target_transform: Change = None, random_offset: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(None, transform=transform, target_transform=target_transform)
        self.size, self.image_size, self.num_classes = size, image_size, num_classes
        self.random_offset = random_offset

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        if index >= len(self):
            raise IndexError(f"{type(self).__name__} index out of range")
        state = get_rng_state()
        manual_seed(index + self.random_offset)
        picture: Tensor = randn(*self.image_size)
        target = randint(0, self.num_classes, size=(1,)).item()
        set_rng_state(state)
        return self._transformed(F.to_pil_image(picture), target)

    def __len__(self) -> int:
        return self.size
