"""Data sets are read from torchvision's folders, and say where files must lie that do not."""

from __future__ import annotations

import gzip
import importlib.util
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest

import funcgrad as torch
from funcgrad.utils.data import DataLoader
from funcgrad.vision import datasets, transforms
from funcgrad.vision.datasets import utils
from tests.vision import files

Image = pytest.importorskip("PIL.Image")


@pytest.mark.parametrize("ending", [".gz", ""])
def test_mnist_gives_pictures_and_numbers(tmp_path: Path, ending: str) -> None:
    pictures = files.mnist(tmp_path, ending=ending)
    data = datasets.MNIST(tmp_path, train=False, download=True)
    picture, label = data[3]
    assert (np.asarray(picture) == pictures[3]).all()
    assert (label, picture.mode, len(data), data.data.dtype, data.targets.dtype) == (
        3,
        "L",
        12,
        torch.uint8,
        torch.int64,
    )
    assert data.class_to_idx["7 - seven"] == 7
    assert repr(data).splitlines()[:2] == ["Dataset MNIST", "    Number of datapoints: 12"]


def test_mnists_tensors_can_be_changed_as_scripts_do(tmp_path: Path) -> None:
    files.mnist(tmp_path, name="FashionMNIST")
    data = datasets.FashionMNIST(str(tmp_path), transform=transforms.ToTensor(), target_transform=lambda y: y + 1)
    data.data, data.targets = data.data[:4], data.targets[:4] * 2
    assert len(data) == 4
    assert data[3][1] == 7
    assert data[3][0].shape == (1, 28, 28)


def test_a_loader_of_mnist_gives_batches(tmp_path: Path) -> None:
    pictures = files.mnist(tmp_path)
    data = datasets.MNIST(
        tmp_path, transform=transforms.Compose([transforms.ToTensor(), transforms.Normalize(0.5, 0.5)])
    )
    batches = list(DataLoader(data, batch_size=5, num_workers=2))
    assert [batch.shape for batch, _ in batches] == [(5, 1, 28, 28), (5, 1, 28, 28), (2, 1, 28, 28)]
    expected = (pictures[:5, None] / np.float32(255) - np.float32(0.5)) / np.float32(0.5)
    np.testing.assert_allclose(batches[0][0].numpy(), expected, atol=1e-6)


@pytest.mark.parametrize(
    ("make", "file"),
    [
        (lambda root: datasets.MNIST(root), "MNIST/raw/train-images-idx3-ubyte.gz"),
        (lambda root: datasets.KMNIST(root, train=False), "KMNIST/raw/t10k-images-idx3-ubyte.gz"),
        (lambda root: datasets.EMNIST(root, "letters"), "EMNIST/raw/emnist-letters-train-images-idx3-ubyte.gz"),
        (lambda root: datasets.CIFAR10(root), "cifar-10-batches-py/data_batch_3"),
        (lambda root: datasets.CIFAR100(root, train=False), "cifar-100-python/test"),
        (lambda root: datasets.SVHN(root, "extra"), "extra_32x32.mat"),
        (lambda root: datasets.STL10(root), "stl10_binary/train_y.bin"),
        (lambda root: datasets.CelebA(root), "celeba/list_attr_celeba.txt"),
    ],
)
def test_missing_files_are_named_with_their_place(make: object, file: str, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError) as caught:
        make(tmp_path)  # type: ignore[operator]
    assert f"  {tmp_path / file}\n" in str(caught.value)
    assert str(caught.value).endswith(", or give download=True.")


def test_mnist_is_downloaded_from_the_first_mirror_that_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pictures = files.mnist(tmp_path / "there")
    mirror = tmp_path / "there" / "MNIST" / "raw"
    names = [name for name, _ in datasets.MNIST.resources]
    known = [(name, utils.calculate_md5(mirror / name)) for name in names]
    monkeypatch.setattr(datasets.MNIST, "mirrors", [(tmp_path / "nowhere").as_uri() + "/", mirror.as_uri() + "/"])
    monkeypatch.setattr(datasets.MNIST, "resources", known)
    data = datasets.MNIST(tmp_path / "here", download=True)
    assert (data.data.numpy() == pictures).all()
    shutil.rmtree(mirror)
    assert len(datasets.MNIST(tmp_path / "here", train=False, download=True)) == 12
    with pytest.raises(RuntimeError, match=r"train-images-idx3-ubyte\.gz:\nTried file:.*nowhere/, got") as caught:
        datasets.MNIST(tmp_path / "elsewhere", download=True)
    assert f"put it into {tmp_path / 'elsewhere' / 'MNIST' / 'raw'}" in str(caught.value)


def test_what_has_another_sum_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files.mnist(tmp_path / "there")
    monkeypatch.setattr(datasets.MNIST, "mirrors", [(tmp_path / "there" / "MNIST" / "raw").as_uri() + "/"])
    with pytest.raises(RuntimeError, match=r"got:\nFile not found or corrupted\."):
        datasets.MNIST(tmp_path / "here", download=True)


