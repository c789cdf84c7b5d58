"""VOCSegmentation and VOCDetection: 20 kinds of objects. Source: http://host.robots.ox.ac.uk/pascal/VOC."""

from __future__ import annotations

import os
from abc import abstractmethod
from typing import Any
from xml.etree import ElementTree

from funcgrad.vision.datasets.utils import download_and_extract_archive, verify_str_arg
from funcgrad.vision.datasets.vision import Change, VisionDataset, need, read_picture

_ADDRESS = "https://thor.robots.ox.ac.uk/pascal/VOC"
DATASET_YEAR_DICT = {
    key: {
        "url": f"{_ADDRESS}/voc{key[:4]}/{filename}",
        "filename": filename,
        "md5": md5,
        "base_dir": os.path.join(*(["TrainVal"] if key == "2011" else []), "VOCdevkit", f"VOC{key[:4]}"),
    }
    for key, filename, md5 in (
        ("2012", "VOCtrainval_11-May-2012.tar", "6cd6e144f989b92b3379bac3b3de84fd"),
        ("2011", "VOCtrainval_25-May-2011.tar", "6c3384ef61512963050cb5d687e5bf1e"),
        ("2010", "VOCtrainval_03-May-2010.tar", "da459979d0c395079b5c75ee67908abb"),
        ("2009", "VOCtrainval_11-May-2009.tar", "a3e00b113cfcfebf17e343f59da3caa1"),
        ("2008", "VOCtrainval_14-Jul-2008.tar", "2629fa636546599198acfcfbfcf1904a"),
        ("2007", "VOCtrainval_06-Nov-2007.tar", "c52e279531787c972589f7e41ab4ae64"),
        ("2007-test", "VOCtest_06-Nov-2007.tar", "b6e924de25625d8de591ea690078ad9f"),
    )
}


class _VOCBase(VisionDataset):
    """Contract: the three names, and `_target`. Gift: pictures and targets of the files that a list names."""

    _SPLITS_DIR: str
    _TARGET_DIR: str
    _TARGET_FILE_EXT: str

    def __init__(
        self, root: str | os.PathLike[str], year: str = "2012", image_set: str = "train", download: bool = False,
        transform: Change = None, target_transform: Change = None, transforms: Change = None,
    ) -> None:  # fmt: skip
        super().__init__(root, transforms, transform, target_transform)
        self.year = verify_str_arg(year, "year", [str(known) for known in range(2007, 2013)])
        sets = ["train", "trainval", "val", *(["test"] if year == "2007" else [])]
        self.image_set = verify_str_arg(image_set, "image_set", sets)
        source = DATASET_YEAR_DICT["2007-test" if image_set == "test" else year]
        self.url, self.filename, self.md5 = source["url"], source["filename"], source["md5"]
        folder = os.path.join(self.root, source["base_dir"])
        names_file = os.path.join("ImageSets", self._SPLITS_DIR, f"{image_set}.txt")
        files = [names_file, "JPEGImages", self._TARGET_DIR]
        need(type(self).__name__, folder, files, f"{self.url}, unpacked", self._download if download else None)
        with open(os.path.join(folder, names_file)) as lines:
            names = [line.strip() for line in lines]
        self.images = [os.path.join(folder, "JPEGImages", f"{name}.jpg") for name in names]
        self.targets = [os.path.join(folder, self._TARGET_DIR, name + self._TARGET_FILE_EXT) for name in names]

    def _download(self) -> None:
        download_and_extract_archive(self.url, self.root, filename=self.filename, md5=self.md5)

    @abstractmethod
    def _target(self, path: str) -> Any:
        """Return what the file of a target holds."""

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        picture = read_picture(self.images[index]).convert("RGB")
        return self._transformed(picture, self._target(self.targets[index]))

    def __len__(self) -> int:
        return len(self.images)


class VOCSegmentation(_VOCBase):
    """Pictures with the class of each pixel, as a picture with a palette, from `root/VOCdevkit/VOC<year>`.

    download: whether to get what is missing. RuntimeError, saying which files must lie where, if they do not.
    """

    _SPLITS_DIR = "Segmentation"
    _TARGET_DIR = "SegmentationClass"
    _TARGET_FILE_EXT = ".png"

    @property
    def masks(self) -> list[str]:
        """The files of the targets."""
        return self.targets

    def _target(self, path: str) -> Any:
        return read_picture(path)


class VOCDetection(_VOCBase):
    """Pictures with boxes, as the dictionary of an XML file, from `root/VOCdevkit/VOC<year>`.

    download: whether to get what is missing. RuntimeError, saying which files must lie where, if they do not.
    """

    _SPLITS_DIR = "Main"
    _TARGET_DIR = "Annotations"
    _TARGET_FILE_EXT = ".xml"

    @property
    def annotations(self) -> list[str]:
        """The files of the targets."""
        return self.targets

    def _target(self, path: str) -> Any:
        return self.parse_voc_xml(ElementTree.parse(path).getroot())

    @staticmethod
    def parse_voc_xml(node: ElementTree.Element) -> dict[str, Any]:
        """Return {tag: text}, or {tag: {...}} for what has parts; parts of one tag are a list, and objects always."""
        if not len(node):
            return {node.tag: node.text.strip()} if node.text else {}
        parts: dict[str, list[Any]] = {}
        for child in node:
            for tag, content in VOCDetection.parse_voc_xml(child).items():
                parts.setdefault(tag, []).append(content)
        held: dict[str, Any] = {tag: found[0] if len(found) == 1 else found for tag, found in parts.items()}
        if node.tag == "annotation":
            held["object"] = parts.get("object", [])
        return {node.tag: held}
