"""ImageNet: 1000 classes of pictures, of the challenge of 2012. Source: https://image-net.org/challenges/LSVRC/2012."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from funcgrad import serialization
from funcgrad.vision.datasets.folder import ImageFolder
from funcgrad.vision.datasets.utils import check_integrity, extract_archive, verify_str_arg
from funcgrad.vision.datasets.vision import loadmat

ARCHIVE_META = {
    "train": ("ILSVRC2012_img_train.tar", "1d675b47d978889d74fa0da5fadfb00e"),
    "val": ("ILSVRC2012_img_val.tar", "29b22e2961454d5413ddabcf34fc5622"),
    "devkit": ("ILSVRC2012_devkit_t12.tar.gz", "fa75699e90414af021442c21a62c3abf"),
}
META_FILE = "meta.bin"


class ImageNet(ImageFolder):
    """Pictures in `root/{train,val}/<WordNet id>`, with the names of the classes in `root/meta.bin`.

    What of these is missing is made from the archives in `root`, which nothing downloads. RuntimeError, saying which
    one must lie where, if it does not. Options: those of ImageFolder.
    """

    def __init__(self, root: str | os.PathLike[str], split: str = "train", **kwargs: Any) -> None:
        root = self.root = os.path.expanduser(root)
        self.split = verify_str_arg(split, "split", ("train", "val"))
        self.parse_archives()
        names = load_meta_file(root)[0]
        super().__init__(self.split_folder, **kwargs)
        self.root = root
        self.wnids, self.wnid_to_idx = self.classes, self.class_to_idx
        self.classes: Any = [names[wnid] for wnid in self.wnids]
        self.class_to_idx = {name: i for i, synonyms in enumerate(self.classes) for name in synonyms}

    def parse_archives(self) -> None:
        """Unpack what is not unpacked yet."""
        if not check_integrity(os.path.join(self.root, META_FILE)):
            parse_devkit_archive(self.root)
        if not os.path.isdir(self.split_folder):
            (parse_train_archive if self.split == "train" else parse_val_archive)(self.root)

    @property
    def split_folder(self) -> str:
        """The folder of the pictures."""
        return os.path.join(self.root, self.split)

    def extra_repr(self) -> str:
        """Return which part it is."""
        return f"Split: {self.split}"


def load_meta_file(root: str | os.PathLike[str], file: str | None = None) -> tuple[dict[str, Any], list[str]]:
    """Return the names of each WordNet id, and the ids of the pictures to validate. RuntimeError without the file."""
    path = os.path.join(root, file or META_FILE)
    if not check_integrity(path):
        raise RuntimeError(f"There is no {path}: ImageNet makes it from {ARCHIVE_META['devkit'][0]}.")
    return serialization.load(path, weights_only=True)


def parse_devkit_archive(root: str | os.PathLike[str], file: str | None = None) -> None:
    """Write `meta.bin` from the archive that tells of the classes; it is read with scipy."""
    archive = _verified(root, "devkit", file)
    with tempfile.TemporaryDirectory() as unpacked:
        extract_archive(archive, unpacked)
        data = Path(unpacked) / "ILSVRC2012_devkit_t12" / "data"
        rows = [row for row in loadmat(data / "meta.mat", squeeze_me=True)["synsets"] if row[4] == 0]  # has no children
        wnids = {int(row[0]): str(row[1]) for row in rows}
        names = {str(row[1]): tuple(str(row[2]).split(", ")) for row in rows}
        truth = (data / "ILSVRC2012_validation_ground_truth.txt").read_text().split()
    serialization.save((names, [wnids[int(number)] for number in truth]), os.path.join(root, META_FILE))


def parse_train_archive(root: str | os.PathLike[str], file: str | None = None, folder: str = "train") -> None:
    """Unpack the pictures to train with: an archive of one archive for each class."""
    target = Path(root) / folder
    extract_archive(_verified(root, "train", file), target)
    for archive in sorted(target.iterdir()):
        extract_archive(archive, archive.with_suffix(""), remove_finished=True)


def parse_val_archive(
    root: str | os.PathLike[str], file: str | None = None, wnids: list[str] | None = None, folder: str = "val"
) -> None:
    """Unpack the pictures to validate with, and move each into the folder of its class.

    wnids: WordNet ids in the order of the files' names. Default: those of `meta.bin`.
    """
    wnids = load_meta_file(root)[1] if wnids is None else wnids
    target = Path(root) / folder
    extract_archive(_verified(root, "val", file), target)
    for wnid, picture in zip(wnids, sorted(target.iterdir()), strict=False):
        (target / wnid).mkdir(exist_ok=True)
        shutil.move(picture, target / wnid / picture.name)


def _verified(root: str | os.PathLike[str], kind: str, file: str | None) -> Path:
    """Return the path of an archive. RuntimeError where it is not there, or has another sum."""
    name, md5 = ARCHIVE_META[kind]
    path = Path(root) / (file or name)
    if not check_integrity(path, md5):
        raise RuntimeError(
            f"The archive {path.name} is not present in the root directory or is corrupted. ImageNet needs this file.\n"
            f"  {path}\nGet it from https://image-net.org/challenges/LSVRC/2012/2012-downloads.php."
        )
    return path
