"""CelebA: faces of celebrities, with their attributes. Source: http://mmlab.ie.cuhk.edu.hk/projects/CelebA.html."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from funcgrad._tensor.interop import from_host
from funcgrad.vision.datasets.utils import download_file_from_google_drive, extract_archive
from funcgrad.vision.datasets.vision import Change, VisionDataset, need, read_picture

_CELEBA_FILES = {
    "attr": "list_attr_celeba.txt",
    "identity": "identity_CelebA.txt",
    "bbox": "list_bbox_celeba.txt",
    "landmarks": "list_landmarks_align_celeba.txt",
}


class CelebA(VisionDataset):
    """Faces with 40 attributes, from `root/celeba`: img_align_celeba/, list_attr_celeba.txt, list_eval_partition.txt.

    Source: http://mmlab.ie.cuhk.edu.hk/projects/CelebA.html. download: whether to get what is missing, by gdown.
    RuntimeError, saying where the files must lie, if they do not.
    """

    base_folder = "celeba"
    file_list: ClassVar = [  # numbers at Google Drive, MD5 sums, names
        ("0B7EVK8r0v71pZjFTYXZWM3FlRnM", "00d2c5bc6d35e252742224ab0c1e8fcb", "img_align_celeba.zip"),
        ("0B7EVK8r0v71pblRyaVFSWGxPY0U", "75e246fa4810816ffd6ee81facbd244c", "list_attr_celeba.txt"),
        ("1_ee_0u7vcNLOfNLegJRHmolfH5ICW-XS", "32bd1bd63d3c78cd57e08160ec5ed1e2", "identity_CelebA.txt"),
        ("0B7EVK8r0v71pbThiMVRxWXZ4dU0", "00566efa6fedff7a56946cd1c10f1c16", "list_bbox_celeba.txt"),
        ("0B7EVK8r0v71pd0FJY3Blby1HUTQ", "cc24ecafdb5b50baae59b03474781f8c", "list_landmarks_align_celeba.txt"),
        ("0B7EVK8r0v71pY0NSMzRuSXJEVkk", "d32c9cbf5e040fd4025c592c306e6668", "list_eval_partition.txt"),
    ]

    def __init__(
        self, root: str | os.PathLike[str], split: str = "train", target_type: Any = "attr", transform: Change = None,
        target_transform: Change = None, download: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(root, transform=transform, target_transform=target_transform)
        numbers = {"train": 0, "valid": 1, "test": 2, "all": None}
        if split not in numbers:
            raise ValueError(f"Unknown value '{split}' for argument split. Valid values are {tuple(numbers)}.")
        self.split = split
        self.target_type = list(target_type) if isinstance(target_type, (list, tuple)) else [target_type]
        self._folder = Path(self.root) / self.base_folder
        files = ["img_align_celeba", "list_eval_partition.txt", *(_CELEBA_FILES[kind] for kind in self.target_type)]
        source = "http://mmlab.ie.cuhk.edu.hk/projects/CelebA.html"
        need("CelebA", self._folder, files, source, self.download if download else None)
        names, parts = self._table("list_eval_partition.txt", 0)[1:]
        wanted = numbers[split]
        chosen = np.ones(len(names), bool) if wanted is None else parts[:, 0] == wanted
        self.filename = [name for name, taken in zip(names, chosen, strict=True) if taken]
        self._targets = []
        self.attr_names: list[str] = []
        for kind in self.target_type:
            head, _, table = self._table(_CELEBA_FILES[kind], 0 if kind == "identity" else 2)
            self.attr_names = head if kind == "attr" else self.attr_names
            self._targets.append((table[chosen] + 1) // 2 if kind == "attr" else table[chosen])

    def download(self) -> None:
        """Get all files by gdown, and unpack the pictures."""
        for number, md5, name in self.file_list:
            download_file_from_google_drive(number, self._folder, name, md5)
        extract_archive(self._folder / "img_align_celeba.zip")

    def _table(self, name: str, head: int) -> tuple[list[str], list[str], Any]:
        lines = (self._folder / name).read_text().splitlines()
        rows = [line.split() for line in lines[head:] if line.strip()]
        return lines[head - 1].split() if head else [], [r[0] for r in rows], np.array([r[1:] for r in rows], np.int64)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        picture = read_picture(self._folder / "img_align_celeba" / self.filename[index])
        targets = tuple(from_host(table[index]) for table in self._targets)
        return self._transformed(picture, targets[0] if len(targets) == 1 else targets)

    def __len__(self) -> int:
        return len(self.filename)
