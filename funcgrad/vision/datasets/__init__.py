"""torchvision.datasets: pictures from local files in torchvision's folders, downloaded where that is asked for."""

from __future__ import annotations

from funcgrad.vision.datasets.caltech import Caltech101, Caltech256
from funcgrad.vision.datasets.celeba import CelebA
from funcgrad.vision.datasets.cifar import CIFAR10, CIFAR100
from funcgrad.vision.datasets.coco import CocoCaptions, CocoDetection
from funcgrad.vision.datasets.digits import QMNIST, USPS, MovingMNIST
from funcgrad.vision.datasets.fakedata import FakeData
from funcgrad.vision.datasets.fine_grained import Flowers102, Food101, OxfordIIITPet, StanfordCars
from funcgrad.vision.datasets.folder import DatasetFolder, ImageFolder
from funcgrad.vision.datasets.imagenet import ImageNet
from funcgrad.vision.datasets.lfw import LFWPairs, LFWPeople
from funcgrad.vision.datasets.mnist import EMNIST, KMNIST, MNIST, FashionMNIST
from funcgrad.vision.datasets.omniglot import Omniglot
from funcgrad.vision.datasets.places import DTD, GTSRB, Country211, EuroSAT
from funcgrad.vision.datasets.stl10 import STL10
from funcgrad.vision.datasets.svhn import SVHN
from funcgrad.vision.datasets.vision import VisionDataset
from funcgrad.vision.datasets.voc import VOCDetection, VOCSegmentation

__all__ = [
    "CIFAR10",
    "CIFAR100",
    "DTD",
    "EMNIST",
    "GTSRB",
    "KMNIST",
    "MNIST",
    "QMNIST",
    "STL10",
    "SVHN",
    "USPS",
    "Caltech101",
    "Caltech256",
    "CelebA",
    "CocoCaptions",
    "CocoDetection",
    "Country211",
    "DatasetFolder",
    "EuroSAT",
    "FakeData",
    "FashionMNIST",
    "Flowers102",
    "Food101",
    "ImageFolder",
    "ImageNet",
    "LFWPairs",
    "LFWPeople",
    "MovingMNIST",
    "Omniglot",
    "OxfordIIITPet",
    "StanfordCars",
    "VOCDetection",
    "VOCSegmentation",
    "VisionDataset",
]
