"""Vision Transformer. Source: Dosovitskiy et al. 2020, https://arxiv.org/abs/2010.11929."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from funcgrad import nn
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.vision.models.weights import model, weights_of
from funcgrad.vision.ops.misc import MLP, Conv2dNormActivation

# patch, layers, heads, width, hidden width
_SIZES = {
    "b_16": (16, 12, 12, 768, 3072), "b_32": (32, 12, 12, 768, 3072), "l_16": (16, 24, 16, 1024, 4096),
    "l_32": (32, 24, 16, 1024, 4096), "h_14": (14, 32, 16, 1280, 5120),
}  # fmt: skip
_NORM = partial(nn.LayerNorm, eps=1e-6)


class ConvStemConfig(NamedTuple):
    """One convolution of a stem that stands in the place of the patches' projection."""

    out_channels: int
    kernel_size: int
    stride: int
    norm_layer: Any = nn.BatchNorm2d
    activation_layer: Any = nn.ReLU


class MLPBlock(MLP):
    """Two linear layers with gelu between them."""

    def __init__(self, in_dim: int, mlp_dim: int, dropout: float) -> None:
        super().__init__(in_dim, [mlp_dim, in_dim], activation_layer=nn.GELU, dropout=dropout)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                if module.bias is not None:
                    nn.init.normal_(module.bias, std=1e-6)


