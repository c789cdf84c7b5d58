"""The data sets beyond the small ones: read from torchvision's folders, unpacked from archives where that is asked."""

from __future__ import annotations

import bz2
import json
import lzma
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import funcgrad as torch
from funcgrad.vision import datasets, transforms
from funcgrad.vision.datasets import imagenet, utils, voc
from tests.vision import files

Image = pytest.importorskip("PIL.Image")


def picture(path: Path, shade: int = 0, size: tuple[int, int] = (4, 3), mode: str = "RGB") -> None:
    """Write a picture of one shade (PNG within, whatever the name, so that the shade is kept)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new(mode, size, shade if mode in "LP" else (shade,) * 3).save(path, format="PNG")


def text(path: Path, *lines: str) -> None:
    """Write lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines))


def shade(image: Any) -> int:
    """Return the first number of a picture."""
    return int(np.asarray(image).flat[0])


def served(patch: pytest.MonkeyPatch, kind: Any, archive: str | Path) -> None:
    """Let a data set find its archive here."""
    patch.setattr(kind, "_URL", Path(archive).as_uri())
    patch.setattr(kind, "_MD5", utils.calculate_md5(archive))


@pytest.mark.parametrize(
    ("make", "file"),
    [
        (lambda root, **o: datasets.VOCDetection(root, **o), "VOCdevkit/VOC2012/ImageSets/Main/train.txt"),
        (lambda root, **o: datasets.VOCSegmentation(root, "2011", **o), "TrainVal/VOCdevkit/VOC2011/SegmentationClass"),
        (lambda root, **o: datasets.OxfordIIITPet(root, "test", **o), "oxford-iiit-pet/annotations/test.txt"),
        (lambda root, **o: datasets.Flowers102(root, **o), "flowers-102/setid.mat"),
        (lambda root, **o: datasets.Food101(root, **o), "food-101/meta/train.json"),
        (lambda root, **o: datasets.Caltech101(root, **o), "caltech101/101_ObjectCategories"),
        (lambda root, **o: datasets.Caltech256(root, **o), "caltech256/256_ObjectCategories"),
        (lambda root, **o: datasets.USPS(root, train=False, **o), "usps.t.bz2"),
        (lambda root, **o: datasets.QMNIST(root, "nist", **o), "QMNIST/raw/xnist-images-idx3-ubyte.xz"),
        (lambda root, **o: datasets.Omniglot(root, False, **o), "omniglot-py/images_evaluation"),
        (lambda root, **o: datasets.DTD(root, partition=3, **o), "dtd/dtd/labels/train3.txt"),
        (lambda root, **o: datasets.GTSRB(root, "test", **o), "gtsrb/GT-final_test.csv"),
        (lambda root, **o: datasets.EuroSAT(root, **o), "eurosat/2750"),
        (lambda root, **o: datasets.Country211(root, "valid", **o), "country211/valid"),
        (lambda root, **o: datasets.MovingMNIST(root, **o), "MovingMNIST/mnist_test_seq.npy"),
    ],
)
def test_missing_files_are_named_with_their_place(make: Callable[..., Any], file: str, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError) as caught:
        make(tmp_path)
    assert f"  {tmp_path / file}\n" in str(caught.value)
    assert str(caught.value).endswith(", or give download=True.")


@pytest.mark.parametrize(
    ("kind", "file"),
    [
        (datasets.StanfordCars, "stanford_cars/devkit/cars_train_annos.mat"),
        (datasets.LFWPeople, "lfw-py/people.txt"),
        (datasets.LFWPairs, "lfw-py/pairs.txt"),
    ],
)
def test_what_cannot_be_downloaded_offers_no_download(kind: Any, file: str, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError) as caught:
        kind(tmp_path)
    assert f"  {tmp_path / file}\n" in str(caught.value) and "download=True" not in str(caught.value)
    with pytest.raises(ValueError, match=r"cannot be downloaded|no longer available"):
        kind(tmp_path, download=True)


