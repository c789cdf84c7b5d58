"""Inception v3. Source: Szegedy et al. 2015, https://arxiv.org/abs/1512.00567, table 1."""

from __future__ import annotations

from typing import Any, NamedTuple

from funcgrad import nn
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn import functional as F
from funcgrad.vision.models.googlenet import BasicConv2d, renormalised
from funcgrad.vision.models.initial import fill
from funcgrad.vision.models.weights import model, weights_of

Inception_V3_Weights = weights_of("Inception_V3")


class InceptionOutputs(NamedTuple):
    """What an Inception with its auxiliary classifier gives while it trains."""

    logits: Tensor
    aux_logits: Tensor | None


class InceptionA(nn.Module):
    """1 x 1, 5 x 5, twice 3 x 3, and pooling, side by side."""

    def __init__(self, in_channels: int, pool_features: int) -> None:
        super().__init__()
        self.branch1x1 = BasicConv2d(in_channels, 64, kernel_size=1)
        self.branch5x5_1 = BasicConv2d(in_channels, 48, kernel_size=1)
        self.branch5x5_2 = BasicConv2d(48, 64, kernel_size=5, padding=2)
        self.branch3x3dbl_1 = BasicConv2d(in_channels, 64, kernel_size=1)
        self.branch3x3dbl_2 = BasicConv2d(64, 96, kernel_size=3, padding=1)
        self.branch3x3dbl_3 = BasicConv2d(96, 96, kernel_size=3, padding=1)
        self.branch_pool = BasicConv2d(in_channels, pool_features, kernel_size=1)

    def forward(self, x: Tensor) -> Tensor:
        """Return the ways' channels, joined."""
        five = self.branch5x5_2(self.branch5x5_1(x))
        three = self.branch3x3dbl_3(self.branch3x3dbl_2(self.branch3x3dbl_1(x)))
        pooled = self.branch_pool(F.avg_pool2d(x, 3, stride=1, padding=1))
        return fg.cat([self.branch1x1(x), five, three, pooled], 1)


class InceptionB(nn.Module):
    """Halves the size: 3 x 3, twice 3 x 3, and pooling."""

    def __init__(self, in_channels: int) -> None:
        super().__init__()
        self.branch3x3 = BasicConv2d(in_channels, 384, kernel_size=3, stride=2)
        self.branch3x3dbl_1 = BasicConv2d(in_channels, 64, kernel_size=1)
        self.branch3x3dbl_2 = BasicConv2d(64, 96, kernel_size=3, padding=1)
        self.branch3x3dbl_3 = BasicConv2d(96, 96, kernel_size=3, stride=2)

    def forward(self, x: Tensor) -> Tensor:
        """Return the ways' channels, joined."""
        twice = self.branch3x3dbl_3(self.branch3x3dbl_2(self.branch3x3dbl_1(x)))
        return fg.cat([self.branch3x3(x), twice, F.max_pool2d(x, 3, stride=2)], 1)


def _row(inputs: int, outputs: int) -> BasicConv2d:
    return BasicConv2d(inputs, outputs, kernel_size=(1, 7), padding=(0, 3))


def _column(inputs: int, outputs: int) -> BasicConv2d:
    return BasicConv2d(inputs, outputs, kernel_size=(7, 1), padding=(3, 0))


