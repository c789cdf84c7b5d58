"""SqueezeNet. Source: Iandola et al. 2016, https://arxiv.org/abs/1602.07360."""

from __future__ import annotations

from typing import Any

from funcgrad import nn
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.vision.models.weights import model, weights_of

SqueezeNet1_0_Weights = weights_of("SqueezeNet1_0")
SqueezeNet1_1_Weights = weights_of("SqueezeNet1_1")


class Fire(nn.Module):
    """Narrows by 1 x 1, then widens by 1 x 1 and 3 x 3 side by side."""

    def __init__(self, inplanes: int, squeeze_planes: int, expand1x1_planes: int, expand3x3_planes: int) -> None:
        super().__init__()
        self.inplanes = inplanes
        self.squeeze = nn.Conv2d(inplanes, squeeze_planes, 1)
        self.squeeze_activation = nn.ReLU(inplace=True)
        self.expand1x1 = nn.Conv2d(squeeze_planes, expand1x1_planes, 1)
        self.expand1x1_activation = nn.ReLU(inplace=True)
        self.expand3x3 = nn.Conv2d(squeeze_planes, expand3x3_planes, 3, padding=1)
        self.expand3x3_activation = nn.ReLU(inplace=True)

    def forward(self, x: Tensor) -> Tensor:
        """Return both widenings, joined."""
        x = self.squeeze_activation(self.squeeze(x))
        one, three = self.expand1x1_activation(self.expand1x1(x)), self.expand3x3_activation(self.expand3x3(x))
        return fg.cat([one, three], 1)


# What stands where: channels of a first convolution, "P" a pooling, (narrow, wide) a Fire
_PLANS: dict[str, tuple[Any, ...]] = {
    "1_0": ("P", (16, 64), (16, 64), (32, 128), "P", (32, 128), (48, 192), (48, 192), (64, 256), "P", (64, 256)),
    "1_1": ("P", (16, 64), (16, 64), "P", (32, 128), (32, 128), "P", (48, 192), (48, 192), (64, 256), (64, 256)),
}


class SqueezeNet(nn.Module):
    """Fires with poolings between them. Shape: input (N, 3, H, W), result (N, num_classes)."""

    def __init__(self, version: str = "1_0", num_classes: int = 1000, dropout: float = 0.5) -> None:
        super().__init__()
        if version not in _PLANS:
            raise ValueError(f"Unsupported SqueezeNet version {version}: 1_0 or 1_1 expected")
        self.num_classes = num_classes
        channels, size = (96, 7) if version == "1_0" else (64, 3)
        layers: list[nn.Module] = [nn.Conv2d(3, channels, size, stride=2), nn.ReLU(inplace=True)]
        for step in _PLANS[version]:
            if step == "P":
                layers.append(nn.MaxPool2d(3, stride=2, ceil_mode=True))
            else:
                narrow, wide = step
                layers.append(Fire(channels, narrow, wide, wide))
                channels = 2 * wide
        self.features = nn.Sequential(*layers)
        last = nn.Conv2d(512, num_classes, 1)
        self.classifier = nn.Sequential(nn.Dropout(dropout), last, nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d((1, 1)))
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                if module is last:
                    nn.init.normal_(module.weight, mean=0.0, std=0.01)
                else:
                    nn.init.kaiming_uniform_(module.weight)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Return the classes' scores."""
        return fg.flatten(self.classifier(self.features(x)), 1)


@model(SqueezeNet1_0_Weights)
def squeezenet1_0(**options: Any) -> SqueezeNet:
    """Return a SqueezeNet of the first version."""
    return SqueezeNet("1_0", **options)


@model(SqueezeNet1_1_Weights)
def squeezenet1_1(**options: Any) -> SqueezeNet:
    """Return a SqueezeNet of version 1.1, which computes less."""
    return SqueezeNet("1_1", **options)
