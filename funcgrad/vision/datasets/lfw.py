"""LFW: faces of known people, alone or in pairs. Source: http://vis-www.cs.umass.edu/lfw."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from funcgrad.vision.datasets.folder import default_loader
from funcgrad.vision.datasets.utils import verify_str_arg
from funcgrad.vision.datasets.vision import Change, VisionDataset, need


class _LFW(VisionDataset):
    """Contract: `view`, `_read` and `__getitem__`. Gift: the lines of the list of a split, and where pictures are."""

    base_folder = "lfw-py"
    file_dict: ClassVar = {
        "original": ("lfw", "lfw.tgz"),
        "funneled": ("lfw_funneled", "lfw-funneled.tgz"),
        "deepfunneled": ("lfw-deepfunneled", "lfw-deepfunneled.tgz"),
    }
    annot_file: ClassVar = {"10fold": "", "train": "DevTrain", "test": "DevTest"}
    names = "lfw-names.txt"
    view: str
    data: list[Any]
    targets: list[int]

    def __init__(
        self, root: str | os.PathLike[str], split: str = "10fold", image_set: str = "funneled",
        transform: Change = None, target_transform: Change = None, download: bool = False,
        loader: Callable[[str], Any] = default_loader,
    ) -> None:  # fmt: skip
        super().__init__(os.path.join(root, self.base_folder), transform=transform, target_transform=target_transform)
        mirror = "https://www.kaggle.com/datasets/jessicali9530/lfw-dataset"
        self.image_set = verify_str_arg(image_set.lower(), "image_set", self.file_dict)
        self.split = verify_str_arg(split.lower(), "split", ("10fold", "train", "test"))
        if download:
            raise ValueError(
                f"LFW dataset is no longer available for automatic download. Get it from {mirror}, "
                f"and put it into {self.root}."
            )
        pictures, self.filename = self.file_dict[self.image_set]
        self.labels_file = f"{self.view}{self.annot_file[self.split]}.txt"
        files = [pictures, self.labels_file, *([self.names] if self.view == "people" else [])]
        need(type(self).__name__, self.root, files, mirror, can_download=False)
        self.images_dir = os.path.join(self.root, pictures)
        self._loader = loader
        self._read((Path(self.root) / self.labels_file).read_text(encoding="utf-8").splitlines())

    @abstractmethod
    def _read(self, lines: list[str]) -> None:
        """Set `data` and `targets` from the lines of the list."""

    def _get_path(self, identity: str, no: int | str) -> str:
        return os.path.join(self.images_dir, identity, f"{identity}_{int(no):04d}.jpg")

    def __len__(self) -> int:
        return len(self.data)

    def extra_repr(self) -> str:
        """Return how faces are aligned, and which part it is."""
        return f"Alignment: {self.image_set}\nSplit: {self.split}"


class LFWPeople(_LFW):
    """Faces with the numbers of their people, from `root/lfw-py`: pictures, people*.txt and lfw-names.txt.

    image_set: how faces are aligned: "original", "funneled" or "deepfunneled". ValueError for download=True;
    RuntimeError, saying where the files must lie, if they do not.
    """

    view = "people"

    def _read(self, lines: list[str]) -> None:
        known = (Path(self.root) / self.names).read_text(encoding="utf-8").splitlines()
        self.class_to_idx = {line.split()[0]: i for i, line in enumerate(known)}
        # Lines of one number head the file and each fold; the others are a name and its count of pictures.
        people = [line.strip().split("\t") for line in lines if "\t" in line.strip()]
        named = [(name, no) for name, count in people for no in range(1, int(count) + 1)]
        self.data = [self._get_path(name, no) for name, no in named]
        self.targets = [self.class_to_idx[name] for name, _ in named]

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        return self._transformed(self._loader(self.data[index]), self.targets[index])

    def extra_repr(self) -> str:
        """Return how faces are aligned, which part it is, and how many people there are."""
        return f"{super().extra_repr()}\nClasses (identities): {len(self.class_to_idx)}"


class LFWPairs(_LFW):
    """Two faces, and 1 where they are of one person, else 0, from `root/lfw-py`: pictures and pairs*.txt.

    image_set: how faces are aligned: "original", "funneled" or "deepfunneled". ValueError for download=True;
    RuntimeError, saying where the files must lie, if they do not.
    """

    view = "pairs"

    def _read(self, lines: list[str]) -> None:
        # The head is one number, or two; a line of three is one person's two pictures, a line of four two people's.
        rows = [line.strip().split("\t") for line in lines[1:] if line.strip()]
        pairs = [(one, no, rest[0] if len(rest) > 1 else one, rest[-1]) for one, no, *rest in rows]
        self.pair_names = [(one, other) for one, _, other, _ in pairs]
        self.data = [(self._get_path(one, a), self._get_path(other, b)) for one, a, other, b in pairs]
        self.targets = [int(len(row) == 3) for row in rows]

    def __getitem__(self, index: int) -> tuple[Any, Any, Any]:
        faces = [self._loader(path) for path in self.data[index]]
        one, other = faces if self.transform is None else map(self.transform, faces)
        target = self.targets[index]
        return one, other, target if self.target_transform is None else self.target_transform(target)
