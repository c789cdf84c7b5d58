"""DenseNet. Source: Huang et al. 2016, https://arxiv.org/abs/1608.06993."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from funcgrad import nn
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn import functional as F
from funcgrad.vision.models.initial import fill
from funcgrad.vision.models.weights import model, weights_of

DenseNet121_Weights, DenseNet161_Weights = (
    weights_of("DenseNet121"),
    weights_of("DenseNet161"),
)
DenseNet169_Weights, DenseNet201_Weights = (
    weights_of("DenseNet169"),
    weights_of("DenseNet201"),
)


class _DenseLayer(nn.Module):
    """Makes `growth_rate` new channels of all that came before."""

    def __init__(
        self, inputs: int, growth_rate: int, bn_size: int, drop_rate: float, memory_efficient: bool = False
    ) -> None:
        super().__init__()
        self.norm1 = nn.BatchNorm2d(inputs)
        self.relu1 = nn.ReLU(inplace=True)
        self.conv1 = nn.Conv2d(inputs, bn_size * growth_rate, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(bn_size * growth_rate)
        self.relu2 = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(bn_size * growth_rate, growth_rate, 3, padding=1, bias=False)
        self.drop_rate = float(drop_rate)

    def forward(self, input: Tensor | Sequence[Tensor]) -> Tensor:
        """Return the new channels."""
        before = input if isinstance(input, Tensor) else fg.cat(list(input), 1)
        made = self.conv2(self.relu2(self.norm2(self.conv1(self.relu1(self.norm1(before))))))
        return F.dropout(made, self.drop_rate, self.training) if self.drop_rate > 0 else made


class _DenseBlock(nn.ModuleDict):
    """Layers, each of which reads the results of all before it."""

    def __init__(self, layers: int, inputs: int, bn_size: int, growth_rate: int, drop_rate: float) -> None:
        super().__init__()
        for i in range(layers):
            layer = _DenseLayer(inputs + i * growth_rate, growth_rate, bn_size, drop_rate)
            self.add_module(f"denselayer{i + 1}", layer)

    def forward(self, init_features: Tensor) -> Tensor:
        """Return all channels, joined."""
        features = [init_features]
        for layer in self.values():
            features.append(layer(features))
        return fg.cat(features, 1)


class _Transition(nn.Sequential):
    """Halves the channels and the size."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm2d(inputs)
        self.relu = nn.ReLU(inplace=True)
        self.conv = nn.Conv2d(inputs, outputs, 1, bias=False)
        self.pool = nn.AvgPool2d(2, stride=2)


class DenseNet(nn.Module):
    """Dense blocks with transitions between them. Shape: input (N, 3, H, W), result (N, num_classes)."""

    def __init__(
        self, growth_rate: int = 32, block_config: Sequence[int] = (6, 12, 24, 16), num_init_features: int = 64,
        bn_size: int = 4, drop_rate: float = 0, num_classes: int = 1000, memory_efficient: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self.features = nn.Sequential(
            OrderedDict(
                conv0=nn.Conv2d(3, num_init_features, 7, stride=2, padding=3, bias=False),
                norm0=nn.BatchNorm2d(num_init_features),
                relu0=nn.ReLU(inplace=True),
                pool0=nn.MaxPool2d(3, stride=2, padding=1),
            )
        )
        channels = num_init_features
        for i, layers in enumerate(block_config, 1):
            block = _DenseBlock(layers, channels, bn_size, growth_rate, drop_rate)
            self.features.add_module(f"denseblock{i}", block)
            channels += layers * growth_rate
            if i < len(block_config):
                self.features.add_module(f"transition{i}", _Transition(channels, channels // 2))
                channels //= 2
        self.features.add_module("norm5", nn.BatchNorm2d(channels))
        self.classifier = nn.Linear(channels, num_classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight)
            elif isinstance(module, nn.BatchNorm2d):
                fill(module, 1, 0)
            elif isinstance(module, nn.Linear):
                nn.init.zeros_(module.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Return the classes' scores."""
        pooled = F.adaptive_avg_pool2d(F.relu(self.features(x)), (1, 1))
        return self.classifier(fg.flatten(pooled, 1))


@model(DenseNet121_Weights)
def densenet121(**options: Any) -> DenseNet:
    """Return a DenseNet with 121 layers."""
    return DenseNet(32, (6, 12, 24, 16), 64, **options)


@model(DenseNet161_Weights)
def densenet161(**options: Any) -> DenseNet:
    """Return a DenseNet with 161 layers."""
    return DenseNet(48, (6, 12, 36, 24), 96, **options)


@model(DenseNet169_Weights)
def densenet169(**options: Any) -> DenseNet:
    """Return a DenseNet with 169 layers."""
    return DenseNet(32, (6, 12, 32, 32), 64, **options)


@model(DenseNet201_Weights)
def densenet201(**options: Any) -> DenseNet:
    """Return a DenseNet with 201 layers."""
    return DenseNet(32, (6, 12, 48, 32), 64, **options)