class InceptionC(nn.Module):
    """7 x 7 as rows and columns, once and twice."""

    def __init__(self, in_channels: int, channels_7x7: int) -> None:
        super().__init__()
        c7 = channels_7x7
        self.branch1x1 = BasicConv2d(in_channels, 192, kernel_size=1)
        self.branch7x7_1 = BasicConv2d(in_channels, c7, kernel_size=1)
        self.branch7x7_2 = _row(c7, c7)
        self.branch7x7_3 = _column(c7, 192)
        self.branch7x7dbl_1 = BasicConv2d(in_channels, c7, kernel_size=1)
        self.branch7x7dbl_2 = _column(c7, c7)
        self.branch7x7dbl_3 = _row(c7, c7)
        self.branch7x7dbl_4 = _column(c7, c7)
        self.branch7x7dbl_5 = _row(c7, 192)
        self.branch_pool = BasicConv2d(in_channels, 192, kernel_size=1)

    def forward(self, x: Tensor) -> Tensor:
        """Return the ways' channels, joined."""
        once = self.branch7x7_3(self.branch7x7_2(self.branch7x7_1(x)))
        twice = self.branch7x7dbl_3(self.branch7x7dbl_2(self.branch7x7dbl_1(x)))
        twice = self.branch7x7dbl_5(self.branch7x7dbl_4(twice))
        pooled = self.branch_pool(F.avg_pool2d(x, 3, stride=1, padding=1))
        return fg.cat([self.branch1x1(x), once, twice, pooled], 1)


class InceptionD(nn.Module):
    """Halves the size: 3 x 3, 7 x 7 and 3 x 3, and pooling."""

    def __init__(self, in_channels: int) -> None:
        super().__init__()
        self.branch3x3_1 = BasicConv2d(in_channels, 192, kernel_size=1)
        self.branch3x3_2 = BasicConv2d(192, 320, kernel_size=3, stride=2)
        self.branch7x7x3_1 = BasicConv2d(in_channels, 192, kernel_size=1)
        self.branch7x7x3_2 = _row(192, 192)
        self.branch7x7x3_3 = _column(192, 192)
        self.branch7x7x3_4 = BasicConv2d(192, 192, kernel_size=3, stride=2)

    def forward(self, x: Tensor) -> Tensor:
        """Return the ways' channels, joined."""
        three = self.branch3x3_2(self.branch3x3_1(x))
        seven = self.branch7x7x3_4(self.branch7x7x3_3(self.branch7x7x3_2(self.branch7x7x3_1(x))))
        return fg.cat([three, seven, F.max_pool2d(x, 3, stride=2)], 1)


class InceptionE(nn.Module):
    """3 x 3 as a row beside a column, once and after another 3 x 3."""

    def __init__(self, in_channels: int) -> None:
        super().__init__()
        self.branch1x1 = BasicConv2d(in_channels, 320, kernel_size=1)
        self.branch3x3_1 = BasicConv2d(in_channels, 384, kernel_size=1)
        self.branch3x3_2a = BasicConv2d(384, 384, kernel_size=(1, 3), padding=(0, 1))
        self.branch3x3_2b = BasicConv2d(384, 384, kernel_size=(3, 1), padding=(1, 0))
        self.branch3x3dbl_1 = BasicConv2d(in_channels, 448, kernel_size=1)
        self.branch3x3dbl_2 = BasicConv2d(448, 384, kernel_size=3, padding=1)
        self.branch3x3dbl_3a = BasicConv2d(384, 384, kernel_size=(1, 3), padding=(0, 1))
        self.branch3x3dbl_3b = BasicConv2d(384, 384, kernel_size=(3, 1), padding=(1, 0))
        self.branch_pool = BasicConv2d(in_channels, 192, kernel_size=1)

    def forward(self, x: Tensor) -> Tensor:
        """Return the ways' channels, joined."""
        once = self.branch3x3_1(x)
        twice = self.branch3x3dbl_2(self.branch3x3dbl_1(x))
        pooled = self.branch_pool(F.avg_pool2d(x, 3, stride=1, padding=1))
        threes = [self.branch3x3_2a(once), self.branch3x3_2b(once)]
        threes += [self.branch3x3dbl_3a(twice), self.branch3x3dbl_3b(twice)]
        return fg.cat([self.branch1x1(x), *threes, pooled], 1)