@pytest.mark.parametrize(
    ("kind", "options", "said"),
    [
        (datasets.Food101, {"split": "val"}, "'val' for argument split. Valid values are {'train', 'test'}."),
        (datasets.VOCDetection, {"image_set": "test"}, "'test' for argument image_set."),
        (datasets.VOCDetection, {"year": "2006"}, "'2006' for argument year."),
        (datasets.OxfordIIITPet, {"target_types": ["box"]}, "'box' for argument target_types."),
        (datasets.Caltech101, {"target_type": "box"}, "'box' for argument target_type."),
        (datasets.QMNIST, {"what": "all"}, "'all' for argument what."),
        (datasets.DTD, {"partition": 11}, "Parameter 'partition' should be an integer"),
        (datasets.ImageNet, {"split": "test"}, "'test' for argument split."),
        (datasets.LFWPeople, {"image_set": "raw"}, "'raw' for argument image_set."),
        (datasets.MovingMNIST, {"split_ratio": 20}, "`split_ratio` should be `1 <= split_ratio <= 19`, but got 20"),
    ],
)
def test_unknown_arguments_are_refused(kind: Any, options: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError) as caught:
        kind(tmp_path, **options)
    assert said in str(caught.value)


@pytest.fixture
def coco(tmp_path: Path) -> Path:
    """Write two pictures with three annotations."""
    for i in (7, 3):
        picture(tmp_path / f"{i}.png", i, mode="L")
    boxes = [(1, 7, 18, 30.0), (2, 3, 18, 5.0), (5, 7, 44, 8.0)]
    notes = [
        {"id": i, "image_id": image, "category_id": kind, "area": area, "iscrowd": 0, "caption": f"caption {i}"}
        for i, image, kind, area in boxes
    ]
    kinds = [
        {"id": 18, "name": "dog", "supercategory": "animal"},
        {"id": 44, "name": "cup", "supercategory": "kitchen"},
    ]
    pictures = [{"id": i, "file_name": f"{i}.png"} for i in (7, 3)]
    (tmp_path / "notes.json").write_text(json.dumps({"images": pictures, "annotations": notes, "categories": kinds}))
    return tmp_path


def test_coco_gives_the_annotations_of_each_picture(coco: Path) -> None:
    data = datasets.CocoDetection(str(coco), str(coco / "notes.json"), transforms=lambda image, target: (image, target))
    assert (data.ids, len(data)) == ([3, 7], 2)
    image, target = data[1]
    assert (image.mode, shade(image), [box["id"] for box in target]) == ("RGB", 7, [1, 5])
    assert [box["area"] for box in data[0][1]] == [5.0]
    with pytest.raises(ValueError, match="Index must be of type integer, got <class 'str'> instead"):
        data["1"]  # type: ignore[index]  # what is tested
    captions = datasets.CocoCaptions(coco, coco / "notes.json", transform=transforms.ToTensor(), target_transform=len)
    assert captions[1][0].shape == (3, 3, 4) and captions[1][1] == 2
    captions.target_transform = None
    assert captions[1][1] == ["caption 1", "caption 5"]


def test_coco_is_asked_as_pycocotools_is(coco: Path) -> None:
    known = datasets.coco.Annotations(coco / "notes.json")
    assert known.getCatIds(catNms=["dog"]) == [18] and known.getCatIds(supNms="kitchen") == [44]
    assert sorted(known.getImgIds(catIds=[18])) == [3, 7] and known.getImgIds(catIds=[18, 44]) == [7]
    assert known.getAnnIds(imgIds=7, catIds=[18]) == [1] and known.getAnnIds() == [1, 2, 5]
    assert known.getAnnIds(areaRng=(6, 40), iscrowd=False) == [1, 5] and known.getAnnIds(iscrowd=True) == []
    assert known.loadCats(44)[0]["name"] == "cup" and known.loadImgs([3])[0]["file_name"] == "3.png"
    assert [entry["id"] for entry in known.loadAnns([5, 1])] == [5, 1]


