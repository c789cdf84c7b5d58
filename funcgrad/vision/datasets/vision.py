"""VisionDataset: what all data sets of pictures share; and what they say where their files are not there."""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from funcgrad.utils.data.dataset import Dataset
from funcgrad.vision.images import pillow

Change = Callable[..., Any] | None


class StandardTransform:
    """A transform of the picture and one of its target, as one."""

    def __init__(self, transform: Change = None, target_transform: Change = None) -> None:
        self.transform, self.target_transform = transform, target_transform

    def __call__(self, input: Any, target: Any) -> tuple[Any, Any]:
        """Return picture and target."""
        input = input if self.transform is None else self.transform(input)
        return input, target if self.target_transform is None else self.target_transform(target)

    def __repr__(self) -> str:
        lines = [type(self).__name__]
        for head, change in (("Transform: ", self.transform), ("Target transform: ", self.target_transform)):
            if change is not None:
                lines.append(head + str(change).replace("\n", "\n" + " " * len(head)))
        return "\n".join(lines)


class VisionDataset(Dataset[Any]):
    """Write `__getitem__` and `__len__`; given are root, the transforms, and a repr that shows them.

    transforms: takes picture and target. ValueError where it comes with one of the other two.
    """

    def __init__(
        self, root: str | os.PathLike[str] | None = None, transforms: Change = None, transform: Change = None,
        target_transform: Change = None,
    ) -> None:  # fmt: skip
        separate = transform is not None or target_transform is not None
        if transforms is not None and separate:
            raise ValueError("Only transforms or transform/target_transform can be passed as argument")
        self.root: Any = os.path.expanduser(root) if isinstance(root, str) else root
        self.transform, self.target_transform = transform, target_transform
        self.transforms = StandardTransform(transform, target_transform) if separate else transforms

    def _transformed(self, picture: Any, target: Any) -> tuple[Any, Any]:
        if self.transform is not None:
            picture = self.transform(picture)
        if self.target_transform is not None:
            target = self.target_transform(target)
        if self.transforms is not None and not isinstance(self.transforms, StandardTransform):
            picture, target = self.transforms(picture, target)
        return picture, target

    def __repr__(self) -> str:
        lines = [f"Number of datapoints: {len(self)}"]  # type: ignore[arg-type]  # subclasses have a length
        lines += [f"Root location: {self.root}"] if self.root is not None else []
        lines += self.extra_repr().splitlines()
        lines += [repr(self.transforms)] if self.transforms is not None else []
        return "\n".join([f"Dataset {type(self).__name__}", *("    " + line for line in lines)])

    def extra_repr(self) -> str:
        """Return more lines for the repr."""
        return ""


class InSplits(VisionDataset):
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


def need(
    name: str, folder: str | os.PathLike[str], files: Iterable[str], source: str,
    download: Callable[[], None] | None = None, can_download: bool = True,
) -> None:  # fmt: skip
    """Raise RuntimeError, saying where each file must lie, unless all are in the folder.

    download: gets what is missing, where that is asked for. can_download: whether the data set offers that.
    """
    files = list(files)
    if download is not None and _missing(folder, files):
        download()
    if missing := _missing(folder, files):
        listed = "\n".join(f"  {Path(folder) / file}" for file in missing)
        asked = "" if download is not None or not can_download else ", or give download=True"
        raise RuntimeError(f"Dataset not found: {name} needs these files.\n{listed}\nGet them from {source}{asked}.")


def _missing(folder: str | os.PathLike[str], files: Iterable[str]) -> list[str]:
    return [file for file in files if not (Path(folder) / file).exists()]


def loadmat(path: str | os.PathLike[str], **options: Any) -> Any:
    """Return what a file of Matlab holds, as scipy reads it. ImportError where scipy is not installed."""
    if importlib.util.find_spec("scipy") is None:
        raise ImportError(f"{Path(path).name} is read with scipy: pip install scipy", name="scipy")
    return importlib.import_module("scipy.io").loadmat(os.fspath(path), **options)


def read_picture(path: str | os.PathLike[str]) -> Any:
    """Return the picture in a file, read whole, so that no file stays open."""
    with pillow().open(path) as picture:
        picture.load()
    return picture
