"""STL-10: ten classes, and pictures without labels. Source: https://cs.stanford.edu/~acoates/stl10."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from funcgrad.vision.datasets.utils import download_and_extract_archive
from funcgrad.vision.datasets.vision import Change, InSplits, need


class STL10(InSplits):
    """Ten classes, 96 x 96 in colour, and unlabelled pictures, from `root/stl10_binary`.

    Source: https://cs.stanford.edu/~acoates/stl10. download: whether to get what is missing. RuntimeError, saying where
    the files must lie, if they do not.
    """

    url = "http://ai.stanford.edu/~acoates/stl10/stl10_binary.tar.gz"
    filename = "stl10_binary.tar.gz"
    tgz_md5 = "91f7769df0f17e558f3565bffb0c7dfb"
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
        need("STL10", folder, files, f"{self.url}, unpacked", self.download if download else None)
        pixels = [np.fromfile(folder / f"{part}_X.bin", np.uint8).reshape(-1, 3, 96, 96) for part in parts]
        self.data = np.concatenate(pixels).swapaxes(2, 3)
        self.labels = np.concatenate([_labels(folder, part, len(x)) for part, x in zip(parts, pixels, strict=True)])
        if folds is not None:
            lines = (folder / "fold_indices.txt").read_text().splitlines()
            chosen = np.fromstring(lines[folds], np.int64, sep=" ")
            self.data, self.labels = self.data[chosen], self.labels[chosen]

    def download(self) -> None:
        """Get the archive, and unpack it in `root`."""
        download_and_extract_archive(self.url, self.root, filename=self.filename, md5=self.tgz_md5)


def _labels(folder: Path, part: str, count: int) -> NDArray[np.int64]:
    """Return the classes of one part, from 0; -1 for what has none."""
    if part == "unlabeled":
        return np.full(count, -1, np.int64)
    return np.fromfile(folder / f"{part}_y.bin", np.uint8).astype(np.int64) - 1  # the files count from 1
