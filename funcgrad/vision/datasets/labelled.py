"""Labelled: pictures in files that a list names, each with its class."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from funcgrad.vision.datasets.folder import default_loader
from funcgrad.vision.datasets.utils import verify_str_arg
from funcgrad.vision.datasets.vision import Change, VisionDataset


class Labelled(VisionDataset):
    """Contract: an __init__ that sets `_image_files` and `_labels`. Gift: pictures by `loader`, and classes.

    ValueError for a split that is none of `splits`.
    """

    splits: tuple[str, ...] = ("train", "test")
    _image_files: Sequence[str | os.PathLike[str]]
    _labels: Sequence[int]
    classes: list[str]

    def __init__(
        self, root: str | os.PathLike[str], split: str, transform: Change, target_transform: Change,
        loader: Callable[[Any], Any] = default_loader,
    ) -> None:  # fmt: skip
        super().__init__(root, transform=transform, target_transform=target_transform)
        self._split: str = verify_str_arg(split, "split", self.splits)
        self.loader = loader

    def _name_classes(self, names: Iterable[str]) -> None:
        self.classes = list(names)
        self.class_to_idx = {name: i for i, name in enumerate(self.classes)}

    @property
    def _samples(self) -> list[tuple[Any, int]]:
        """All files, each with its class: scripts look here."""
        return list(zip(self._image_files, self._labels, strict=True))

    def __getitem__(self, idx: Any) -> tuple[Any, Any]:
        return self._transformed(self.loader(self._image_files[idx]), self._labels[idx])

    def __len__(self) -> int:
        return len(self._image_files)
