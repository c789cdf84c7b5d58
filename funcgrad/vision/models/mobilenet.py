"""MobileNet V2 and V3. Sources: https://arxiv.org/abs/1801.04381 and https://arxiv.org/abs/1905.02244."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from funcgrad import nn
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.vision.models.initial import kaiming
from funcgrad.vision.models.weights import model, weights_of
from funcgrad.vision.ops.misc import Conv2dNormActivation, SqueezeExcitation

MobileNet_V2_Weights = weights_of("MobileNet_V2")
MobileNet_V3_Large_Weights = weights_of("MobileNet_V3_Large")
MobileNet_V3_Small_Weights = weights_of("MobileNet_V3_Small")


def make_divisible(value: float, divisor: int = 8) -> int:
    """Return the multiple of the divisor that is nearest, and not below 90 % of the value."""
    rounded = max(divisor, int(value + divisor / 2) // divisor * divisor)
    return rounded + divisor if rounded < 0.9 * value else rounded


class InvertedResidual(nn.Module):
    """Widen by 1 x 1, filter each channel by itself, narrow by 1 x 1; the input is added where shapes allow."""

    def __init__(self, inp: int, oup: int, stride: int, expand_ratio: float, norm_layer: Any = None) -> None:
        super().__init__()
        self.stride = stride
        if stride not in (1, 2):
            raise ValueError(f"stride should be 1 or 2 instead of {stride}")
        norm = norm_layer or nn.BatchNorm2d
        hidden = round(inp * expand_ratio)
        self.use_res_connect = stride == 1 and inp == oup
        layers: list[nn.Module] = []
        if expand_ratio != 1:
            layers.append(Conv2dNormActivation(inp, hidden, 1, norm_layer=norm, activation_layer=nn.ReLU6))
        layers += [
            Conv2dNormActivation(
                hidden, hidden, stride=stride, groups=hidden, norm_layer=norm, activation_layer=nn.ReLU6
            ),
            nn.Conv2d(hidden, oup, 1, 1, 0, bias=False),
            norm(oup),
        ]
        self.conv = nn.Sequential(*layers)
        self.out_channels = oup

    def forward(self, x: Tensor) -> Tensor:
        """Return the block's result."""
        return x + self.conv(x) if self.use_res_connect else self.conv(x)


# widening, channels, blocks, stride of the first
_V2 = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))


class MobileNetV2(nn.Module):
    """Inverted residuals. Shape: input (N, 3, H, W), result (N, num_classes)."""

    def __init__(
        self, num_classes: int = 1000, width_mult: float = 1.0,
        inverted_residual_setting: Sequence[Sequence[int]] | None = None, round_nearest: int = 8, block: Any = None,
        norm_layer: Any = None, dropout: float = 0.2,
    ) -> None:  # fmt: skip
        super().__init__()
        made, norm = block or InvertedResidual, norm_layer or nn.BatchNorm2d
        channels = make_divisible(32 * width_mult, round_nearest)
        self.last_channel = make_divisible(1280 * max(1.0, width_mult), round_nearest)
        same = {"norm_layer": norm, "activation_layer": nn.ReLU6}
        features: list[nn.Module] = [Conv2dNormActivation(3, channels, stride=2, **same)]
        for widening, width, count, first in inverted_residual_setting or _V2:
            results = make_divisible(width * width_mult, round_nearest)
            for i in range(count):
                features.append(made(channels, results, first if i == 0 else 1, widening, norm_layer=norm))
                channels = results
        features.append(Conv2dNormActivation(channels, self.last_channel, 1, **same))
        self.features = nn.Sequential(*features)
        self.classifier = nn.Sequential(nn.Dropout(dropout), nn.Linear(self.last_channel, num_classes))
        kaiming(self, linear_std=0.01)

    def forward(self, x: Tensor) -> Tensor:
        """Return the classes' scores."""
        pooled = nn.functional.adaptive_avg_pool2d(self.features(x), (1, 1))
        return self.classifier(fg.flatten(pooled, 1))


class InvertedResidualConfig(NamedTuple):
    """One block of MobileNet V3."""

    inputs: int
    kernel: int
    hidden: int
    results: int
    squeezes: bool
    activation: str
    stride: int


