"""Small data sets in the files and folders that torchvision uses."""

from __future__ import annotations

import gzip
import pickle
import struct
from pathlib import Path
from typing import Any

import numpy as np


def idx(path: Path, array: np.ndarray[Any, Any]) -> None:
    """Write bytes as an IDX file, gzipped if its name says so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    head = struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape)
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "wb") as file:
        file.write(head + array.astype(np.uint8).tobytes())


def mnist(root: Path, count: int = 12, name: str = "MNIST", ending: str = ".gz") -> np.ndarray[Any, Any]:
    """Write both parts; return the pictures of the training part."""
    random = np.random.default_rng(0)
    pictures = random.integers(0, 256, (count, 28, 28))
    for part in ("train", "t10k"):
        idx(root / name / "raw" / f"{part}-images-idx3-ubyte{ending}", pictures)
        idx(root / name / "raw" / f"{part}-labels-idx1-ubyte{ending}", np.arange(count) % 10)
    return pictures


def cifar10(root: Path, count: int = 4) -> np.ndarray[Any, Any]:
    """Write the six batches; return the rows of the first."""
    folder = root / "cifar-10-batches-py"
    folder.mkdir(parents=True)
    rows = np.random.default_rng(0).integers(0, 256, (6, count, 3072), dtype=np.uint8)
    for i, name in enumerate([*(f"data_batch_{n}" for n in range(1, 6)), "test_batch"]):
        batch = {"data": rows[i], "labels": [(i + j) % 10 for j in range(count)], "batch_label": name}
        (folder / name).write_bytes(pickle.dumps(batch, protocol=2))
    names = {"label_names": [f"class {i}" for i in range(10)]}
    (folder / "batches.meta").write_bytes(pickle.dumps(names, protocol=2))
    return rows[0]
