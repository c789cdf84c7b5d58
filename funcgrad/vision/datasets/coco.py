"""CocoDetection and CocoCaptions: everyday scenes, with objects or sentences. Source: https://cocodataset.org."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from funcgrad.vision.datasets.vision import Change, VisionDataset, read_picture

Ids = int | Iterable[int]


class Annotations:
    """What `pycocotools.coco.COCO` tells of a file of annotations, where that is not installed: all but its masks."""

    def __init__(self, annotation_file: str | os.PathLike[str]) -> None:
        self.dataset: dict[str, Any] = json.loads(Path(annotation_file).read_text(encoding="utf-8"))
        self.imgs, self.anns, self.cats = map(self._by_id, ("images", "annotations", "categories"))
        self.imgToAnns: dict[int, list[Any]] = defaultdict(list)
        self.catToImgs: dict[int, list[int]] = defaultdict(list)
        for annotation in self.anns.values():
            self.imgToAnns[annotation["image_id"]].append(annotation)
            if "category_id" in annotation:
                self.catToImgs[annotation["category_id"]].append(annotation["image_id"])

    def _by_id(self, kind: str) -> dict[int, Any]:
        return {entry["id"]: entry for entry in self.dataset.get(kind, [])}

    def getAnnIds(
        self, imgIds: Ids = (), catIds: Ids = (), areaRng: tuple[float, ...] = (), iscrowd: bool | None = None
    ) -> list[int]:
        """Return the numbers of annotations: of these pictures, these kinds, sizes between these two; () for all."""
        pictures, kinds = _several(imgIds), set(_several(catIds))
        of_pictures = [a for i in pictures for a in self.imgToAnns.get(i, [])] if pictures else self.anns.values()
        return [
            a["id"]
            for a in of_pictures
            if (not kinds or a["category_id"] in kinds)
            and (not areaRng or areaRng[0] < a["area"] < areaRng[1])
            and (iscrowd is None or a["iscrowd"] == iscrowd)
        ]

    def getCatIds(self, catNms: str | Iterable[str] = (), supNms: str | Iterable[str] = (), catIds: Ids = ()) -> Any:
        """Return the numbers of the kinds with these names, in these groups, of these numbers; () for all."""
        wanted = [("name", _several(catNms)), ("supercategory", _several(supNms)), ("id", _several(catIds))]
        return [
            kind["id"] for kind in self.cats.values() if all(not those or kind[key] in those for key, those in wanted)
        ]

    def getImgIds(self, imgIds: Ids = (), catIds: Ids = ()) -> list[int]:
        """Return the numbers of the pictures, of these, that show all of these kinds; () for all."""
        chosen = set(_several(imgIds)) or set(self.imgs)
        return list(chosen.intersection(*(self.catToImgs.get(kind, ()) for kind in _several(catIds))))

    def loadAnns(self, ids: Ids = ()) -> list[Any]:
        """Return the annotations with these numbers."""
        return [self.anns[i] for i in _several(ids)]

    def loadCats(self, ids: Ids = ()) -> list[Any]:
        """Return the kinds of objects with these numbers."""
        return [self.cats[i] for i in _several(ids)]

    def loadImgs(self, ids: Ids = ()) -> list[Any]:
        """Return what is known of the pictures with these numbers."""
        return [self.imgs[i] for i in _several(ids)]


def _several(given: Any) -> list[Any]:
    return [given] if isinstance(given, (int, str)) else list(given)


class CocoDetection(VisionDataset):
    """Pictures in `root` with the annotations that the file `annFile` has of them: a list of dictionaries each.

    `coco` is pycocotools's own object where that is installed, and knows masks only then.
    """

    def __init__(
        self, root: str | os.PathLike[str], annFile: str | os.PathLike[str], transform: Change = None,
        target_transform: Change = None, transforms: Change = None,
    ) -> None:  # fmt: skip
        super().__init__(root, transforms, transform, target_transform)
        installed = importlib.util.find_spec("pycocotools") is not None
        kind = importlib.import_module("pycocotools.coco").COCO if installed else Annotations
        self.coco: Any = kind(annFile)
        self.ids: list[int] = sorted(self.coco.imgs)

    def _load_image(self, id: int) -> Any:
        name = self.coco.loadImgs(id)[0]["file_name"]
        return read_picture(os.path.join(self.root, name)).convert("RGB")

    def _load_target(self, id: int) -> list[Any]:
        return self.coco.loadAnns(self.coco.getAnnIds(id))

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        if not isinstance(index, int):
            raise ValueError(f"Index must be of type integer, got {type(index)} instead.")
        id = self.ids[index]
        return self._transformed(self._load_image(id), self._load_target(id))

    def __len__(self) -> int:
        return len(self.ids)


class CocoCaptions(CocoDetection):
    """Pictures in `root` with the sentences that the file `annFile` has of them: a list of texts each."""

    def _load_target(self, id: int) -> list[str]:
        return [annotation["caption"] for annotation in super()._load_target(id)]
