"""Pictures in folders, one for each class: DatasetFolder and ImageFolder."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from funcgrad.vision.datasets.vision import Change, VisionDataset
from funcgrad.vision.images import pillow

IMG_EXTENSIONS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")
Samples = list[tuple[str, int]]


def has_file_allowed_extension(filename: str, extensions: str | Sequence[str]) -> bool:
    """Tell whether a name ends with one of these, in capitals or not."""
    return filename.lower().endswith(extensions if isinstance(extensions, str) else tuple(extensions))


def is_image_file(filename: str) -> bool:
    """Tell whether a name is one of a picture."""
    return has_file_allowed_extension(filename, IMG_EXTENSIONS)


def find_classes(directory: str | os.PathLike[str]) -> tuple[list[str], dict[str, int]]:
    """Return the names of the folders in a folder, sorted, and their numbers. FileNotFoundError without any."""
    classes = sorted(entry.name for entry in os.scandir(directory) if entry.is_dir())
    if not classes:
        raise FileNotFoundError(f"Couldn't find any class folder in {directory}.")
    return classes, {name: i for i, name in enumerate(classes)}


def make_dataset(
    directory: str | os.PathLike[str], class_to_idx: dict[str, int] | None = None,
    extensions: str | Sequence[str] | None = None, is_valid_file: Callable[[str], bool] | None = None,
    allow_empty: bool = False,
) -> Samples:  # fmt: skip
    """Return the paths of all files of all classes, sorted, each with its class. FileNotFoundError for empty ones."""
    if (extensions is None) == (is_valid_file is None):
        raise ValueError("Both extensions and is_valid_file cannot be None or not None at the same time")
    numbers = find_classes(directory)[1] if class_to_idx is None else class_to_idx
    valid = is_valid_file or (lambda path: has_file_allowed_extension(path, extensions or ()))
    samples: Samples = []
    empty = []
    for name in sorted(numbers):
        before = len(samples)
        for folder, _, files in sorted(os.walk(os.path.join(directory, name), followlinks=True)):
            paths = (os.path.join(folder, file) for file in sorted(files))
            samples += [(path, numbers[name]) for path in paths if valid(path)]
        if len(samples) == before:
            empty.append(name)
    if empty and not allow_empty:
        known = f" Supported extensions are: {', '.join(extensions)}" if extensions else ""
        raise FileNotFoundError(f"Found no valid file for the classes {', '.join(empty)}.{known}")
    return samples


def pil_loader(path: str) -> Any:
    """Return a file as a picture in colour."""
    with Path(path).open("rb") as file:
        return pillow().open(file).convert("RGB")


default_loader = pil_loader


class DatasetFolder(VisionDataset):
    """Files in `root/class/...`, read by `loader`."""

    def __init__(
        self, root: str | os.PathLike[str], loader: Callable[[str], Any],
        extensions: Sequence[str] | None = None, transform: Change = None, target_transform: Change = None,
        is_valid_file: Callable[[str], bool] | None = None, allow_empty: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.loader, self.extensions = loader, extensions
        self.classes, self.class_to_idx = self.find_classes(self.root)
        self.samples = self.make_dataset(self.root, self.class_to_idx, extensions, is_valid_file, allow_empty)
        self.targets = [target for _, target in self.samples]

    @staticmethod
    def make_dataset(
        directory: Any, class_to_idx: dict[str, int], extensions: Any = None, is_valid_file: Any = None,
        allow_empty: bool = False,
    ) -> Samples:  # fmt: skip
        """Return all files, each with its class: for subclasses to change."""
        return make_dataset(directory, class_to_idx, extensions, is_valid_file, allow_empty)

    def find_classes(self, directory: Any) -> tuple[list[str], dict[str, int]]:
        """Return the classes and their numbers: for subclasses to change."""
        return find_classes(directory)

    def __getitem__(self, index: Any) -> tuple[Any, Any]:
        path, target = self.samples[index]
        return self._transformed(self.loader(path), target)

    def __len__(self) -> int:
        return len(self.samples)


class ImageFolder(DatasetFolder):
    """Pictures in `root/class/...`."""

    def __init__(
        self, root: str | os.PathLike[str], transform: Change = None, target_transform: Change = None,
        loader: Callable[[str], Any] = default_loader, is_valid_file: Callable[[str], bool] | None = None,
        allow_empty: bool = False,
    ) -> None:  # fmt: skip
        extensions = IMG_EXTENSIONS if is_valid_file is None else None
        super().__init__(root, loader, extensions, transform, target_transform, is_valid_file, allow_empty)
        self.imgs = self.samples
