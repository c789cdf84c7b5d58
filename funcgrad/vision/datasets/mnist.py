"""MNIST and its kin, from IDX files (gzipped or not). Source of the format: http://yann.lecun.com/exdb/mnist."""

from __future__ import annotations

import gzip
import os
import struct
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from funcgrad._tensor.interop import from_host, numbers_on_host
from funcgrad._tensor.tensor import Tensor
from funcgrad.vision.datasets.vision import Change, VisionDataset, need
from funcgrad.vision.images import pillow

_KINDS = {8: ">u1", 9: ">i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}


def read_idx(path: str | os.PathLike[str]) -> NDArray[Any]:
    """Return the array in an IDX file. ValueError where it is cut short or is none."""
    opened = gzip.open if str(path).endswith(".gz") else open
    with opened(path, "rb") as file:
        content: bytes = file.read()
    if len(content) < 4 or content[:2] != b"\0\0" or content[2] not in _KINDS:
        raise ValueError(f"{path} is no IDX file")
    kind, rank = np.dtype(_KINDS[content[2]]), content[3]
    shape = struct.unpack(f">{rank}I", content[4 : 4 + 4 * rank])
    numbers = np.frombuffer(content, kind, offset=4 + 4 * rank)
    if numbers.size != np.prod(shape, dtype=np.int64):
        raise ValueError(f"{path} holds {numbers.size} numbers, but its head says {shape}")
    return numbers.reshape(shape).astype(kind.newbyteorder("="))


class MNIST(VisionDataset):
    """60,000 digits to train and 10,000 to test, 28 x 28, from `root/MNIST/raw`.

    RuntimeError, saying which files must lie where, if they do not.
    """

    mirrors = ("https://ossci-datasets.s3.amazonaws.com/mnist/",)
    classes: ClassVar = [
        "0 - zero", "1 - one", "2 - two", "3 - three", "4 - four", "5 - five", "6 - six", "7 - seven", "8 - eight",
        "9 - nine",
    ]  # fmt: skip

    def __init__(
        self, root: str | os.PathLike[str], train: bool = True, transform: Change = None,
        target_transform: Change = None, download: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.train = train
        pictures, labels = (self._read(f"{self._part()}-{what}", download) for what in ("images-idx3", "labels-idx1"))
        self.data: Any = from_host(pictures)
        self.targets: Any = from_host(labels.astype(np.int64))

    def _part(self) -> str:
        return "train" if self.train else "t10k"

    def _read(self, name: str, download: bool) -> NDArray[Any]:
        for file in (f"{name}-ubyte", f"{name}-ubyte.gz", f"{name}.ubyte"):
            if (Path(self.raw_folder) / file).exists():
                return read_idx(Path(self.raw_folder) / file)
        need(type(self).__name__, self.raw_folder, [f"{name}-ubyte.gz"], self.mirrors[0], download)
        raise AssertionError("need() found the file that is missing")

    @property
    def raw_folder(self) -> str:
        """The folder of the files."""
        return os.path.join(self.root, type(self).__name__, "raw")

    @property
    def processed_folder(self) -> str:
        """The folder that torchvision's first versions used."""
        return os.path.join(self.root, type(self).__name__, "processed")

    @property
    def class_to_idx(self) -> dict[str, int]:
        """The number of each class."""
        return {name: i for i, name in enumerate(self.classes)}

    train_data = test_data = property(lambda self: self.data)
    train_labels = test_labels = property(lambda self: self.targets)

    def __getitem__(self, index: Any) -> tuple[Any, Any]:
        pixels, target = _row(self.data, index), _row(self.targets, index)
        return self._transformed(pillow().fromarray(pixels, mode=None), int(target))

    def __len__(self) -> int:
        return len(self.data)

    def extra_repr(self) -> str:
        """Return which part it is."""
        return f"Split: {'Train' if self.train else 'Test'}"


def _row(held: Any, index: Any) -> Any:
    """Return one row of a tensor that the host has (scripts may have put another one in its place)."""
    if isinstance(held, Tensor):
        numbers = numbers_on_host(held)
        return held[index].numpy() if numbers is None else numbers[index]
    return held[index]


class FashionMNIST(MNIST):
    """Clothes, in MNIST's form. Source: https://arxiv.org/abs/1708.07747."""

    mirrors = ("http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",)
    classes: ClassVar = [
        "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot",
    ]  # fmt: skip


class KMNIST(MNIST):
    """Old Japanese characters, in MNIST's form. Source: https://arxiv.org/abs/1812.01718."""

    mirrors = ("http://codh.rois.ac.jp/kmnist/dataset/kmnist/",)
    classes: ClassVar = ["o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo"]


class EMNIST(MNIST):
    """Letters and digits, in MNIST's form, in six ways to split. Source: https://arxiv.org/abs/1702.05373."""

    mirrors = ("https://biometrics.nist.gov/cs_links/EMNIST/gzip.zip",)
    splits = ("byclass", "bymerge", "balanced", "letters", "digits", "mnist")

    def __init__(self, root: str | os.PathLike[str], split: str, **options: Any) -> None:
        if split not in self.splits:
            raise ValueError(f"Unknown value '{split}' for argument split. Valid values are {self.splits}.")
        self.split = split
        super().__init__(root, **options)

    def _part(self) -> str:
        return f"emnist-{self.split}-{'train' if self.train else 'test'}"
