"""Streets, land and surfaces: GTSRB, EuroSAT, Country211 and DTD."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from funcgrad.vision.datasets.folder import ImageFolder, default_loader, make_dataset
from funcgrad.vision.datasets.labelled import Labelled
from funcgrad.vision.datasets.utils import download_and_extract_archive, verify_str_arg
from funcgrad.vision.datasets.vision import Change, need


class GTSRB(Labelled):
    """43 German traffic signs, from `root/gtsrb`: GTSRB/Training/, or GTSRB/Final_Test/Images/ and GT-final_test.csv.

    Source: https://benchmark.ini.rub.de. download: whether to get what is missing. RuntimeError, saying where the files
    must lie, if they do not.
    """

    _URL = "https://sid.erda.dk/public/archives/daaeac0d7ce1152aea9b61d9f1e19370/"
    _RESOURCES: ClassVar = {
        "train": (("GTSRB-Training_fixed.zip", "513f3c79a4c5141765e10e952eaa2478"),),
        "test": (
            ("GTSRB_Final_Test_Images.zip", "c7e4e6327067d32654124b0fe9e82185"),
            ("GTSRB_Final_Test_GT.zip", "fe31e9c9270bbcd7b84b7f21a9d9d9e5"),
        ),
    }

    def __init__(
        self, root: str | os.PathLike[str], split: str = "train", transform: Change = None,
        target_transform: Change = None, download: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(root, split, transform, target_transform)
        self._base_folder = Path(self.root) / "gtsrb"
        pictures = f"GTSRB/{'Training' if split == 'train' else 'Final_Test/Images'}"
        files = [pictures] if split == "train" else [pictures, "GT-final_test.csv"]
        need("GTSRB", self._base_folder, files, f"{self._URL}, unpacked", self.download if download else None)
        folder = self._base_folder / pictures
        if split == "train":
            samples = make_dataset(folder, extensions=(".ppm",))
        else:
            with (self._base_folder / "GT-final_test.csv").open(newline="") as table:
                rows = csv.DictReader(table, delimiter=";", skipinitialspace=True)
                samples = [(str(folder / row["Filename"]), int(row["ClassId"])) for row in rows]
        self._image_files = [path for path, _ in samples]
        self._labels = [label for _, label in samples]

    def download(self) -> None:
        """Get the archives of the split, and unpack them."""
        for name, md5 in self._RESOURCES[self._split]:
            download_and_extract_archive(self._URL + name, self._base_folder, md5=md5)


class EuroSAT(ImageFolder):
    """Ten kinds of land, seen from a satellite, 64 x 64 in colour, from `root/eurosat/2750`.

    Source: https://github.com/phelber/eurosat. download: whether to get what is missing. RuntimeError, saying where the
    files must lie, if they do not.
    """

    _URL = (
        "https://huggingface.co/datasets/torchgeo/eurosat/resolve/c877bcd43f099cd0196738f714544e355477f3fd/EuroSAT.zip"
    )
    _MD5 = "c8fa014336c82ac7804f0398fcb19387"

    def __init__(
        self, root: str | os.PathLike[str], transform: Change = None, target_transform: Change = None,
        download: bool = False, loader: Callable[[str], Any] = default_loader,
    ) -> None:  # fmt: skip
        root = os.path.expanduser(root)
        self._base_folder = os.path.join(root, "eurosat")
        need("EuroSAT", self._base_folder, ["2750"], f"{self._URL}, unpacked", self.download if download else None)
        super().__init__(os.path.join(self._base_folder, "2750"), transform, target_transform, loader)
        self.root = root

    def download(self) -> None:
        """Get the archive, and unpack it."""
        download_and_extract_archive(self._URL, self._base_folder, md5=self._MD5)


class Country211(ImageFolder):
    """Pictures taken in 211 countries, from `root/country211/{train,valid,test}`.

    Source: https://github.com/openai/CLIP/blob/main/data/country211.md. download: whether to get what is missing.
    RuntimeError, saying where the files must lie, if they do not.
    """

    _URL = "https://openaipublic.azureedge.net/clip/data/country211.tgz"
    _MD5 = "84988d7644798601126c29e9877aab6a"

    def __init__(
        self, root: str | os.PathLike[str], split: str = "train", transform: Change = None,
        target_transform: Change = None, download: bool = False, loader: Callable[[str], Any] = default_loader,
    ) -> None:  # fmt: skip
        self._split = verify_str_arg(split, "split", ("train", "valid", "test"))
        root = self.root = os.path.expanduser(os.fspath(root))
        self._base_folder = Path(root) / "country211"
        need("Country211", self._base_folder, [split], f"{self._URL}, unpacked", self._download if download else None)
        super().__init__(str(self._base_folder / split), transform, target_transform, loader)
        self.root = root

    def _download(self) -> None:
        download_and_extract_archive(self._URL, self.root, md5=self._MD5)


class DTD(Labelled):
    """47 textures, in ten ways to split, from `root/dtd/dtd`: images/ and labels/.

    Source: https://www.robots.ox.ac.uk/~vgg/data/dtd. partition: 1 to 10. download: whether to get what is missing.
    RuntimeError, saying where the files must lie, if they do not.
    """

    splits = ("train", "val", "test")
    _URL = "https://www.robots.ox.ac.uk/~vgg/data/dtd/download/dtd-r1.0.1.tar.gz"
    _MD5 = "fff73e5086ae6bdbea199a49dfb8a4c1"

    def __init__(
        self, root: str | os.PathLike[str], split: str = "train", partition: int = 1, transform: Change = None,
        target_transform: Change = None, download: bool = False, loader: Callable[[Any], Any] = default_loader,
    ) -> None:  # fmt: skip
        super().__init__(root, split, transform, target_transform, loader)
        if partition not in range(1, 11):
            raise ValueError(
                f"Parameter 'partition' should be an integer with `1 <= partition <= 10`, but got {partition} instead"
            )
        self._partition = partition
        self._base_folder = Path(self.root) / "dtd"
        folder = self._base_folder / "dtd"
        files = ["images", f"labels/{split}{partition}.txt"]
        need("DTD", folder, files, f"{self._URL}, unpacked", self._download if download else None)
        paths = (folder / "labels" / f"{split}{partition}.txt").read_text().split()
        names = [path.partition("/")[0] for path in paths]
        self._name_classes(sorted(set(names)))
        self._labels = [self.class_to_idx[name] for name in names]
        self._image_files = [folder / "images" / path for path in paths]

    def _download(self) -> None:
        download_and_extract_archive(self._URL, self._base_folder, md5=self._MD5)

    def extra_repr(self) -> str:
        """Return which part it is, of which partition."""
        return f"split={self._split}, partition={self._partition}"