def test_imagenet_is_read_from_unpacked_folders(tmp_path: Path) -> None:
    for i, wnid in enumerate(["n02", "n01", "n02"]):
        picture(tmp_path / "val" / wnid / f"{i}.JPEG", i)
    names = {"n01": ("tench", "Tinca tinca"), "n02": ("goldfish",)}
    torch.save((names, ["n02", "n01", "n02"]), tmp_path / "meta.bin")
    data = datasets.ImageNet(tmp_path, "val", transform=transforms.ToTensor())
    assert (data.wnids, data.classes) == (["n01", "n02"], [("tench", "Tinca tinca"), ("goldfish",)])
    assert data.class_to_idx == {"tench": 0, "Tinca tinca": 0, "goldfish": 1} and data.wnid_to_idx["n02"] == 1
    assert (data.targets, data[0][1], str(data.root)) == ([0, 1, 1], 0, str(tmp_path))
    assert "    Split: val\n" in repr(data)
    with pytest.raises(RuntimeError, match=r"ILSVRC2012_img_train\.tar is not present in the root directory") as caught:
        datasets.ImageNet(tmp_path)
    assert f"  {tmp_path / 'ILSVRC2012_img_train.tar'}\n" in str(caught.value)


def test_imagenet_is_unpacked_from_its_archives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scipy_io = pytest.importorskip("scipy.io")
    there, here = tmp_path / "there", tmp_path / "here"
    here.mkdir()
    data = there / "ILSVRC2012_devkit_t12" / "data"
    text(data / "ILSVRC2012_validation_ground_truth.txt", "2", "1")
    rows = [(1, "n01", "tench, Tinca tinca", "", 0), (2, "n02", "goldfish", "", 0), (3, "n03", "fish", "", 2)]
    kinds = [(name, object) for name in ("ILSVRC2012_ID", "WNID", "words", "gloss", "num_children")]
    scipy_io.savemat(data / "meta.mat", {"synsets": np.array(rows, kinds)})
    devkit = shutil.make_archive(str(here / "ILSVRC2012_devkit_t12"), "gztar", there)
    for i in range(2):
        picture(there / "val" / f"{i}.JPEG", i)
        picture(there / f"n0{i + 1}" / "a.JPEG", i)
        (there / "train").mkdir(exist_ok=True)
        shutil.make_archive(str(there / "train" / f"n0{i + 1}"), "tar", there / f"n0{i + 1}")
    known = {"devkit": (Path(devkit).name, utils.calculate_md5(devkit))}
    for part in ("train", "val"):
        archive = shutil.make_archive(str(here / f"ILSVRC2012_img_{part}"), "tar", there / part)
        known[part] = (Path(archive).name, utils.calculate_md5(archive))
    monkeypatch.setattr(imagenet, "ARCHIVE_META", known)
    assert [(shade(image), label) for image, label in datasets.ImageNet(here)] == [(0, 0), (1, 1)]
    assert [(shade(image), label) for image, label in datasets.ImageNet(here, "val")] == [(1, 0), (0, 1)]
    assert datasets.ImageNet(here).classes[0] == ("tench", "Tinca tinca")


def test_voc_is_downloaded_and_gives_masks_and_boxes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = tmp_path / "there" / "VOCdevkit" / "VOC2007"
    for kind in ("Main", "Segmentation"):
        text(base / "ImageSets" / kind / "train.txt", "000005", "000007")
    for i in (5, 7):
        picture(base / "JPEGImages" / f"00000{i}.jpg", i)
        picture(base / "SegmentationClass" / f"00000{i}.png", i, mode="P")
        objects = "<object><name>dog</name><part><name>head</name></part><part><name>foot</name></part></object>" * (
            i - 4
        )
        text(base / "Annotations" / f"00000{i}.xml", f"<annotation><filename>{i}.jpg</filename>{objects}</annotation>")
    text(base / "Annotations" / "000007.xml", "<annotation><size><width> 4 </width></size></annotation>")
    archive = shutil.make_archive(str(tmp_path / "voc"), "tar", tmp_path / "there")
    source = {**voc.DATASET_YEAR_DICT["2007"], "url": Path(archive).as_uri(), "md5": utils.calculate_md5(archive)}
    monkeypatch.setitem(voc.DATASET_YEAR_DICT, "2007", source)
    data = datasets.VOCDetection(str(tmp_path / "here"), "2007", download=True)
    dog = {"name": "dog", "part": [{"name": "head"}, {"name": "foot"}]}
    assert data[0][1] == {"annotation": {"filename": "5.jpg", "object": [dog]}} and shade(data[0][0]) == 5
    assert data[1][1] == {"annotation": {"size": {"width": "4"}, "object": []}}
    assert (data.annotations[0], len(data)) == (f"{tmp_path}/here/VOCdevkit/VOC2007/Annotations/000005.xml", 2)
    masks = datasets.VOCSegmentation(tmp_path / "here", "2007", transforms=lambda image, mask: (image, mask.mode))
    assert masks[1][1] == "P" and masks.masks[1].endswith("000007.png")
    with pytest.raises(RuntimeError, match=r"ImageSets/Main/test\.txt"):
        datasets.VOCDetection(tmp_path / "here", "2007", "test")


