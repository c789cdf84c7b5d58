"""VGG with 11, 13, 16 or 19 layers. Source: Simonyan and Zisserman 2014, https://arxiv.org/abs/1409.1556."""

from __future__ import annotations

from typing import Any

from funcgrad import nn
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.vision.models.initial import kaiming
from funcgrad.vision.models.weights import model, weights_of

_BLOCKS = {11: (1, 1, 2, 2, 2), 13: (2, 2, 2, 2, 2), 16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}
_CHANNELS = (64, 128, 256, 512, 512)

VGG11_Weights, VGG11_BN_Weights = weights_of("VGG11"), weights_of("VGG11_BN")
VGG13_Weights, VGG13_BN_Weights = weights_of("VGG13"), weights_of("VGG13_BN")
VGG16_Weights, VGG16_BN_Weights = weights_of("VGG16"), weights_of("VGG16_BN")
VGG19_Weights, VGG19_BN_Weights = weights_of("VGG19"), weights_of("VGG19_BN")


class VGG(nn.Module):
    """Blocks of 3 x 3 convolutions, then three linear layers. Shape: input (N, 3, H, W), result (N, num_classes)."""

    def __init__(
        self, features: nn.Module, num_classes: int = 1000, init_weights: bool = True, dropout: float = 0.5
    ) -> None:
        super().__init__()
        self.features = features
        self.avgpool = nn.AdaptiveAvgPool2d((7, 7))
        self.classifier = nn.Sequential(
            nn.Linear(512 * 7 * 7, 4096),
            nn.ReLU(True),
            nn.Dropout(dropout),
            nn.Linear(4096, 4096),
            nn.ReLU(True),
            nn.Dropout(dropout),
            nn.Linear(4096, num_classes),
        )
        if init_weights:
            kaiming(self, linear_std=0.01)

    def forward(self, x: Tensor) -> Tensor:
        """Return the classes' scores."""
        return self.classifier(fg.flatten(self.avgpool(self.features(x)), 1))


def make_layers(depth: int, batch_norm: bool = False) -> nn.Sequential:
    """Return the convolutions of a VGG of that depth."""
    layers: list[nn.Module] = []
    before = 3
    for count, channels in zip(_BLOCKS[depth], _CHANNELS, strict=True):
        for _ in range(count):
            layers.append(nn.Conv2d(before, channels, 3, padding=1))
            if batch_norm:
                layers.append(nn.BatchNorm2d(channels))
            layers.append(nn.ReLU(inplace=True))
            before = channels
        layers.append(nn.MaxPool2d(2, 2))
    return nn.Sequential(*layers)


@model(VGG11_Weights)
def vgg11(**options: Any) -> VGG:
    """Return a VGG with 11 layers."""
    return VGG(make_layers(11), **options)


@model(VGG11_BN_Weights)
def vgg11_bn(**options: Any) -> VGG:
    """Return a VGG with 11 layers and batch normalisation."""
    return VGG(make_layers(11, True), **options)


@model(VGG13_Weights)
def vgg13(**options: Any) -> VGG:
    """Return a VGG with 13 layers."""
    return VGG(make_layers(13), **options)


@model(VGG13_BN_Weights)
def vgg13_bn(**options: Any) -> VGG:
    """Return a VGG with 13 layers and batch normalisation."""
    return VGG(make_layers(13, True), **options)


@model(VGG16_Weights)
def vgg16(**options: Any) -> VGG:
    """Return a VGG with 16 layers."""
    return VGG(make_layers(16), **options)


@model(VGG16_BN_Weights)
def vgg16_bn(**options: Any) -> VGG:
    """Return a VGG with 16 layers and batch normalisation."""
    return VGG(make_layers(16, True), **options)


@model(VGG19_Weights)
def vgg19(**options: Any) -> VGG:
    """Return a VGG with 19 layers."""
    return VGG(make_layers(19), **options)


@model(VGG19_BN_Weights)
def vgg19_bn(**options: Any) -> VGG:
    """Return a VGG with 19 layers and batch normalisation."""
    return VGG(make_layers(19, True), **options)