class EncoderBlock(nn.Module):
    """Attention and two linear layers, each normalised before and added."""

    def __init__(
        self, num_heads: int, hidden_dim: int, mlp_dim: int, dropout: float, attention_dropout: float,
        norm_layer: Any = _NORM,
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_heads = num_heads
        self.ln_1 = norm_layer(hidden_dim)
        self.self_attention = nn.MultiheadAttention(hidden_dim, num_heads, dropout=attention_dropout, batch_first=True)
        self.dropout = nn.Dropout(dropout)
        self.ln_2 = norm_layer(hidden_dim)
        self.mlp = MLPBlock(hidden_dim, mlp_dim, dropout)

    def forward(self, input: Tensor) -> Tensor:
        """Return the block's result."""
        x = self.ln_1(input)
        x, _ = self.self_attention(x, x, x, need_weights=False)
        x = self.dropout(x) + input
        return x + self.mlp(self.ln_2(x))


class Encoder(nn.Module):
    """Blocks over a sequence to which its places are added."""

    def __init__(
        self, seq_length: int, num_layers: int, num_heads: int, hidden_dim: int, mlp_dim: int, dropout: float,
        attention_dropout: float, norm_layer: Any = _NORM,
    ) -> None:  # fmt: skip
        super().__init__()
        self.pos_embedding = nn.Parameter(fg.empty(1, seq_length, hidden_dim).normal_(std=0.02))
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.Sequential(OrderedDict(
            (f"encoder_layer_{i}", EncoderBlock(num_heads, hidden_dim, mlp_dim, dropout, attention_dropout, norm_layer))
            for i in range(num_layers)
        ))  # fmt: skip
        self.ln = norm_layer(hidden_dim)

    def forward(self, input: Tensor) -> Tensor:
        """Return the sequence, encoded."""
        return self.ln(self.layers(self.dropout(input + self.pos_embedding)))


class VisionTransformer(nn.Module):
    """A picture as a sequence of patches. Shape: input (N, 3, image_size, image_size), result (N, num_classes)."""

    def __init__(
        self, image_size: int, patch_size: int, num_layers: int, num_heads: int, hidden_dim: int, mlp_dim: int,
        dropout: float = 0.0, attention_dropout: float = 0.0, num_classes: int = 1000,
        representation_size: int | None = None, norm_layer: Any = _NORM,
        conv_stem_configs: Sequence[ConvStemConfig] | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if image_size % patch_size:
            raise ValueError(f"Input shape indivisible by patch size: {image_size} and {patch_size}")
        self.image_size, self.patch_size, self.hidden_dim, self.mlp_dim = image_size, patch_size, hidden_dim, mlp_dim
        self.attention_dropout, self.dropout, self.num_classes = attention_dropout, dropout, num_classes
        self.representation_size, self.norm_layer = representation_size, norm_layer
        self.conv_proj: nn.Conv2d | nn.Sequential = (
            nn.Conv2d(3, hidden_dim, patch_size, stride=patch_size)
            if conv_stem_configs is None else _stem(conv_stem_configs, hidden_dim)
        )  # fmt: skip
        self.class_token = nn.Parameter(fg.zeros(1, 1, hidden_dim))
        self.seq_length = (image_size // patch_size) ** 2 + 1
        self.encoder = Encoder(
            self.seq_length, num_layers, num_heads, hidden_dim, mlp_dim, dropout, attention_dropout, norm_layer
        )
        heads: OrderedDict[str, nn.Module] = OrderedDict()
        if representation_size is not None:
            heads["pre_logits"] = nn.Linear(hidden_dim, representation_size)
            heads["act"] = nn.Tanh()
        heads["head"] = nn.Linear(representation_size or hidden_dim, num_classes)
        self.heads = nn.Sequential(heads)
        self._fill()

    def _fill(self) -> None:
        last: Any = self.conv_proj if isinstance(self.conv_proj, nn.Conv2d) else self.conv_proj.conv_last
        if last is self.conv_proj:
            nn.init.trunc_normal_(last.weight, std=math.sqrt(1 / (last.in_channels * self.patch_size**2)))
        else:
            nn.init.normal_(last.weight, std=math.sqrt(2 / last.out_channels))
        if last.bias is not None:
            nn.init.zeros_(last.bias)
        if hasattr(self.heads, "pre_logits"):
            before: Any = self.heads.pre_logits
            nn.init.trunc_normal_(before.weight, std=math.sqrt(1 / before.in_features))
            nn.init.zeros_(before.bias)
        head: Any = self.heads.head
        nn.init.zeros_(head.weight)
        nn.init.zeros_(head.bias)

    def _process_input(self, x: Tensor) -> Tensor:
        """Return the patches in a sequence. Shape: result (N, patches, hidden_dim)."""
        if x.shape[2:] != (self.image_size, self.image_size):
            raise RuntimeError(
                f"Wrong image size! Expected {self.image_size} x {self.image_size} but got {x.shape[2:]}"
            )
        return self.conv_proj(x).flatten(2).permute(0, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Return the classes' scores."""
        sequence = fg.cat([self.class_token.expand(x.shape[0], -1, -1), self._process_input(x)], 1)
        return self.heads(self.encoder(sequence)[:, 0])


def _stem(configs: Sequence[ConvStemConfig], hidden_dim: int) -> nn.Sequential:
    """Return the convolutions, and one of a single pixel to the width. Source: https://arxiv.org/abs/2106.14881."""
    layers: OrderedDict[str, nn.Module] = OrderedDict()
    channels = 3
    for i, config in enumerate(configs):
        layers[f"conv_bn_relu_{i}"] = Conv2dNormActivation(
            channels, config.out_channels, config.kernel_size, config.stride, norm_layer=config.norm_layer,
            activation_layer=config.activation_layer,
        )  # fmt: skip
        channels = config.out_channels
    layers["conv_last"] = nn.Conv2d(channels, hidden_dim, 1)
    return nn.Sequential(layers)


def _builder(size: str) -> Callable[..., VisionTransformer]:
    patch, layers, heads, width, hidden = _SIZES[size]

    def build(image_size: int = 224, **options: Any) -> VisionTransformer:
        return VisionTransformer(image_size, patch, layers, heads, width, hidden, **options)

    build.__name__, build.__doc__ = f"vit_{size}", f"Return a Vision Transformer {size.upper()}."
    return model(weights_of(f"ViT_{size.upper()}"))(build)


vit_b_16, vit_b_32, vit_l_16, vit_l_32, vit_h_14 = map(_builder, _SIZES)