def test_archives_are_downloaded_and_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = tmp_path / "there"
    rows = files.cifar10(there)
    archive = Path(shutil.make_archive(str(tmp_path / "cifar-10-python"), "gztar", there))
    monkeypatch.setattr(datasets.CIFAR10, "url", archive.as_uri())
    monkeypatch.setattr(datasets.CIFAR10, "tgz_md5", utils.calculate_md5(archive))
    data = datasets.CIFAR10(tmp_path / "here", download=True)
    assert (data.data[:4].transpose(0, 3, 1, 2).reshape(4, -1) == rows).all()
    packed = there / "gzip"
    for part in ("train", "test"):
        files.idx(packed / f"emnist-digits-{part}-images-idx3-ubyte.gz", np.zeros((3, 28, 28)))
        files.idx(packed / f"emnist-digits-{part}-labels-idx1-ubyte.gz", np.arange(3))
    archive = Path(shutil.make_archive(str(tmp_path / "gzip"), "zip", there, "gzip"))
    monkeypatch.setattr(datasets.EMNIST, "url", archive.as_uri())
    monkeypatch.setattr(datasets.EMNIST, "md5", None)
    assert datasets.EMNIST(tmp_path / "here", "digits", train=False, download=True).targets.tolist() == [0, 1, 2]


def test_a_compressed_file_is_unpacked_beside_itself(tmp_path: Path) -> None:
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"text"))
    assert utils.extract_archive(tmp_path / "a.txt.gz", remove_finished=True) == str(tmp_path / "a.txt")
    assert (tmp_path / "a.txt").read_bytes() == b"text" and not (tmp_path / "a.txt.gz").exists()
    with pytest.raises(RuntimeError, match=r"Unknown compression or archive type: '\.txt'"):
        utils.extract_archive(tmp_path / "a.txt")
    (tmp_path / "plain").write_bytes(b"")
    with pytest.raises(RuntimeError, match="has no suffixes"):
        utils.extract_archive(tmp_path / "plain")


def test_folders_and_files_are_listed_and_texts_verified(tmp_path: Path) -> None:
    (tmp_path / "part").mkdir()
    (tmp_path / "a.png").write_bytes(b"")
    assert utils.list_dir(tmp_path) == ["part"] and utils.list_files(tmp_path, ".png", True) == [
        str(tmp_path / "a.png")
    ]
    assert utils.verify_str_arg("train", "split", ("train", "test")) == "train"
    with pytest.raises(ValueError, match=r"'val' for argument split\. Valid values are \{'train', 'test'\}\."):
        utils.verify_str_arg("val", "split", ("train", "test"))
    with pytest.raises(ValueError, match=r"Expected type str for argument split, but got type <class 'int'>\."):
        utils.verify_str_arg(3, "split")


def test_what_google_drive_has_needs_gdown(tmp_path: Path) -> None:
    if importlib.util.find_spec("gdown") is not None:
        pytest.skip("gdown is installed")
    with pytest.raises(RuntimeError, match="'gdown' is required"):
        datasets.CelebA(tmp_path, download=True)


def test_a_broken_idx_file_is_refused(tmp_path: Path) -> None:
    files.mnist(tmp_path, ending="")
    path = tmp_path / "MNIST" / "raw" / "train-images-idx3-ubyte"
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(ValueError, match=r"its head says \(12, 28, 28\)"):
        datasets.MNIST(tmp_path)
    path.write_bytes(b"<html>")
    with pytest.raises(ValueError, match="no IDX file"):
        datasets.MNIST(tmp_path)


def test_cifar_gives_coloured_pictures(tmp_path: Path) -> None:
    rows = files.cifar10(tmp_path)
    data = datasets.CIFAR10(tmp_path, transform=transforms.ToTensor())
    picture, label = data[1]
    assert (picture.numpy() == rows[1].reshape(3, 32, 32) / np.float32(255)).all()
    assert (label, len(data), data.data.shape, data.classes[2]) == (1, 20, (20, 32, 32, 3), "class 2")
    assert len(datasets.CIFAR10(tmp_path, train=False)) == 4


def test_a_cifar_file_runs_nothing(tmp_path: Path) -> None:
    files.cifar10(tmp_path)
    (tmp_path / "cifar-10-batches-py" / "data_batch_1").write_bytes(pickle.dumps(Path("x")))
    with pytest.raises(pickle.UnpicklingError, match="pathlib"):
        datasets.CIFAR10(tmp_path)


def test_folders_are_classes(tmp_path: Path) -> None:
    for i, name in enumerate(["cats/a.png", "cats/b/c.JPG", "dogs/d.png", "dogs/readme.txt"]):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("L", (4, 4), i).save(path, format="PNG")
    data = datasets.ImageFolder(str(tmp_path), transform=transforms.ToTensor())
    assert (data.classes, data.targets, len(data.imgs)) == (["cats", "dogs"], [0, 0, 1], 3)
    picture, label = data[2]
    assert (picture.shape, label) == ((3, 4, 4), 1)
    assert picture[0, 0, 0].item() == pytest.approx(2 / 255)
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="empty"):
        datasets.ImageFolder(tmp_path)
    assert len(datasets.ImageFolder(tmp_path, allow_empty=True)) == 3
    every = datasets.DatasetFolder(str(tmp_path), loader=lambda path: path, extensions=(".txt",), allow_empty=True)
    assert [path.rpartition("/")[2] for path, _ in every] == ["readme.txt"]


def test_fake_data_is_the_same_each_time_and_draws_nothing_of_the_scripts() -> None:
    data = datasets.FakeData(3, (3, 8, 8), transform=transforms.ToTensor())
    before = torch.get_rng_state()
    assert torch.equal(data[1][0], data[1][0])
    assert not torch.equal(data[1][0], data[2][0])
    assert torch.equal(torch.get_rng_state(), before)
    assert len(list(data)) == 3
