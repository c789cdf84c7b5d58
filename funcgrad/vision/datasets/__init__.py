"""torchvision.datasets: pictures from local files in torchvision's folders, downloaded where that is asked for."""

from __future__ import annotations

from funcgrad.vision.datasets.celeba import CelebA
from funcgrad.vision.datasets.cifar import CIFAR10, CIFAR100
from funcgrad.vision.datasets.fakedata import FakeData
from funcgrad.vision.datasets.folder import DatasetFolder, ImageFolder
from funcgrad.vision.datasets.mnist import EMNIST, KMNIST, MNIST, FashionMNIST
from funcgrad.vision.datasets.stl10 import STL10
from funcgrad.vision.datasets.svhn import SVHN
from funcgrad.vision.datasets.vision import VisionDataset

__all__ = [
    "CIFAR10",
    "CIFAR100",
    "EMNIST",
    "KMNIST",
    "MNIST",
    "STL10",
    "SVHN",
    "CelebA",
    "DatasetFolder",
    "FakeData",
    "FashionMNIST",
    "ImageFolder",
    "VisionDataset",
]
