"""EfficientNet B0 to B7 and V2. Source: Tan and Le 2019, https://arxiv.org/abs/1905.11946, table 1."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from funcgrad import nn
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.vision.models.initial import fill
from funcgrad.vision.models.mobilenet import make_divisible
from funcgrad.vision.models.weights import model, weights_of
from funcgrad.vision.ops.misc import Conv2dNormActivation, SqueezeExcitation, StochasticDepth

# Width, depth, dropout
_SIZES = {
    "b0": (1.0, 1.0, 0.2), "b1": (1.0, 1.1, 0.2), "b2": (1.1, 1.2, 0.3), "b3": (1.2, 1.4, 0.3), "b4": (1.4, 1.8, 0.4),
    "b5": (1.6, 2.2, 0.4), "b6": (1.8, 2.6, 0.5), "b7": (2.0, 3.1, 0.5),
}  # fmt: skip


@dataclass
class _MBConvConfig:
    """One stage: how far blocks widen, their kernel, the first one's stride, channels, how many, and of which class."""

    expand_ratio: float
    kernel: int
    stride: int
    input_channels: int
    out_channels: int
    num_layers: int
    block: Callable[..., nn.Module]

    @staticmethod
    def adjust_channels(channels: int, width_mult: float) -> int:
        """Return about `width_mult` times as many channels, in eights."""
        return make_divisible(channels * width_mult)


class MBConvConfig(_MBConvConfig):
    """A stage of MBConv blocks, widened and deepened."""

    def __init__(
        self, expand_ratio: float, kernel: int, stride: int, input_channels: int, out_channels: int, num_layers: int,
        width_mult: float = 1.0, depth_mult: float = 1.0, block: Callable[..., nn.Module] | None = None,
    ) -> None:  # fmt: skip
        before, after = (self.adjust_channels(count, width_mult) for count in (input_channels, out_channels))
        count = self.adjust_depth(num_layers, depth_mult)
        super().__init__(expand_ratio, kernel, stride, before, after, count, block or MBConv)

    @staticmethod
    def adjust_depth(num_layers: int, depth_mult: float) -> int:
        """Return `depth_mult` times as many blocks, or one more."""
        return math.ceil(num_layers * depth_mult)


class FusedMBConvConfig(_MBConvConfig):
    """A stage of FusedMBConv blocks."""

    def __init__(
        self, expand_ratio: float, kernel: int, stride: int, input_channels: int, out_channels: int, num_layers: int,
        block: Callable[..., nn.Module] | None = None,
    ) -> None:  # fmt: skip
        sizes = (expand_ratio, kernel, stride, input_channels, out_channels, num_layers)
        super().__init__(*sizes, block or FusedMBConv)


class _Block(nn.Module):
    """Layers, dropped now and then where the input is added to their result."""

    def __init__(self, cnf: _MBConvConfig, stochastic_depth_prob: float, layers: list[nn.Module]) -> None:
        super().__init__()
        self.use_res_connect = cnf.stride == 1 and cnf.input_channels == cnf.out_channels
        self.block = nn.Sequential(*layers)
        self.stochastic_depth = StochasticDepth(stochastic_depth_prob, "row")
        self.out_channels = cnf.out_channels

    def forward(self, input: Tensor) -> Tensor:
        """Return the block's result."""
        result = self.block(input)
        return self.stochastic_depth(result) + input if self.use_res_connect else result


def _require_stride(stride: int) -> None:
    if not 1 <= stride <= 2:
        raise ValueError("illegal stride value")