def test_pets_have_three_targets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = tmp_path / "there"
    rows = ["great_dane_12 2 2 1", "Abyssinian_100 1 1 1", "great_dane_1 2 2 1"]
    text(there / "annotations" / "trainval.txt", *rows)
    for i, row in enumerate(rows):
        picture(there / "images" / f"{row.split()[0]}.jpg", i)
        picture(there / "annotations" / "trimaps" / f"{row.split()[0]}.png", i + 1, mode="L")
    archives = [shutil.make_archive(str(tmp_path / k), "gztar", there, k) for k in ("images", "annotations")]
    known = [(Path(archive).as_uri(), utils.calculate_md5(archive)) for archive in archives]
    monkeypatch.setattr(datasets.OxfordIIITPet, "_RESOURCES", known)
    data = datasets.OxfordIIITPet(tmp_path, download=True)
    assert data.classes == ["Abyssinian", "Great Dane"] and data.class_to_idx["Great Dane"] == 1
    assert data.bin_class_to_idx == {"Cat": 0, "Dog": 1}
    assert [(shade(image), label) for image, label in data] == [(0, 1), (1, 0), (2, 1)]
    kinds = ["binary-category", "segmentation", "category"]
    image, (species, mask, breed) = datasets.OxfordIIITPet(tmp_path, target_types=kinds)[2]
    assert (image.mode, species, shade(mask), breed) == ("RGB", 1, 3, 1)
    assert datasets.OxfordIIITPet(tmp_path, target_types=[])[0][1] is None


def test_flowers_are_in_three_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scipy_io = pytest.importorskip("scipy.io")
    there = tmp_path / "there"
    for i in range(1, 5):
        picture(there / "jpg" / f"image_0000{i}.jpg", i)
    archive = shutil.make_archive(str(there / "102flowers"), "gztar", there, "jpg")
    shutil.move(archive, there / "102flowers.tgz")
    scipy_io.savemat(there / "imagelabels.mat", {"labels": np.array([[77, 1, 3, 102]], np.uint8)})
    scipy_io.savemat(there / "setid.mat", {"trnid": [[4, 1]], "valid": [[2]], "tstid": [[3]]})
    known = {
        key: (name, utils.calculate_md5(there / name)) for key, (name, _) in datasets.Flowers102._file_dict.items()
    }
    monkeypatch.setattr(datasets.Flowers102, "_download_url_prefix", there.as_uri() + "/")
    monkeypatch.setattr(datasets.Flowers102, "_file_dict", known)
    data = datasets.Flowers102(tmp_path / "here", download=True)
    assert [(shade(image), label) for image, label in data] == [(4, 101), (1, 76)]
    assert [label for _, label in datasets.Flowers102(tmp_path / "here", "val")] == [0]
    assert (len(data.classes), data.classes[76], data._labels) == (102, "passion flower", [101, 76])
    assert repr(data).splitlines()[-1] == "    split=train"


