"""CIFAR-10 and CIFAR-100, from their Python files. Source: https://www.cs.toronto.edu/~kriz/cifar.html."""

from __future__ import annotations

import io
import os
import pickle
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from funcgrad.vision.datasets.utils import download_and_extract_archive
from funcgrad.vision.datasets.vision import Change, VisionDataset, need
from funcgrad.vision.images import pillow

# A batch is a dictionary of bytes, lists and one numpy array: nothing else is let out of the file.
_ALLOWED = {
    ("numpy.core.multiarray", "_reconstruct"): np._core.multiarray._reconstruct,  # type: ignore[attr-defined]  # has no other name
    ("numpy._core.multiarray", "_reconstruct"): np._core.multiarray._reconstruct,  # type: ignore[attr-defined]  # has no other name
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("_codecs", "encode"): lambda text, encoding: text.encode(encoding),
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ALLOWED:
            raise pickle.UnpicklingError(f"a CIFAR file holds arrays and lists, but this one wants {module}.{name}")
        return _ALLOWED[module, name]


def read_batch(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the dictionary in a file. UnpicklingError for one that holds anything but numbers and texts."""
    return _Unpickler(io.BytesIO(Path(path).read_bytes()), encoding="latin1").load()


class CIFAR10(VisionDataset):
    """50,000 pictures to train and 10,000 to test, 32 x 32 in colour, from `root/cifar-10-batches-py`.

    download: whether to get what is missing. RuntimeError, saying which files must lie where, if they do not.
    """

    base_folder = "cifar-10-batches-py"
    url = "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz"
    filename = "cifar-10-python.tar.gz"
    tgz_md5 = "c58f30108f718f92721af3b95e74349a"
    train_list: Any = tuple(f"data_batch_{i}" for i in range(1, 6))
    test_list: Any = ("test_batch",)
    meta: ClassVar = {"filename": "batches.meta", "key": "label_names"}
    labels = "labels"

    def __init__(
        self, root: str | os.PathLike[str], train: bool = True, transform: Change = None,
        target_transform: Change = None, download: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.train = train
        folder = Path(self.root) / self.base_folder
        files = self.train_list if train else self.test_list
        needed = [*files, self.meta["filename"]]
        need(type(self).__name__, folder, needed, f"{self.url}, unpacked", self.download if download else None)
        batches = [read_batch(folder / file) for file in files]
        pixels = np.concatenate([batch["data"] for batch in batches]).reshape(-1, 3, 32, 32)
        self.data: NDArray[Any] = np.ascontiguousarray(pixels.transpose(0, 2, 3, 1))
        self.targets: list[int] = [int(label) for batch in batches for label in batch[self.labels]]
        self.classes: list[str] = read_batch(folder / self.meta["filename"])[self.meta["key"]]
        self.class_to_idx = {name: i for i, name in enumerate(self.classes)}

    def download(self) -> None:
        """Get the archive, and unpack it in `root`."""
        download_and_extract_archive(self.url, self.root, filename=self.filename, md5=self.tgz_md5)

    def __getitem__(self, index: Any) -> tuple[Any, Any]:
        return self._transformed(pillow().fromarray(self.data[index]), self.targets[index])

    def __len__(self) -> int:
        return len(self.data)

    def extra_repr(self) -> str:
        """Return which part it is."""
        return f"Split: {'Train' if self.train else 'Test'}"


class CIFAR100(CIFAR10):
    """As CIFAR-10, with 100 classes, from `root/cifar-100-python`."""

    base_folder = "cifar-100-python"
    url = "https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz"
    filename = "cifar-100-python.tar.gz"
    tgz_md5 = "eb9058c3a382ffc7106e4002c42a8d85"
    train_list: Any = ("train",)
    test_list: Any = ("test",)
    meta: ClassVar = {"filename": "meta", "key": "fine_label_names"}
    labels = "fine_labels"
