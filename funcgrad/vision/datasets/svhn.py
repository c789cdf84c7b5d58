"""SVHN: street numbers. Source: http://ufldl.stanford.edu/housenumbers."""

from __future__ import annotations

import importlib
import importlib.util
import os
from typing import Any

import numpy as np

from funcgrad.vision.datasets.vision import Change, InSplits, need


class SVHN(InSplits):
    """Street numbers, 32 x 32 in colour, from `root/{train,test,extra}_32x32.mat` (read with scipy).

    Source: http://ufldl.stanford.edu/housenumbers. RuntimeError, saying where the file must lie, if it does not.
    """

    splits = ("train", "test", "extra")

    def __init__(
        self, root: str | os.PathLike[str], split: str = "train", transform: Change = None,
        target_transform: Change = None, download: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(root, split, transform, target_transform)
        file = f"{split}_32x32.mat"
        need("SVHN", self.root, [file], "http://ufldl.stanford.edu/housenumbers", download)
        content = _loadmat(os.path.join(self.root, file))
        self.labels = content["y"].astype(np.int64).reshape(-1) % 10  # the files write 10 for the digit 0
        self.data = content["X"].transpose(3, 2, 0, 1)


def _loadmat(path: str) -> Any:
    if importlib.util.find_spec("scipy") is None:
        raise ImportError("SVHN's files are read with scipy: pip install scipy", name="scipy")
    return importlib.import_module("scipy.io").loadmat(path)
