"""ConvNeXt. Source: Liu et al. 2022, https://arxiv.org/abs/2201.03545, section 3."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from funcgrad import nn
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn import functional as F
from funcgrad.vision.models.weights import model, weights_of
from funcgrad.vision.ops.misc import Conv2dNormActivation, Permute, StochasticDepth

# The stages' channels and blocks, stochastic depth
_SIZES = {
    "tiny": ((96, 192, 384, 768), (3, 3, 9, 3), 0.1), "small": ((96, 192, 384, 768), (3, 3, 27, 3), 0.4),
    "base": ((128, 256, 512, 1024), (3, 3, 27, 3), 0.5), "large": ((192, 384, 768, 1536), (3, 3, 27, 3), 0.5),
}  # fmt: skip


class LayerNorm2d(nn.LayerNorm):
    """Layer normalization over the channels of images. Shape: (N, C, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        """Return the images, normalized at each place."""
        rows = F.layer_norm(input.permute(0, 2, 3, 1), self.normalized_shape, self.weight, self.bias, self.eps)
        return rows.permute(0, 3, 1, 2)


class CNBlock(nn.Module):
    """Filter each channel by itself, normalize, widen and narrow; scaled, dropped now and then, and added."""

    def __init__(self, dim: int, layer_scale: float, stochastic_depth_prob: float, norm_layer: Any = None) -> None:
        super().__init__()
        norm_layer = norm_layer or partial(nn.LayerNorm, eps=1e-6)
        self.block = nn.Sequential(
            nn.Conv2d(dim, dim, kernel_size=7, padding=3, groups=dim), Permute([0, 2, 3, 1]), norm_layer(dim),
            nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim), Permute([0, 3, 1, 2]),
        )  # fmt: skip
        self.layer_scale = nn.Parameter(fg.ones(dim, 1, 1) * layer_scale)
        self.stochastic_depth = StochasticDepth(stochastic_depth_prob, "row")

    def forward(self, input: Tensor) -> Tensor:
        """Return the block's result. Shape: that of the input."""
        return self.stochastic_depth(self.layer_scale * self.block(input)) + input


class _Stage(NamedTuple):
    input_channels: int
    out_channels: int | None
    num_layers: int


class CNBlockConfig(_Stage):
    """One stage: its channels, those of the next one (None: there is none), and how many blocks."""

    __slots__ = ()

    def __repr__(self) -> str:
        words = ", ".join(f"{name}={value}" for name, value in self._asdict().items())
        return f"CNBlockConfig({words})"


class ConvNeXt(nn.Module):
    """Stages of blocks, each at half the size of the one before. Shape: input (N, 3, H, W), result (N, num_classes).

    ValueError, or TypeError, unless the stages are `CNBlockConfig`s.
    """

    def __init__(
        self, block_setting: Sequence[CNBlockConfig], stochastic_depth_prob: float = 0.0, layer_scale: float = 1e-6,
        num_classes: int = 1000, block: Any = None, norm_layer: Any = None, **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__()
        if not block_setting:
            raise ValueError("The block_setting should not be empty")
        if not isinstance(block_setting, Sequence) or not all(isinstance(s, CNBlockConfig) for s in block_setting):
            raise TypeError("The block_setting should be List[CNBlockConfig]")
        block, norm = block or CNBlock, norm_layer or partial(LayerNorm2d, eps=1e-6)
        stem = Conv2dNormActivation(
            3, block_setting[0].input_channels, kernel_size=4, stride=4, padding=0, norm_layer=norm,
            activation_layer=None, bias=True,
        )  # fmt: skip
        layers: list[nn.Module] = [stem]
        total, number = sum(stage.num_layers for stage in block_setting), 0
        for stage in block_setting:
            blocks = []
            for _ in range(stage.num_layers):
                drop = stochastic_depth_prob * number / (total - 1.0)
                blocks.append(block(stage.input_channels, layer_scale, drop))
                number += 1
            layers.append(nn.Sequential(*blocks))
            if stage.out_channels is not None:
                halved = nn.Conv2d(stage.input_channels, stage.out_channels, kernel_size=2, stride=2)
                layers.append(nn.Sequential(norm(stage.input_channels), halved))
        self.features = nn.Sequential(*layers)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        last = block_setting[-1].out_channels or block_setting[-1].input_channels
        self.classifier = nn.Sequential(norm(last), nn.Flatten(1), nn.Linear(last, num_classes))
        for module in self.modules():
            if isinstance(module, (nn.Conv2d, nn.Linear)):
                nn.init.trunc_normal_(module.weight, std=0.02)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Return the classes' scores."""
        return self.classifier(self.avgpool(self.features(x)))


def _builder(size: str) -> Callable[..., ConvNeXt]:
    channels, counts, depth_prob = _SIZES[size]

    def build(**options: Any) -> ConvNeXt:
        stages = [CNBlockConfig(*one) for one in zip(channels, (*channels[1:], None), counts, strict=True)]
        return ConvNeXt(stages, **{"stochastic_depth_prob": depth_prob, **options})

    build.__name__, build.__doc__ = f"convnext_{size}", f"Return a ConvNeXt {size.capitalize()}."
    return model(weights_of(f"ConvNeXt_{size.capitalize()}"))(build)


convnext_tiny, convnext_small, convnext_base, convnext_large = map(_builder, _SIZES)
