"""MNIST and its kin, from IDX files (gzipped or not). Source of the format: http://yann.lecun.com/exdb/mnist."""

from __future__ import annotations

import gzip
import lzma
import os
import shutil
import struct
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from funcgrad._tensor.interop import from_host, numbers_on_host
from funcgrad._tensor.tensor import Tensor
from funcgrad.vision.datasets.utils import download_and_extract_archive, extract_archive
from funcgrad.vision.datasets.vision import Change, VisionDataset, need
from funcgrad.vision.images import pillow

_KINDS = {8: ">u1", 9: ">i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}


def read_idx(path: str | os.PathLike[str]) -> NDArray[Any]:
    """Return the array in an IDX file. ValueError where it is cut short or is none."""
    opened = {".gz": gzip.open, ".xz": lzma.open}.get(Path(path).suffix, open)
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

    download: whether to get what is missing. RuntimeError, saying which files must lie where, if they do not.
    """

    mirrors: Any = ("https://ossci-datasets.s3.amazonaws.com/mnist/", "http://yann.lecun.com/exdb/mnist/")
    resources: Any = (
        ("train-images-idx3-ubyte.gz", "f68b3c2dcbeaaa9fbdd348bbdeb94873"),
        ("train-labels-idx1-ubyte.gz", "d53e105ee54ea40749a09fcbcd1e9432"),
        ("t10k-images-idx3-ubyte.gz", "9fb629c4189551a2d022fa330f9573f3"),
        ("t10k-labels-idx1-ubyte.gz", "ec29112dd5afa0611ce80d1b7f02629c"),
    )
    _packed = ".gz"
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
        if download and not all(map(self._found, self._names())):
            self.download()
        pictures, labels = self._load_data()
        self.data: Any = from_host(pictures)
        self.targets: Any = from_host(labels.astype(np.int64))

    def _names(self) -> list[str]:
        """Return the names of the files of pictures and of labels, as they are unpacked."""
        part = "train" if self.train else "t10k"
        return [f"{part}-images-idx3-ubyte", f"{part}-labels-idx1-ubyte"]

    def _load_data(self) -> tuple[NDArray[Any], NDArray[Any]]:
        pictures, labels = map(self._read, self._names())
        return pictures, labels

    def download(self) -> None:
        """Get all files that are not there, from the first of `mirrors` that has them."""
        for filename, md5 in self.resources:
            errors = []
            for mirror in self.mirrors:
                try:
                    download_and_extract_archive(f"{mirror}{filename}", self.raw_folder, filename=filename, md5=md5)
                    break
                except (RuntimeError, OSError) as error:
                    errors.append(f"Tried {mirror}, got:\n{error}\n")
            else:
                elsewhere = f"Without a network, get it elsewhere and put it into {self.raw_folder}."
                raise RuntimeError(f"Error downloading {filename}:\n{''.join(errors)}{elsewhere}")

    def _found(self, name: str) -> Path | None:
        files = (name, f"{name}.gz", f"{name}.xz", name.replace("-ubyte", ".ubyte"))
        return next((place for file in files if (place := Path(self.raw_folder) / file).exists()), None)

    def _read(self, name: str) -> NDArray[Any]:
        found = self._found(name)
        if found is None:
            need(type(self).__name__, self.raw_folder, [f"{name}{self._packed}"], self.mirrors[0])
        return read_idx(found or Path(self.raw_folder) / name)

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
        picture = pillow().fromarray(row(self.data, index), mode=None)
        return self._transformed(picture, self._target(row(self.targets, index)))

    def _target(self, label: Any) -> Any:
        """Return what stands for one label."""
        return int(label)

    def __len__(self) -> int:
        return len(self.data)

    def extra_repr(self) -> str:
        """Return which part it is."""
        return f"Split: {'Train' if self.train else 'Test'}"


def row(held: Any, index: Any) -> Any:
    """Return one row of a tensor that the host has (scripts may have put another one in its place)."""
    if isinstance(held, Tensor):
        numbers = numbers_on_host(held)
        return held[index].numpy() if numbers is None else numbers[index]
    return held[index]


class FashionMNIST(MNIST):
    """Clothes, in MNIST's form. Source: https://arxiv.org/abs/1708.07747."""

    mirrors = ("http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",)
    resources = (
        ("train-images-idx3-ubyte.gz", "8d4fb7e6c68d591d4c3dfef9ec88bf0d"),
        ("train-labels-idx1-ubyte.gz", "25c81989df183df01b3e8a0aad5dffbe"),
        ("t10k-images-idx3-ubyte.gz", "bef4ecab320f06d8554ea6380940ec79"),
        ("t10k-labels-idx1-ubyte.gz", "bb300cfdad3c16e7a12a480ee83cd310"),
    )
    classes: ClassVar = [
        "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot",
    ]  # fmt: skip


class KMNIST(MNIST):
    """Old Japanese characters, in MNIST's form. Source: https://arxiv.org/abs/1812.01718."""

    mirrors = ("http://codh.rois.ac.jp/kmnist/dataset/kmnist/",)
    resources = (
        ("train-images-idx3-ubyte.gz", "bdb82020997e1d708af4cf47b453dcf7"),
        ("train-labels-idx1-ubyte.gz", "e144d726b3acfaa3e44228e80efcd344"),
        ("t10k-images-idx3-ubyte.gz", "5c965bf0a639b31b8f53240b1b52f4d7"),
        ("t10k-labels-idx1-ubyte.gz", "7320c461ea6c1c855c0b718fb2a4b134"),
    )
    classes: ClassVar = ["o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo"]


class EMNIST(MNIST):
    """Letters and digits, in MNIST's form, in six ways to split. Source: https://arxiv.org/abs/1702.05373."""

    url = "https://biometrics.nist.gov/cs_links/EMNIST/gzip.zip"
    md5 = "58c8d27c78d21e728a6bc7b3cc06412e"
    mirrors = (url,)
    splits = ("byclass", "bymerge", "balanced", "letters", "digits", "mnist")

    def __init__(self, root: str | os.PathLike[str], split: str, **options: Any) -> None:
        if split not in self.splits:
            raise ValueError(f"Unknown value '{split}' for argument split. Valid values are {self.splits}.")
        self.split = split
        super().__init__(root, **options)

    def download(self) -> None:
        """Get the archive of all splits, and leave their files in `raw_folder`."""
        download_and_extract_archive(self.url, self.raw_folder, md5=self.md5)
        unpacked = Path(self.raw_folder) / "gzip"
        for file in unpacked.glob("*.gz"):
            extract_archive(file, self.raw_folder)
        shutil.rmtree(unpacked)

    def _names(self) -> list[str]:
        part = f"emnist-{self.split}-{'train' if self.train else 'test'}"
        return [f"{part}-images-idx3-ubyte", f"{part}-labels-idx1-ubyte"]