def test_dishes_are_listed_in_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = tmp_path / "there" / "food-101"
    listed = {"waffles": ["waffles/1", "waffles/2"], "pho": ["pho/3"]}
    text(base / "meta" / "test.json", json.dumps(listed))
    for i, path in enumerate(["waffles/1", "waffles/2", "pho/3"]):
        picture(base / "images" / f"{path}.jpg", i)
    served(monkeypatch, datasets.Food101, shutil.make_archive(str(tmp_path / "food-101"), "gztar", tmp_path / "there"))
    data = datasets.Food101(tmp_path / "here", "test", download=True, transform=shade)
    assert (list(data), data.classes, data.class_to_idx["waffles"]) == ([(0, 1), (1, 1), (2, 0)], ["pho", "waffles"], 1)
    assert list(datasets.Food101(tmp_path / "here", "test", loader=lambda path: path.name))[2] == ("3.jpg", 0)


def test_cars_are_read_from_matlabs_files(tmp_path: Path) -> None:
    scipy_io = pytest.importorskip("scipy.io")
    base = tmp_path / "stanford_cars"
    rows = [(2, "1.jpg"), (1, "2.jpg")]
    for i, (_, name) in enumerate(rows):
        picture(base / "cars_train" / name, i)
    (base / "devkit").mkdir()
    notes = np.array(rows, [("class", object), ("fname", object)])
    scipy_io.savemat(base / "devkit" / "cars_train_annos.mat", {"annotations": notes})
    scipy_io.savemat(base / "devkit" / "cars_meta.mat", {"class_names": np.array(["Audi", "BMW"], object)})
    data = datasets.StanfordCars(str(tmp_path))
    assert [(shade(image), label) for image, label in data] == [(0, 1), (1, 0)]
    assert (data.classes, data.class_to_idx["BMW"]) == (["Audi", "BMW"], 1)
    assert data._samples[0] == (str(base / "cars_train" / "1.jpg"), 1)


def test_caltech_has_classes_and_outlines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scipy_io = pytest.importorskip("scipy.io")
    there = tmp_path / "there"
    for i, name in enumerate(["BACKGROUND_Google", "Faces", "ant", "ant"]):
        picture(there / "101_ObjectCategories" / name / f"image_000{max(i - 1, 1)}.jpg", i, mode="L")
    (there / "Annotations" / "Faces_2").mkdir(parents=True)
    scipy_io.savemat(there / "Annotations" / "Faces_2" / "annotation_0001.mat", {"obj_contour": np.eye(2)})
    packed = there / "caltech-101"
    shutil.make_archive(str(packed / "101_ObjectCategories"), "gztar", there, "101_ObjectCategories")
    shutil.make_archive(str(packed / "Annotations"), "tar", there, "Annotations")
    archive = shutil.make_archive(str(tmp_path / "caltech-101"), "zip", there, "caltech-101")
    served(monkeypatch, datasets.Caltech101, archive)
    data = datasets.Caltech101(tmp_path / "here", download=True)
    assert [(shade(image), label) for image, label in data] == [(1, 0), (2, 1), (3, 1)]
    assert (data.categories, data.y, data.index) == (["Faces", "ant"], [0, 1, 1], [1, 1, 2])
    assert "Target type: ['category']" in repr(data)
    label, outline = datasets.Caltech101(tmp_path / "here", ["category", "annotation"])[0][1]
    assert label == 0 and (outline == np.eye(2)).all()
    picture(tmp_path / "caltech256" / "256_ObjectCategories" / "001.ak47" / "001_0001.jpg", 9)
    more = datasets.Caltech256(tmp_path)
    assert (shade(more[0][0]), more[0][1], len(more)) == (9, 0, 1)


def test_usps_is_read_from_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.linspace(-1, 1, 512).reshape(2, 256)
    rows = [" ".join([str(10 - i), *(f"{j}:{x:.6f}" for j, x in enumerate(row, 1))]) for i, row in enumerate(values)]
    path = tmp_path / "there.bz2"
    path.write_bytes(bz2.compress("\n".join(rows).encode()))
    known = {"test": (path.as_uri(), "usps.t.bz2", utils.calculate_md5(path))}
    monkeypatch.setattr(datasets.USPS, "split_list", known)
    data = datasets.USPS(tmp_path, train=False, download=True)
    assert (data.data.shape, data.data.dtype, data.targets) == ((2, 16, 16), np.uint8, [9, 8])
    assert (data.data[0, 0, 0], data.data[1, -1, -1], data[1][0].mode, data[1][1]) == (0, 255, "L", 8)