class InvertedResidualV3(nn.Module):
    """As in V2, with squeeze-and-excitation and the activation of its configuration."""

    def __init__(self, cnf: InvertedResidualConfig, norm_layer: Any) -> None:
        super().__init__()
        self.use_res_connect = cnf.stride == 1 and cnf.inputs == cnf.results
        activation = nn.Hardswish if cnf.activation == "HS" else nn.ReLU
        same = {"norm_layer": norm_layer, "activation_layer": activation}
        layers: list[nn.Module] = []
        if cnf.hidden != cnf.inputs:
            layers.append(Conv2dNormActivation(cnf.inputs, cnf.hidden, 1, **same))
        layers.append(
            Conv2dNormActivation(cnf.hidden, cnf.hidden, cnf.kernel, stride=cnf.stride, groups=cnf.hidden, **same)
        )
        if cnf.squeezes:
            squeezed = make_divisible(cnf.hidden // 4)
            layers.append(SqueezeExcitation(cnf.hidden, squeezed, scale_activation=nn.Hardsigmoid))
        layers.append(Conv2dNormActivation(cnf.hidden, cnf.results, 1, norm_layer=norm_layer, activation_layer=None))
        self.block = nn.Sequential(*layers)
        self.out_channels = cnf.results

    def forward(self, input: Tensor) -> Tensor:
        """Return the block's result."""
        return self.block(input) + input if self.use_res_connect else self.block(input)


class MobileNetV3(nn.Module):
    """Inverted residuals with squeeze-and-excitation. Shape: input (N, 3, H, W), result (N, num_classes)."""

    def __init__(
        self, inverted_residual_setting: Sequence[InvertedResidualConfig], last_channel: int, num_classes: int = 1000,
        norm_layer: Any = None, dropout: float = 0.2,
    ) -> None:  # fmt: skip
        super().__init__()
        norm = norm_layer or partial(nn.BatchNorm2d, eps=0.001, momentum=0.01)
        same = {"norm_layer": norm, "activation_layer": nn.Hardswish}
        layers: list[nn.Module] = [Conv2dNormActivation(3, inverted_residual_setting[0].inputs, 3, stride=2, **same)]
        layers += [InvertedResidualV3(cnf, norm) for cnf in inverted_residual_setting]
        narrow = inverted_residual_setting[-1].results
        layers.append(Conv2dNormActivation(narrow, 6 * narrow, 1, **same))
        self.features = nn.Sequential(*layers)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(
            nn.Linear(6 * narrow, last_channel),
            nn.Hardswish(inplace=True),
            nn.Dropout(dropout, inplace=True),
            nn.Linear(last_channel, num_classes),
        )
        kaiming(self, linear_std=0.01)

    def forward(self, x: Tensor) -> Tensor:
        """Return the classes' scores."""
        return self.classifier(fg.flatten(self.avgpool(self.features(x)), 1))


_LARGE = (
    (16, 3, 16, 16, False, "RE", 1), (16, 3, 64, 24, False, "RE", 2), (24, 3, 72, 24, False, "RE", 1),
    (24, 5, 72, 40, True, "RE", 2), (40, 5, 120, 40, True, "RE", 1), (40, 5, 120, 40, True, "RE", 1),
    (40, 3, 240, 80, False, "HS", 2), (80, 3, 200, 80, False, "HS", 1), (80, 3, 184, 80, False, "HS", 1),
    (80, 3, 184, 80, False, "HS", 1), (80, 3, 480, 112, True, "HS", 1), (112, 3, 672, 112, True, "HS", 1),
    (112, 5, 672, 160, True, "HS", 2), (160, 5, 960, 160, True, "HS", 1), (160, 5, 960, 160, True, "HS", 1),
)  # fmt: skip
_SMALL = (
    (16, 3, 16, 16, True, "RE", 2), (16, 3, 72, 24, False, "RE", 2), (24, 3, 88, 24, False, "RE", 1),
    (24, 5, 96, 40, True, "HS", 2), (40, 5, 240, 40, True, "HS", 1), (40, 5, 240, 40, True, "HS", 1),
    (40, 5, 120, 48, True, "HS", 1), (48, 5, 144, 48, True, "HS", 1), (48, 5, 288, 96, True, "HS", 2),
    (96, 5, 576, 96, True, "HS", 1), (96, 5, 576, 96, True, "HS", 1),
)  # fmt: skip


@model(MobileNet_V2_Weights)
def mobilenet_v2(**options: Any) -> MobileNetV2:
    """Return a MobileNet V2."""
    return MobileNetV2(**options)


@model(MobileNet_V3_Large_Weights)
def mobilenet_v3_large(**options: Any) -> MobileNetV3:
    """Return a large MobileNet V3."""
    return MobileNetV3([InvertedResidualConfig(*block) for block in _LARGE], 1280, **options)


@model(MobileNet_V3_Small_Weights)
def mobilenet_v3_small(**options: Any) -> MobileNetV3:
    """Return a small MobileNet V3."""
    return MobileNetV3([InvertedResidualConfig(*block) for block in _SMALL], 1024, **options)
