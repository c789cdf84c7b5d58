"""EfficientNet B0 to B7. Source: Tan and Le 2019, https://arxiv.org/abs/1905.11946, table 1."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from funcgrad import nn
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.vision.models.initial import fill
from funcgrad.vision.models.mobilenet import make_divisible
from funcgrad.vision.models.weights import model, weights_of
from funcgrad.vision.ops.misc import Conv2dNormActivation, SqueezeExcitation, StochasticDepth

# widening, kernel, stride, inputs, results, blocks
_STAGES = (
    (1, 3, 1, 32, 16, 1), (6, 3, 2, 16, 24, 2), (6, 5, 2, 24, 40, 2), (6, 3, 2, 40, 80, 3), (6, 5, 1, 80, 112, 3),
    (6, 5, 2, 112, 192, 4), (6, 3, 1, 192, 320, 1),
)  # fmt: skip
# width, depth, dropout, size after resizing, and after cropping
_SIZES = {
    "b0": (1.0, 1.0, 0.2, 256, 224), "b1": (1.0, 1.1, 0.2, 256, 240), "b2": (1.1, 1.2, 0.3, 288, 288),
    "b3": (1.2, 1.4, 0.3, 320, 300), "b4": (1.4, 1.8, 0.4, 384, 380), "b5": (1.6, 2.2, 0.4, 456, 456),
    "b6": (1.8, 2.6, 0.5, 528, 528), "b7": (2.0, 3.1, 0.5, 600, 600),
}  # fmt: skip


class MBConv(nn.Module):
    """Widen, filter each channel by itself, weigh the channels, narrow; dropped now and then where it is added."""

    def __init__(
        self, widening: int, kernel: int, stride: int, inputs: int, results: int, drop: float, norm_layer: Any
    ) -> None:
        super().__init__()
        self.use_res_connect = stride == 1 and inputs == results
        hidden = make_divisible(inputs * widening)
        same = {"norm_layer": norm_layer, "activation_layer": nn.SiLU}
        layers: list[nn.Module] = []
        if hidden != inputs:
            layers.append(Conv2dNormActivation(inputs, hidden, 1, **same))
        layers += [
            Conv2dNormActivation(hidden, hidden, kernel, stride=stride, groups=hidden, **same),
            SqueezeExcitation(hidden, max(1, inputs // 4), activation=partial(nn.SiLU, inplace=True)),
            Conv2dNormActivation(hidden, results, 1, norm_layer=norm_layer, activation_layer=None),
        ]
        self.block = nn.Sequential(*layers)
        self.stochastic_depth = StochasticDepth(drop, "row")
        self.out_channels = results

    def forward(self, input: Tensor) -> Tensor:
        """Return the block's result."""
        result = self.block(input)
        return self.stochastic_depth(result) + input if self.use_res_connect else result


class EfficientNet(nn.Module):
    """Stages of MBConv blocks, widened and deepened together. Shape: input (N, 3, H, W), result (N, num_classes)."""

    def __init__(
        self, width: float, depth: float, dropout: float, stochastic_depth_prob: float = 0.2, num_classes: int = 1000,
        norm_layer: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        norm = norm_layer or nn.BatchNorm2d
        same = {"norm_layer": norm, "activation_layer": nn.SiLU}
        counts = [math.ceil(stage[-1] * depth) for stage in _STAGES]
        layers: list[nn.Module] = [Conv2dNormActivation(3, make_divisible(32 * width), 3, stride=2, **same)]
        number = 0
        for (widening, kernel, stride, inputs, results, _), count in zip(_STAGES, counts, strict=True):
            before, after = make_divisible(inputs * width), make_divisible(results * width)
            stage: list[nn.Module] = []
            for i in range(count):
                drop = stochastic_depth_prob * number / sum(counts)
                place = (stride, before) if i == 0 else (1, after)
                stage.append(MBConv(widening, kernel, *place, after, drop, norm))
                number += 1
            layers.append(nn.Sequential(*stage))
        last = make_divisible(_STAGES[-1][4] * width)
        layers.append(Conv2dNormActivation(last, 4 * last, 1, **same))
        self.features = nn.Sequential(*layers)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(nn.Dropout(dropout, inplace=True), nn.Linear(4 * last, num_classes))
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
    width, depth, dropout, resized, cropped = _SIZES[size]
    name = f"efficientnet_{size}"

    def build(**options: Any) -> EfficientNet:
        norm = {"b5": 0.01, "b6": 0.01, "b7": 0.01}.get(size)
        found = {"norm_layer": partial(nn.BatchNorm2d, eps=0.001, momentum=norm)} if norm else {}
        return EfficientNet(width, depth, **{"dropout": dropout, **found, **options})

    build.__name__, build.__doc__ = name, f"Return an EfficientNet {size.upper()}."
    return model(weights_of(f"EfficientNet_{size.upper()}", name, resized, cropped))(build)


efficientnet_b0, efficientnet_b1, efficientnet_b2, efficientnet_b3 = map(_builder, ("b0", "b1", "b2", "b3"))
efficientnet_b4, efficientnet_b5, efficientnet_b6, efficientnet_b7 = map(_builder, ("b4", "b5", "b6", "b7"))