def idx_of_ints(rows: np.ndarray[Any, Any]) -> bytes:
    """Return an IDX file of 32-bit numbers."""
    return struct.pack(">HBB2I", 0, 12, 2, *rows.shape) + rows.astype(">i4").tobytes()


def test_qmnist_knows_more_of_each_digit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = tmp_path / "there"
    pictures = np.random.default_rng(0).integers(0, 256, (3, 28, 28))
    labels = np.arange(24).reshape(3, 8) * 1000
    files.idx(there / "qmnist-train-images-idx3-ubyte.gz", pictures)
    (there / "qmnist-train-labels-idx2-int.xz").write_bytes(lzma.compress(idx_of_ints(labels)))
    names = ["qmnist-train-images-idx3-ubyte.gz", "qmnist-train-labels-idx2-int.xz"]
    known = {"train": tuple((name, utils.calculate_md5(there / name)) for name in names)}
    monkeypatch.setattr(datasets.QMNIST, "mirrors", (there.as_uri() + "/",))
    monkeypatch.setattr(datasets.QMNIST, "resources", known)
    data = datasets.QMNIST(tmp_path / "here", download=True)
    assert (np.asarray(data[2][0]) == pictures[2]).all()
    assert (data[2][1], data.targets.shape, data.classes[1]) == (16000, (3, 8), "1 - one")
    assert "    Split: train" in repr(data) and Path(data.images_file).exists() and Path(data.labels_file).exists()
    target = datasets.QMNIST(tmp_path / "here", compat=False)[1][1]
    assert target.tolist() == labels[1].tolist() and target.dtype == torch.int64


def test_mnists_own_digits_are_the_first_of_qmnist(tmp_path: Path) -> None:
    raw = tmp_path / "QMNIST" / "raw"
    files.idx(raw / "qmnist-test-images-idx3-ubyte", np.zeros((10002, 1, 1)))
    (raw / "qmnist-test-labels-idx2-int").write_bytes(idx_of_ints(np.arange(10002)[:, None]))
    assert [len(datasets.QMNIST(tmp_path, what)) for what in ("test", "test10k", "test50k")] == [10002, 10000, 2]
    assert datasets.QMNIST(tmp_path, "test50k")[0][1] == 10000


def test_films_are_split_by_frames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frames = np.random.default_rng(0).integers(0, 256, (20, 3, 4, 4), np.uint8)
    np.save(tmp_path / "mnist_test_seq.npy", frames)
    served(monkeypatch, datasets.MovingMNIST, tmp_path / "mnist_test_seq.npy")
    data = datasets.MovingMNIST(tmp_path / "here", download=True)
    assert (len(data), data[1].shape, data[1].dtype) == (3, (20, 1, 4, 4), torch.uint8)
    assert (data[1].numpy()[:, 0] == frames[:, 1]).all()
    rest = datasets.MovingMNIST(tmp_path / "here", "test", split_ratio=15, transform=lambda film: film + 1)
    assert (rest[2].numpy()[:, 0] == frames[15:, 2] + np.uint8(1)).all()


def test_characters_are_classes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = tmp_path / "there"
    for i, name in enumerate(
        ["Greek/character01/0394_01", "Greek/character02/0395_01", "Balinese/character01/0108_02"]
    ):
        picture(there / "images_background" / f"{name}.png", i)
    archive = shutil.make_archive(str(tmp_path / "images_background"), "zip", there)
    monkeypatch.setattr(datasets.Omniglot, "download_url_prefix", tmp_path.as_uri())
    monkeypatch.setattr(datasets.Omniglot, "zips_md5", {"images_background": utils.calculate_md5(archive)})
    data = datasets.Omniglot(tmp_path, download=True)
    assert [(shade(image), label, image.mode) for image, label in data] == [(2, 0, "L"), (0, 1, "L"), (1, 2, "L")]
    assert data._alphabets == ["Balinese", "Greek"] and data._characters[1] == "Greek/character01"


