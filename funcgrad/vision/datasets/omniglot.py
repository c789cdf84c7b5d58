"""Omniglot: characters of fifty alphabets, twenty drawings each. Source: https://github.com/brendenlake/omniglot."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from funcgrad.vision.datasets.utils import download_and_extract_archive, list_dir, list_files
from funcgrad.vision.datasets.vision import Change, VisionDataset, need, read_picture


class Omniglot(VisionDataset):
    """Characters, 105 x 105, from `root/omniglot-py/images_{background,evaluation}/<alphabet>/<character>`.

    Classes are the characters of all alphabets, by name. background: the thirty alphabets to train with, or the twenty
    others. loader: takes a path; default: a picture in grey. download: whether to get what is missing. RuntimeError,
    saying where the files must lie, if they do not.
    """

    folder = "omniglot-py"
    download_url_prefix = "https://raw.githubusercontent.com/brendenlake/omniglot/master/python"
    zips_md5: ClassVar = {
        "images_background": "68d2efa1b9178cc56df9314c21c6e718",
        "images_evaluation": "6b91aef0f799c5bb55b94e3f2daec811",
    }

    def __init__(
        self, root: str | os.PathLike[str], background: bool = True, transform: Change = None,
        target_transform: Change = None, download: bool = False, loader: Callable[[Any], Any] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(os.path.join(root, self.folder), transform=transform, target_transform=target_transform)
        self.background, self.loader = background, loader
        part = self._get_target_folder()
        source = f"{self.download_url_prefix}/{part}.zip, unpacked"
        need("Omniglot", self.root, [part], source, self.download if download else None)
        folder = Path(self.root) / part
        self.target_folder = str(folder)
        self._alphabets = sorted(list_dir(folder))
        self._characters = [
            os.path.join(alphabet, name) for alphabet in self._alphabets for name in sorted(list_dir(folder / alphabet))
        ]
        self._character_images = [
            [(image, i) for image in sorted(list_files(folder / character, ".png"))]
            for i, character in enumerate(self._characters)
        ]
        self._flat_character_images = [pair for pairs in self._character_images for pair in pairs]

    def _get_target_folder(self) -> str:
        return "images_background" if self.background else "images_evaluation"

    def download(self) -> None:
        """Get the archive, and unpack it."""
        part = self._get_target_folder()
        download_and_extract_archive(f"{self.download_url_prefix}/{part}.zip", self.root, md5=self.zips_md5[part])

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        name, character = self._flat_character_images[index]
        path = os.path.join(self.target_folder, self._characters[character], name)
        picture = read_picture(path).convert("L") if self.loader is None else self.loader(path)
        return self._transformed(picture, character)

    def __len__(self) -> int:
        return len(self._flat_character_images)
