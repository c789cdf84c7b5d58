"""Kinds of one thing: OxfordIIITPet, Flowers102, Food101 and StanfordCars."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from funcgrad.vision.datasets.folder import default_loader
from funcgrad.vision.datasets.labelled import Labelled
from funcgrad.vision.datasets.utils import download_and_extract_archive, download_url, verify_str_arg
from funcgrad.vision.datasets.vision import Change, VisionDataset, loadmat, need, read_picture


class OxfordIIITPet(VisionDataset):
    """37 breeds of cats and dogs, from `root/oxford-iiit-pet`: images/ and annotations/.

    Source: https://www.robots.ox.ac.uk/~vgg/data/pets. target_types: which targets, in this order; one alone is no
    tuple. download: whether to get what is missing. RuntimeError, saying where the files must lie, if they do not.
    """

    _RESOURCES = (
        ("https://www.robots.ox.ac.uk/~vgg/data/pets/data/images.tar.gz", "5c4f3ee8e5d25df40f4fd59a7f44e54c"),
        ("https://www.robots.ox.ac.uk/~vgg/data/pets/data/annotations.tar.gz", "95a8c909bbe2e81eed6a22bccdf3f68f"),
    )
    _VALID_TARGET_TYPES = ("category", "binary-category", "segmentation")

    def __init__(
        self, root: str | os.PathLike[str], split: str = "trainval", target_types: Sequence[str] | str = "category",
        transforms: Change = None, transform: Change = None, target_transform: Change = None, download: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(root, transforms, transform, target_transform)
        self._split = verify_str_arg(split, "split", ("trainval", "test"))
        kinds = [target_types] if isinstance(target_types, str) else target_types
        self._target_types = [verify_str_arg(kind, "target_types", self._VALID_TARGET_TYPES) for kind in kinds]
        self._base_folder = folder = Path(self.root) / "oxford-iiit-pet"
        source = " and ".join(url for url, _ in self._RESOURCES)
        files = ["images", f"annotations/{split}.txt"]
        need("OxfordIIITPet", folder, files, f"{source}, unpacked", self._download if download else None)
        rows = [line.split() for line in (folder / "annotations" / f"{split}.txt").read_text().splitlines()]
        self._labels, self._bin_labels = ([int(row[column]) - 1 for row in rows] for column in (1, 2))
        self._images = [folder / "images" / f"{row[0]}.jpg" for row in rows]
        self._segs = [folder / "annotations" / "trimaps" / f"{row[0]}.png" for row in rows]
        breeds = {label: row[0].rpartition("_")[0] for row, label in zip(rows, self._labels, strict=True)}
        self.classes = [" ".join(map(str.title, breeds[label].split("_"))) for label in sorted(breeds)]
        self.bin_classes = ["Cat", "Dog"]
        self.class_to_idx = {name: i for i, name in enumerate(self.classes)}
        self.bin_class_to_idx = {name: i for i, name in enumerate(self.bin_classes)}

    def _download(self) -> None:
        for url, md5 in self._RESOURCES:
            download_and_extract_archive(url, self._base_folder, md5=md5)

    def _target(self, kind: str, idx: int) -> Any:
        if kind == "segmentation":
            return read_picture(self._segs[idx])
        return (self._labels if kind == "category" else self._bin_labels)[idx]

    def __getitem__(self, idx: int) -> tuple[Any, Any]:
        targets = tuple(self._target(kind, idx) for kind in self._target_types)
        target = targets if len(targets) > 1 else next(iter(targets), None)
        return self._transformed(read_picture(self._images[idx]).convert("RGB"), target)

    def __len__(self) -> int:
        return len(self._images)


class Flowers102(Labelled):
    """102 kinds of flowers, from `root/flowers-102`: jpg/, and imagelabels.mat and setid.mat (read with scipy).

    Source: https://www.robots.ox.ac.uk/~vgg/data/flowers/102. download: whether to get what is missing. RuntimeError,
    saying where the files must lie, if they do not.
    """

    splits = ("train", "val", "test")
    _download_url_prefix = "https://www.robots.ox.ac.uk/~vgg/data/flowers/102/"
    _file_dict: ClassVar = {
        "image": ("102flowers.tgz", "52808999861908f626f3c1f4e79d11fa"),
        "label": ("imagelabels.mat", "e0620be6f572b9609742df49c70aed4d"),
        "setid": ("setid.mat", "a5357ecc9cb78c4bef273ce3793fc85c"),
    }
    _splits_map: ClassVar = {"train": "trnid", "val": "valid", "test": "tstid"}

    def __init__(
        self, root: str | os.PathLike[str], split: str = "train", transform: Change = None,
        target_transform: Change = None, download: bool = False, loader: Callable[[Any], Any] = default_loader,
    ) -> None:  # fmt: skip
        super().__init__(root, split, transform, target_transform, loader)
        self._base_folder = folder = Path(self.root) / "flowers-102"
        files = ["jpg", "imagelabels.mat", "setid.mat"]
        need("Flowers102", folder, files, self._download_url_prefix, self.download if download else None)
        chosen = loadmat(folder / "setid.mat")[self._splits_map[split]].ravel()
        labels = loadmat(folder / "imagelabels.mat")["labels"].ravel()
        self._labels = [int(labels[number - 1]) - 1 for number in chosen]
        self._image_files = [folder / "jpg" / f"image_{number:05d}.jpg" for number in chosen]
        self.class_to_idx = {name: i for i, name in enumerate(self.classes)}

    def download(self) -> None:
        """Get the pictures, and unpack them; get the two files of labels and of parts."""
        for kind, (name, md5) in self._file_dict.items():
            get = download_and_extract_archive if kind == "image" else download_url
            get(self._download_url_prefix + name, self._base_folder, md5=md5)

    def extra_repr(self) -> str:
        """Return which part it is."""
        return f"split={self._split}"

    classes: ClassVar[list[str]] = [  # type: ignore[misc]  # the same for all
        "pink primrose", "hard-leaved pocket orchid", "canterbury bells", "sweet pea", "english marigold",
        "tiger lily", "moon orchid", "bird of paradise", "monkshood", "globe thistle", "snapdragon", "colt's foot",
        "king protea", "spear thistle", "yellow iris", "globe-flower", "purple coneflower", "peruvian lily",
        "balloon flower", "giant white arum lily", "fire lily", "pincushion flower", "fritillary", "red ginger",
        "grape hyacinth", "corn poppy", "prince of wales feathers", "stemless gentian", "artichoke", "sweet william",
        "carnation", "garden phlox", "love in the mist", "mexican aster", "alpine sea holly", "ruby-lipped cattleya",
        "cape flower", "great masterwort", "siam tulip", "lenten rose", "barbeton daisy", "daffodil", "sword lily",
        "poinsettia", "bolero deep blue", "wallflower", "marigold", "buttercup", "oxeye daisy", "common dandelion",
        "petunia", "wild pansy", "primula", "sunflower", "pelargonium", "bishop of llandaff", "gaura", "geranium",
        "orange dahlia", "pink-yellow dahlia?", "cautleya spicata", "japanese anemone", "black-eyed susan",
        "silverbush", "californian poppy", "osteospermum", "spring crocus", "bearded iris", "windflower",
        "tree poppy", "gazania", "azalea", "water lily", "rose", "thorn apple", "morning glory", "passion flower",
        "lotus", "toad lily", "anthurium", "frangipani", "clematis", "hibiscus", "columbine", "desert-rose",
        "tree mallow", "magnolia", "cyclamen", "watercress", "canna lily", "hippeastrum", "bee balm", "ball moss",
        "foxglove", "bougainvillea", "camellia", "mallow", "mexican petunia", "bromelia", "blanket flower",
        "trumpet creeper", "blackberry lily",
    ]  # fmt: skip


class Food101(Labelled):
    """101 dishes, from `root/food-101`: images/, and meta/train.json or meta/test.json.

    Source: https://data.vision.ee.ethz.ch/cvl/datasets_extra/food-101. download: whether to get what is missing.
    RuntimeError, saying where the files must lie, if they do not.
    """

    _URL = "http://data.vision.ee.ethz.ch/cvl/food-101.tar.gz"
    _MD5 = "85eeb15f3717b99a5da872d97d918f87"

    def __init__(
        self, root: str | os.PathLike[str], split: str = "train", transform: Change = None,
        target_transform: Change = None, download: bool = False, loader: Callable[[Any], Any] = default_loader,
    ) -> None:  # fmt: skip
        super().__init__(root, split, transform, target_transform, loader)
        self._base_folder = folder = Path(self.root) / "food-101"
        files = ["images", f"meta/{split}.json"]
        need("Food101", folder, files, f"{self._URL}, unpacked", self._download if download else None)
        dishes: dict[str, list[str]] = json.loads((folder / "meta" / f"{split}.json").read_text())
        self._name_classes(sorted(dishes))
        self._labels = [self.class_to_idx[dish] for dish, paths in dishes.items() for _ in paths]
        self._image_files = [folder / "images" / f"{path}.jpg" for paths in dishes.values() for path in paths]

    def _download(self) -> None:
        download_and_extract_archive(self._URL, self.root, md5=self._MD5)

    def extra_repr(self) -> str:
        """Return which part it is."""
        return f"split={self._split}"


class StanfordCars(Labelled):
    """196 models of cars, from `root/stanford_cars`, which nothing can download any more (read with scipy).

    To train: cars_train/, devkit/cars_train_annos.mat; to test: cars_test/, cars_test_annos_withlabels.mat; for both:
    devkit/cars_meta.mat. ValueError for download=True; RuntimeError, saying where the files must lie, if they do not.
    """

    def __init__(
        self, root: str | os.PathLike[str], split: str = "train", transform: Change = None,
        target_transform: Change = None, download: bool = False, loader: Callable[[Any], Any] = default_loader,
    ) -> None:  # fmt: skip
        super().__init__(root, split, transform, target_transform, loader)
        if download:
            self.download()
        self._base_folder = folder = Path(self.root) / "stanford_cars"
        notes = "devkit/cars_train_annos.mat" if split == "train" else "cars_test_annos_withlabels.mat"
        files = [f"cars_{split}", notes, "devkit/cars_meta.mat"]
        need("StanfordCars", folder, files, "wherever there is a copy", can_download=False)
        cars = np.atleast_1d(loadmat(folder / notes, squeeze_me=True)["annotations"])
        self._labels = [int(car["class"]) - 1 for car in cars]  # the files count from 1
        self._image_files = [str(folder / f"cars_{split}" / str(car["fname"])) for car in cars]
        self._name_classes(loadmat(folder / "devkit" / "cars_meta.mat", squeeze_me=True)["class_names"].tolist())

    def download(self) -> None:
        """Raise ValueError."""
        raise ValueError("The original URL is broken so the StanfordCars dataset cannot be downloaded anymore.")
