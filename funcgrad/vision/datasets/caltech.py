"""Caltech 101 and 256: objects of many classes. Source: https://data.caltech.edu/records/20086 and 20087."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from funcgrad.vision.datasets.utils import download_and_extract_archive, extract_archive, verify_str_arg
from funcgrad.vision.datasets.vision import Change, VisionDataset, loadmat, need, read_picture


class _Categories(VisionDataset):
    """Contract: the names. Gift: `categories`, and each picture's `y` and `index` there.

    _file: the name of picture `no` of a category, which are numbered from 1.
    """

    _base_folder: str
    _pictures: str
    _file: str
    _URL: str
    _MD5: str | None

    def __init__(
        self, root: str | os.PathLike[str], transform: Change = None, target_transform: Change = None,
        download: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(os.path.join(root, self._base_folder), transform=transform, target_transform=target_transform)
        source = f"{self._URL}, unpacked"
        need(type(self).__name__, self.root, [self._pictures], source, self.download if download else None)
        folder = Path(self.root) / self._pictures
        self.categories = sorted(entry.name for entry in folder.iterdir() if entry.is_dir())
        if "BACKGROUND_Google" in self.categories:
            self.categories.remove("BACKGROUND_Google")  # what is there shows no object
        counts = [len(list((folder / name).glob("*.jpg"))) for name in self.categories]
        self.index: list[int] = [number for count in counts for number in range(1, count + 1)]
        self.y: list[int] = [i for i, count in enumerate(counts) for _ in range(count)]

    def download(self) -> None:
        """Get the archive, and unpack it."""
        download_and_extract_archive(self._URL, self.root, md5=self._MD5)

    def _target(self, index: int) -> Any:
        return self.y[index]

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        category = self.y[index]
        name = self._file.format(category=category + 1, no=self.index[index])
        path = Path(self.root) / self._pictures / self.categories[category] / name
        return self._transformed(read_picture(path), self._target(index))

    def __len__(self) -> int:
        return len(self.index)


# Four folders of outlines have other names than those of their pictures.
_OUTLINES = {
    "Faces": "Faces_2",
    "Faces_easy": "Faces_3",
    "Motorbikes": "Motorbikes_16",
    "airplanes": "Airplanes_Side_2",
}


class Caltech101(_Categories):
    """101 classes of objects, from `root/caltech101`: 101_ObjectCategories/, and Annotations/ (read with scipy).

    target_type: "category", "annotation" (points of an outline), or a list of them. download: whether to get what is
    missing. RuntimeError, saying where the files must lie, if they do not.
    """

    _base_folder = "caltech101"
    _pictures = "101_ObjectCategories"
    _file = "image_{no:04d}.jpg"
    _URL = "https://data.caltech.edu/records/mzrjq-6wc02/files/caltech-101.zip"
    _MD5 = "3138e1922a9193bfa496528edbbc45d0"

    def __init__(
        self, root: str | os.PathLike[str], target_type: list[str] | str = "category", transform: Change = None,
        target_transform: Change = None, download: bool = False,
    ) -> None:  # fmt: skip
        kinds = [target_type] if isinstance(target_type, str) else target_type
        self.target_type = [verify_str_arg(kind, "target_type", ("category", "annotation")) for kind in kinds]
        super().__init__(root, transform, target_transform, download)
        self.annotation_categories = [_OUTLINES.get(name, name) for name in self.categories]

    def download(self) -> None:
        """Get the archive, and unpack it and the two archives in it."""
        super().download()
        packed = Path(self.root) / "caltech-101"
        for archive in sorted([*packed.glob("*.tar.gz"), *packed.glob("*.tar")]):
            extract_archive(archive, self.root)
        shutil.rmtree(packed)
        (Path(self.root) / os.path.basename(self._URL)).unlink()

    def _target(self, index: int) -> Any:
        targets = tuple(self.y[index] if kind == "category" else self._outline(index) for kind in self.target_type)
        return targets[0] if len(targets) == 1 else targets

    def _outline(self, index: int) -> Any:
        folder = Path(self.root) / "Annotations" / self.annotation_categories[self.y[index]]
        return loadmat(folder / f"annotation_{self.index[index]:04d}.mat")["obj_contour"]

    def extra_repr(self) -> str:
        """Return which targets it gives."""
        return f"Target type: {self.target_type}"


class Caltech256(_Categories):
    """256 classes of objects, from `root/caltech256/256_ObjectCategories`.

    download: whether to get what is missing. RuntimeError, saying where the files must lie, if they do not.
    """

    _base_folder = "caltech256"
    _pictures = "256_ObjectCategories"
    _file = "{category:03d}_{no:04d}.jpg"
    _URL = "https://data.caltech.edu/records/nyy15-4j048/files/256_ObjectCategories.tar"
    _MD5 = "67b4f42ca05d46448c6bb8ecd2220f6d"
