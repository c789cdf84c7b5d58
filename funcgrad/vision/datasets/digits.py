"""More digits than MNIST's: QMNIST, USPS and MovingMNIST."""

from __future__ import annotations

import bz2
import os
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from funcgrad._tensor.interop import from_host
from funcgrad.vision.datasets.mnist import MNIST, row
from funcgrad.vision.datasets.utils import download_and_extract_archive, download_url, verify_str_arg
from funcgrad.vision.datasets.vision import Change, VisionDataset, need
from funcgrad.vision.images import pillow


class QMNIST(MNIST):
    """MNIST as it was made anew from NIST's files, with all 60,000 digits to test, from `root/QMNIST/raw`.

    Source: https://github.com/facebookresearch/qmnist. what: "train", "test", "test10k" (MNIST's own), "test50k" (the
    rest) or "nist"; default by `train`. compat: whether a target is the digit alone, or all eight numbers known of it.
    """

    subsets: ClassVar = {"train": "train", "test": "test", "test10k": "test", "test50k": "test", "nist": "nist"}
    mirrors = ("https://raw.githubusercontent.com/facebookresearch/qmnist/master/",)
    resources: ClassVar[Any] = {
        "train": (
            ("qmnist-train-images-idx3-ubyte.gz", "ed72d4157d28c017586c42bc6afe6370"),
            ("qmnist-train-labels-idx2-int.gz", "0058f8dd561b90ffdd0f734c6a30e5e4"),
        ),
        "test": (
            ("qmnist-test-images-idx3-ubyte.gz", "1394631089c404de565df7b7aeaf9412"),
            ("qmnist-test-labels-idx2-int.gz", "5b5b05890a5e13444e108efe57b788aa"),
        ),
        "nist": (
            ("xnist-images-idx3-ubyte.xz", "7f124b3b8ab81486c9d8c2749c17f834"),
            ("xnist-labels-idx2-int.xz", "5ed0e788978e45d4a8bd4b7caec3d79d"),
        ),
    }

    def __init__(
        self, root: str | os.PathLike[str], what: str | None = None, compat: bool = True, train: bool = True,
        **kwargs: Any,
    ) -> None:  # fmt: skip
        default = "train" if train else "test"
        self.what = verify_str_arg(default if what is None else what, "what", tuple(self.subsets))
        self.compat = compat
        self._packed = ".xz" if self.what == "nist" else ".gz"
        super().__init__(root, train, **kwargs)

    @property
    def images_file(self) -> str:
        """The file of the pictures, unpacked."""
        return os.path.join(self.raw_folder, self._names()[0])

    @property
    def labels_file(self) -> str:
        """The file of what is known of them, unpacked."""
        return os.path.join(self.raw_folder, self._names()[1])

    def download(self) -> None:
        """Get the two files of `what`, and unpack them."""
        for name, md5 in self.resources[self.subsets[self.what]]:
            download_and_extract_archive(self.mirrors[0] + name, self.raw_folder, md5=md5)

    def _names(self) -> list[str]:
        return [name.rpartition(".")[0] for name, _ in self.resources[self.subsets[self.what]]]

    def _load_data(self) -> tuple[NDArray[Any], NDArray[Any]]:
        chosen = {"test10k": slice(10000), "test50k": slice(10000, None)}.get(self.what, slice(None))
        pictures, labels = super()._load_data()
        return pictures[chosen], labels[chosen]

    def _target(self, label: Any) -> Any:
        return int(label[0]) if self.compat else from_host(label)

    def extra_repr(self) -> str:
        """Return which part it is."""
        return f"Split: {self.what}"


class USPS(VisionDataset):
    """Digits of postal codes, 16 x 16, from `root/usps.bz2` and `root/usps.t.bz2`.

    Source: https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass.html#usps. download: whether to get the
    file if it is missing. RuntimeError, saying where it must lie, if it does not.
    """

    split_list: ClassVar = {
        "train": (
            "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass/usps.bz2",
            "usps.bz2",
            "ec16c51db3855ca6c91edd34d0e9b197",
        ),
        "test": (
            "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass/usps.t.bz2",
            "usps.t.bz2",
            "8ea070ee2aca1ac39742fdd1ef5ed118",
        ),
    }

    def __init__(
        self, root: str | os.PathLike[str], train: bool = True, transform: Change = None,
        target_transform: Change = None, download: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.train = train
        url, name, _ = self.split_list["train" if train else "test"]
        need("USPS", self.root, [name], url, self._download if download else None)
        with bz2.open(os.path.join(self.root, name), "rt") as lines:
            rows = [line.split() for line in lines]  # the digit plus one, then 256 times place:value in [-1, 1]
        values = np.array([[entry.partition(":")[2] for entry in entries] for _, *entries in rows], np.float32)
        self.data: NDArray[Any] = ((values.reshape(-1, 16, 16) + 1) / 2 * 255).astype(np.uint8)
        self.targets: list[int] = [int(digit) - 1 for digit, *_ in rows]

    def _download(self) -> None:
        url, name, md5 = self.split_list["train" if self.train else "test"]
        download_url(url, self.root, name, md5)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        return self._transformed(pillow().fromarray(self.data[index]), int(self.targets[index]))

    def __len__(self) -> int:
        return len(self.data)


class MovingMNIST(VisionDataset):
    """10,000 films of two moving digits, (20, 1, 64, 64) each, from `root/MovingMNIST/mnist_test_seq.npy`.

    Source: http://www.cs.toronto.edu/~nitish/unsupervised_video. split: "train" for the first `split_ratio` frames of
    each, "test" for the others. download: whether to get the file if it is missing. RuntimeError, saying where it must
    lie, if it does not.
    """

    _URL = "http://www.cs.toronto.edu/~nitish/unsupervised_video/mnist_test_seq.npy"
    _MD5 = "be083ec986bfe91a449d63653c411eb2"

    def __init__(
        self, root: str | os.PathLike[str], split: str | None = None, split_ratio: int = 10, download: bool = False,
        transform: Change = None,
    ) -> None:  # fmt: skip
        super().__init__(root, transform=transform)
        self.split = None if split is None else verify_str_arg(split, "split", ("train", "test"))
        if not isinstance(split_ratio, int):
            raise TypeError(f"`split_ratio` should be an integer, but got {type(split_ratio)}")
        if not 1 <= split_ratio <= 19:
            raise ValueError(f"`split_ratio` should be `1 <= split_ratio <= 19`, but got {split_ratio} instead.")
        self.split_ratio = split_ratio
        self._base_folder = Path(self.root) / "MovingMNIST"
        name = os.path.basename(self._URL)
        need("MovingMNIST", self._base_folder, [name], self._URL, self.download if download else None)
        parts = {"train": slice(split_ratio), "test": slice(split_ratio, None)}
        frames = np.load(self._base_folder / name)[parts.get(split or "", slice(None))]
        self.data: Any = from_host(np.ascontiguousarray(frames.swapaxes(0, 1)[:, :, None]))

    def download(self) -> None:
        """Get the file."""
        download_url(self._URL, self._base_folder, md5=self._MD5)

    def __getitem__(self, idx: int) -> Any:
        film = from_host(row(self.data, idx))
        return film if self.transform is None else self.transform(film)

    def __len__(self) -> int:
        return len(self.data)