class InceptionAux(nn.Module):
    """A classifier before the end, which helps training."""

    def __init__(self, in_channels: int, num_classes: int) -> None:
        super().__init__()
        self.conv0 = BasicConv2d(in_channels, 128, kernel_size=1)
        self.conv1 = BasicConv2d(128, 768, kernel_size=5)
        self.conv1.stddev = 0.01
        self.fc = nn.Linear(768, num_classes)
        self.fc.stddev = 0.001

    def forward(self, x: Tensor) -> Tensor:
        """Return the classes' scores."""
        x = self.conv1(self.conv0(F.avg_pool2d(x, 5, stride=3)))
        return self.fc(fg.flatten(F.adaptive_avg_pool2d(x, (1, 1)), 1))


class Inception3(nn.Module):
    """Eleven inceptions. Shape: input (N, 3, 299, 299), result (N, num_classes); two while training with aux."""

    def __init__(
        self, num_classes: int = 1000, aux_logits: bool = True, transform_input: bool = False,
        inception_blocks: Any = None, init_weights: bool | None = True, dropout: float = 0.5,
    ) -> None:  # fmt: skip
        super().__init__()
        self.aux_logits, self.transform_input = aux_logits, transform_input
        self.Conv2d_1a_3x3 = BasicConv2d(3, 32, kernel_size=3, stride=2)
        self.Conv2d_2a_3x3 = BasicConv2d(32, 32, kernel_size=3)
        self.Conv2d_2b_3x3 = BasicConv2d(32, 64, kernel_size=3, padding=1)
        self.maxpool1 = nn.MaxPool2d(3, stride=2)
        self.Conv2d_3b_1x1 = BasicConv2d(64, 80, kernel_size=1)
        self.Conv2d_4a_3x3 = BasicConv2d(80, 192, kernel_size=3)
        self.maxpool2 = nn.MaxPool2d(3, stride=2)
        self.Mixed_5b = InceptionA(192, pool_features=32)
        self.Mixed_5c = InceptionA(256, pool_features=64)
        self.Mixed_5d = InceptionA(288, pool_features=64)
        self.Mixed_6a = InceptionB(288)
        self.Mixed_6b = InceptionC(768, channels_7x7=128)
        self.Mixed_6c = InceptionC(768, channels_7x7=160)
        self.Mixed_6d = InceptionC(768, channels_7x7=160)
        self.Mixed_6e = InceptionC(768, channels_7x7=192)
        self.AuxLogits = InceptionAux(768, num_classes) if aux_logits else None
        self.Mixed_7a = InceptionD(768)
        self.Mixed_7b = InceptionE(1280)
        self.Mixed_7c = InceptionE(2048)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.dropout = nn.Dropout(dropout)
        self.fc = nn.Linear(2048, num_classes)
        for module in self.modules() if init_weights else ():
            if isinstance(module, (nn.Conv2d, nn.Linear)):
                spread = float(getattr(module, "stddev", 0.1))
                nn.init.trunc_normal_(module.weight, mean=0.0, std=spread, a=-2, b=2)
            elif isinstance(module, nn.BatchNorm2d):
                fill(module, 1, 0)

    def forward(self, x: Tensor) -> Any:
        """Return the classes' scores, or `InceptionOutputs`."""
        x = self.Conv2d_1a_3x3(renormalised(x) if self.transform_input else x)
        x = self.maxpool1(self.Conv2d_2b_3x3(self.Conv2d_2a_3x3(x)))
        x = self.maxpool2(self.Conv2d_4a_3x3(self.Conv2d_3b_1x1(x)))
        x = self.Mixed_6a(self.Mixed_5d(self.Mixed_5c(self.Mixed_5b(x))))
        x = self.Mixed_6e(self.Mixed_6d(self.Mixed_6c(self.Mixed_6b(x))))
        aux = self.AuxLogits(x) if self.AuxLogits is not None and self.training else None
        x = self.avgpool(self.Mixed_7c(self.Mixed_7b(self.Mixed_7a(x))))
        scores = self.fc(fg.flatten(self.dropout(x), 1))
        return InceptionOutputs(scores, aux) if self.training and self.aux_logits else scores


@model(Inception_V3_Weights)
def inception_v3(**options: Any) -> Inception3:
    """Return an Inception v3."""
    return Inception3(**options)
