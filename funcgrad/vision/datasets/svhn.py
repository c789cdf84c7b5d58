"""SVHN: street numbers. Source: http://ufldl.stanford.edu/housenumbers."""

from __future__ import annotations

import os
from typing import ClassVar

import numpy as np

from funcgrad.vision.datasets.utils import download_url
from funcgrad.vision.datasets.vision import Change, InSplits, loadmat, need


class SVHN(InSplits):
    """Street numbers, 32 x 32 in colour, from `root/{train,test,extra}_32x32.mat` (read with scipy).

    Source: http://ufldl.stanford.edu/housenumbers. download: whether to get the file if it is missing. RuntimeError,
    saying where it must lie, if it does not.
    """

    splits = ("train", "test", "extra")
    split_list: ClassVar = {
        "train": ("http://ufldl.stanford.edu/housenumbers/train_32x32.mat", "e26dedcc434d2e4c54c9b2d4a06d8373"),
        "test": ("http://ufldl.stanford.edu/housenumbers/test_32x32.mat", "eb5a983be6a315427106f1b164d9cef3"),
        "extra": ("http://ufldl.stanford.edu/housenumbers/extra_32x32.mat", "a93ce644f1a588dc4d68dda5feec44a7"),
    }

    def __init__(
        self, root: str | os.PathLike[str], split: str = "train", transform: Change = None,
        target_transform: Change = None, download: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(root, split, transform, target_transform)
        file = f"{split}_32x32.mat"
        need("SVHN", self.root, [file], self.split_list[split][0], self.download if download else None)
        content = loadmat(os.path.join(self.root, file))
        self.labels = content["y"].astype(np.int64).reshape(-1) % 10  # the files write 10 for the digit 0
        self.data = content["X"].transpose(3, 2, 0, 1)

    def download(self) -> None:
        """Get the file of the split."""
        url, md5 = self.split_list[self.split]
        download_url(url, self.root, md5=md5)
