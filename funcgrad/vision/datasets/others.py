"""More data sets: street numbers, ten classes with unlabelled pictures, and noise for trials."""

from __future__ import annotations

import importlib
import importlib.util
import os
from pathlib import Path
from typing import Any

import numpy as np

from funcgrad._tensor.tensor import Tensor
from funcgrad.random.functions import randint, randn
from funcgrad.random.generator import get_rng_state, manual_seed, set_rng_state
from funcgrad.vision.datasets.vision import Change, VisionDataset, need
from funcgrad.vision.images import pillow
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


def _loadmat(path: str) -> Any:
    if importlib.util.find_spec("scipy") is None:
        raise ImportError("SVHN's files are read with scipy: pip install scipy", name="scipy")
    return importlib.import_module("scipy.io").loadmat(path)


class _InSplits(VisionDataset):
    """Contract: `splits`, and an __init__ that sets `data` and `labels`. Gift: pictures and classes, and which split.

    Shape: data (N, 3, H, W) of bytes, labels (N).
    """

    splits: tuple[str, ...]
    data: Any
    labels: Any

    def __init__(self, root: str | os.PathLike[str], split: str, transform: Change, target_transform: Change) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        if split not in self.splits:
            raise ValueError(f"Unknown value '{split}' for argument split. Valid values are {self.splits}.")
        self.split = split

    def __getitem__(self, index: Any) -> tuple[Any, Any]:
        picture = pillow().fromarray(np.ascontiguousarray(self.data[index].transpose(1, 2, 0)))
        return self._transformed(picture, int(self.labels[index]))

    def __len__(self) -> int:
        return len(self.data)

    def extra_repr(self) -> str:
        """Return which part it is."""
        return f"Split: {self.split}"


class SVHN(_InSplits):
    """Street numbers, 32 x 32 in colour, from `root/{train,test,extra}_32x32.mat` (read with scipy).

    Source: http://ufldl.stanford.edu/housenumbers. RuntimeError, saying where the file must lie, if it does not.
    """

    splits = ("train", "test", "extra")

    def __init__(
        self, root: str | os.PathLike[str], split: str = "train", transform: Change = None,
        target_transform: Change = None, download: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(root, split, transform, target_transform)
        file = f"{split}_32x32.mat"
        need("SVHN", self.root, [file], "http://ufldl.stanford.edu/housenumbers", download)
        content = _loadmat(os.path.join(self.root, file))
        self.labels = content["y"].astype(np.int64).reshape(-1) % 10  # the files write 10 for the digit 0
        self.data = content["X"].transpose(3, 2, 0, 1)


class STL10(_InSplits):
    """Ten classes, 96 x 96 in colour, and unlabelled pictures, from `root/stl10_binary`.

    Source: https://cs.stanford.edu/~acoates/stl10. RuntimeError, saying where the files must lie, if they do not.
    """

    splits = ("train", "train+unlabeled", "unlabeled", "test")

    def __init__(
        self, root: str | os.PathLike[str], split: str = "train", folds: int | None = None, transform: Change = None,
        target_transform: Change = None, download: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(root, split, transform, target_transform)
        self.folds = folds
        folder = Path(self.root) / "stl10_binary"
        parts = split.split("+")
        files = [f"{part}_X.bin" for part in parts] + [f"{part}_y.bin" for part in parts if part != "unlabeled"]
        need("STL10", folder, files, "https://ai.stanford.edu/~acoates/stl10/stl10_binary.tar.gz, unpacked", download)
        pixels = [np.fromfile(folder / f"{part}_X.bin", np.uint8).reshape(-1, 3, 96, 96) for part in parts]
        self.data = np.concatenate(pixels).swapaxes(2, 3)
        self.labels = np.concatenate(
            [
                np.full(len(x), -1, np.int64)
                if part == "unlabeled"
                else np.fromfile(folder / f"{part}_y.bin", np.uint8).astype(np.int64) - 1
                for part, x in zip(parts, pixels, strict=True)
            ]
        )
        if folds is not None:
            lines = (folder / "fold_indices.txt").read_text().splitlines()
            chosen = np.fromstring(lines[folds], np.int64, sep=" ")
            self.data, self.labels = self.data[chosen], self.labels[chosen]