def test_textures_are_in_ten_partitions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = tmp_path / "there" / "dtd"
    text(base / "labels" / "val2.txt", "woven/a.jpg", "banded/b.jpg")
    picture(base / "images" / "woven" / "a.jpg", 1)
    picture(base / "images" / "banded" / "b.jpg", 2)
    served(monkeypatch, datasets.DTD, shutil.make_archive(str(tmp_path / "dtd"), "gztar", tmp_path / "there"))
    data = datasets.DTD(tmp_path / "here", "val", 2, download=True)
    assert [(shade(image), label) for image, label in data] == [(1, 1), (2, 0)]
    assert data.classes == ["banded", "woven"] and repr(data).endswith("    split=val, partition=2")


def test_signs_are_in_folders_or_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = tmp_path / "there"
    for i, name in enumerate(["Training/00000/a", "Training/00001/b", "Final_Test/Images/00000"]):
        picture(there / "GTSRB" / f"{name}.ppm", i)
    text(there / "GT-final_test.csv", "Filename;Width;ClassId", "00000.ppm;4;16")
    parts = {"train": ["GTSRB/Training"], "test": ["GTSRB/Final_Test", "GT-final_test.csv"]}
    known: dict[str, list[tuple[str, str]]] = {part: [] for part in parts}
    for part, names in parts.items():
        for i, name in enumerate(names):
            archive = shutil.make_archive(str(tmp_path / f"{part}{i}"), "zip", there, name)
            known[part].append((Path(archive).name, utils.calculate_md5(archive)))
    monkeypatch.setattr(datasets.GTSRB, "_URL", tmp_path.as_uri() + "/")
    monkeypatch.setattr(datasets.GTSRB, "_RESOURCES", known)
    train = datasets.GTSRB(str(tmp_path), download=True)
    assert [(shade(image), label) for image, label in train] == [(0, 0), (1, 1)]
    assert [(shade(image), label) for image, label in datasets.GTSRB(tmp_path, "test", download=True)] == [(2, 16)]
    assert train._samples[1] == (str(tmp_path / "gtsrb" / "GTSRB" / "Training" / "00001" / "b.ppm"), 1)


@pytest.mark.parametrize(
    ("kind", "folder", "options"),
    [(datasets.EuroSAT, "2750", {}), (datasets.Country211, "country211/test", {"split": "test"})],
)
def test_archives_of_folders_are_unpacked(
    kind: Any, folder: str, options: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for i, name in enumerate(["Forest", "River"]):
        picture(tmp_path / "there" / folder / name / f"{name}_1.jpg", i)
    served(monkeypatch, kind, shutil.make_archive(str(tmp_path / "packed"), "gztar", tmp_path / "there"))
    data = kind(tmp_path / "here", download=True, **options)
    assert [(shade(image), label) for image, label in data] == [(0, 0), (1, 1)]
    assert (data.classes, data.targets, str(data.root)) == (["Forest", "River"], [0, 1], str(tmp_path / "here"))


def test_faces_are_listed_alone_and_in_pairs(tmp_path: Path) -> None:
    base = tmp_path / "lfw-py"
    for i, (name, no) in enumerate([("Ann_A", 1), ("Ann_A", 2), ("Bob", 1)]):
        picture(base / "lfw_funneled" / name / f"{name}_000{no}.jpg", i)
    text(base / "lfw-names.txt", "Ann_A\t2", "Bob\t1")
    text(base / "people.txt", "2", "1", "Bob\t1", "1", "Ann_A\t2")
    text(base / "peopleDevTrain.txt", "1", "Ann_A\t2")
    text(base / "pairs.txt", "1\t1", "Ann_A\t1\t2", "Ann_A\t2\tBob\t1")
    data = datasets.LFWPeople(tmp_path)
    assert [(shade(image), label) for image, label in data] == [(2, 1), (0, 0), (1, 0)]
    assert len(datasets.LFWPeople(tmp_path, "train")) == 2
    shown = repr(data).splitlines()[3:]
    assert shown == ["    Alignment: funneled", "    Split: 10fold", "    Classes (identities): 2"]
    pairs = datasets.LFWPairs(str(tmp_path), transform=shade)
    assert list(pairs) == [(0, 1, 1), (1, 2, 0)]
    assert pairs.pair_names == [("Ann_A", "Ann_A"), ("Ann_A", "Bob")]