class MBConv(_Block):
    """Widen, filter each channel by itself, weigh the channels, narrow. ValueError for a stride beyond 2."""

    def __init__(
        self, cnf: MBConvConfig, stochastic_depth_prob: float, norm_layer: Any, se_layer: Any = SqueezeExcitation
    ) -> None:
        _require_stride(cnf.stride)
        inputs, hidden = cnf.input_channels, cnf.adjust_channels(cnf.input_channels, cnf.expand_ratio)
        same = {"norm_layer": norm_layer, "activation_layer": nn.SiLU}
        layers: list[nn.Module] = []
        if hidden != inputs:
            layers.append(Conv2dNormActivation(inputs, hidden, 1, **same))
        layers += [
            Conv2dNormActivation(hidden, hidden, cnf.kernel, stride=cnf.stride, groups=hidden, **same),
            se_layer(hidden, max(1, inputs // 4), activation=partial(nn.SiLU, inplace=True)),
            Conv2dNormActivation(hidden, cnf.out_channels, 1, norm_layer=norm_layer, activation_layer=None),
        ]
        super().__init__(cnf, stochastic_depth_prob, layers)


class FusedMBConv(_Block):
    """Widen by filters over all channels, and narrow. ValueError for a stride beyond 2."""

    def __init__(self, cnf: FusedMBConvConfig, stochastic_depth_prob: float, norm_layer: Any) -> None:
        _require_stride(cnf.stride)
        inputs, hidden = cnf.input_channels, cnf.adjust_channels(cnf.input_channels, cnf.expand_ratio)
        same = {"norm_layer": norm_layer, "activation_layer": nn.SiLU}
        wide = hidden if hidden != inputs else cnf.out_channels
        layers: list[nn.Module] = [Conv2dNormActivation(inputs, wide, cnf.kernel, stride=cnf.stride, **same)]
        if hidden != inputs:
            layers.append(
                Conv2dNormActivation(hidden, cnf.out_channels, 1, norm_layer=norm_layer, activation_layer=None)
            )
        super().__init__(cnf, stochastic_depth_prob, layers)


class EfficientNet(nn.Module):
    """Stages of blocks. Shape: input (N, 3, H, W), result (N, num_classes).

    last_channel: how many channels the classifier sees; four times those of the last stage, if not said.
    ValueError, or TypeError, unless the stages are `MBConvConfig`s or `FusedMBConvConfig`s.
    """

    def __init__(
        self, inverted_residual_setting: Sequence[_MBConvConfig], dropout: float, stochastic_depth_prob: float = 0.2,
        num_classes: int = 1000, norm_layer: Any = None, last_channel: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        stages = inverted_residual_setting
        if not stages:
            raise ValueError("The inverted_residual_setting should not be empty")
        if not isinstance(stages, Sequence) or not all(isinstance(stage, _MBConvConfig) for stage in stages):
            raise TypeError("The inverted_residual_setting should be List[MBConvConfig]")
        norm = norm_layer or nn.BatchNorm2d
        same = {"norm_layer": norm, "activation_layer": nn.SiLU}
        layers: list[nn.Module] = [Conv2dNormActivation(3, stages[0].input_channels, 3, stride=2, **same)]
        total, number = sum(stage.num_layers for stage in stages), 0
        for config in stages:
            stage: list[nn.Module] = []
            for _ in range(config.num_layers):
                one = copy.copy(config)
                if stage:
                    one.input_channels, one.stride = one.out_channels, 1
                stage.append(one.block(one, stochastic_depth_prob * number / total, norm))
                number += 1
            layers.append(nn.Sequential(*stage))
        before = stages[-1].out_channels
        after = 4 * before if last_channel is None else last_channel
        layers.append(Conv2dNormActivation(before, after, 1, **same))
        self.features = nn.Sequential(*layers)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(nn.Dropout(dropout, inplace=True), nn.Linear(after, num_classes))
        self._fill()

    def _fill(self) -> None:
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out")
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
            elif isinstance(module, (nn.BatchNorm2d, nn.GroupNorm)):
                fill(module, 1, 0)
            elif isinstance(module, nn.Linear):
                bound = 1.0 / math.sqrt(module.out_features)
                nn.init.uniform_(module.weight, -bound, bound)
                nn.init.zeros_(module.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Return the classes' scores."""
        return self.classifier(fg.flatten(self.avgpool(self.features(x)), 1))


def _builder(size: str) -> Callable[..., EfficientNet]:
    width, depth, dropout = _SIZES[size]

    def build(**options: Any) -> EfficientNet:
        norm = {"b5": 0.01, "b6": 0.01, "b7": 0.01}.get(size)
        found = {"norm_layer": partial(nn.BatchNorm2d, eps=0.001, momentum=norm)} if norm else {}
        stage = partial(MBConvConfig, width_mult=width, depth_mult=depth)
        stages = (
            stage(1, 3, 1, 32, 16, 1), stage(6, 3, 2, 16, 24, 2), stage(6, 5, 2, 24, 40, 2), stage(6, 3, 2, 40, 80, 3),
            stage(6, 5, 1, 80, 112, 3), stage(6, 5, 2, 112, 192, 4), stage(6, 3, 1, 192, 320, 1),
        )  # fmt: skip
        return EfficientNet(stages, **{"dropout": dropout, **found, **options})

    build.__name__, build.__doc__ = f"efficientnet_{size}", f"Return an EfficientNet {size.upper()}."
    return model(weights_of(f"EfficientNet_{size.upper()}"))(build)


efficientnet_b0, efficientnet_b1, efficientnet_b2, efficientnet_b3 = map(_builder, ("b0", "b1", "b2", "b3"))
efficientnet_b4, efficientnet_b5, efficientnet_b6, efficientnet_b7 = map(_builder, ("b4", "b5", "b6", "b7"))

# Stages of FusedMBConv, of MBConv (widening, kernel, stride, inputs, results, blocks), and dropout.
# Source: Tan and Le 2021, https://arxiv.org/abs/2104.00298, table 4.
_SECOND = {
    "s": (
        ((1, 3, 1, 24, 24, 2), (4, 3, 2, 24, 48, 4), (4, 3, 2, 48, 64, 4)),
        ((4, 3, 2, 64, 128, 6), (6, 3, 1, 128, 160, 9), (6, 3, 2, 160, 256, 15)), 0.2,
    ),
    "m": (
        ((1, 3, 1, 24, 24, 3), (4, 3, 2, 24, 48, 5), (4, 3, 2, 48, 80, 5)),
        ((4, 3, 2, 80, 160, 7), (6, 3, 1, 160, 176, 14), (6, 3, 2, 176, 304, 18), (6, 3, 1, 304, 512, 5)), 0.3,
    ),
    "l": (
        ((1, 3, 1, 32, 32, 4), (4, 3, 2, 32, 64, 7), (4, 3, 2, 64, 96, 7)),
        ((4, 3, 2, 96, 192, 10), (6, 3, 1, 192, 224, 19), (6, 3, 2, 224, 384, 25), (6, 3, 1, 384, 640, 7)), 0.4,
    ),
}  # fmt: skip


def _second(size: str) -> Callable[..., EfficientNet]:
    fused, plain, dropout = _SECOND[size]

    def build(**options: Any) -> EfficientNet:
        stages = [*[FusedMBConvConfig(*stage) for stage in fused], *[MBConvConfig(*stage) for stage in plain]]
        found = {"dropout": dropout, "norm_layer": partial(nn.BatchNorm2d, eps=0.001), "last_channel": 1280}
        return EfficientNet(stages, **{**found, **options})

    build.__name__, build.__doc__ = f"efficientnet_v2_{size}", f"Return an EfficientNetV2 {size.upper()}."
    return model(weights_of(f"EfficientNet_V2_{size.upper()}"))(build)


efficientnet_v2_s, efficientnet_v2_m, efficientnet_v2_l = map(_second, _SECOND)
