"""Swin Transformer: attention in windows that shift. Source: Liu et al. 2021, https://arxiv.org/abs/2103.14030."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from funcgrad import nn
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn import functional as F
from funcgrad.vision.models.weights import model, weights_of
from funcgrad.vision.ops.misc import MLP, Permute, StochasticDepth

# width, depths, heads, stochastic depth
_SIZES = {
    "t": (96, (2, 2, 6, 2), (3, 6, 12, 24), 0.2),
    "s": (96, (2, 2, 18, 2), (3, 6, 12, 24), 0.3),
    "b": (128, (2, 2, 18, 2), (4, 8, 16, 32), 0.5),
}  # fmt: skip


class PatchMerging(nn.Module):
    """Four neighbours become one of twice the width. Shape: input (N, H, W, C), result (N, H / 2, W / 2, 2 C)."""

    def __init__(self, dim: int, norm_layer: Any = nn.LayerNorm) -> None:
        super().__init__()
        self.dim = dim
        self.reduction = nn.Linear(4 * dim, 2 * dim, bias=False)
        self.norm = norm_layer(4 * dim)

    def forward(self, x: Tensor) -> Tensor:
        """Return the merged patches; a last odd row or column is filled up with zeros."""
        x = F.pad(x, (0, 0, 0, x.shape[2] % 2, 0, x.shape[1] % 2))
        parts = [x[:, row::2, column::2] for column in (0, 1) for row in (0, 1)]
        return self.reduction(self.norm(fg.cat(parts, -1)))


class ShiftedWindowAttention(nn.Module):
    """Attention inside windows of (N, H, W, C); what a shift brings together from other places is not attended to."""

    relative_position_index: Tensor

    def __init__(
        self, dim: int, window_size: Sequence[int], shift_size: Sequence[int], num_heads: int, qkv_bias: bool = True,
        proj_bias: bool = True, attention_dropout: float = 0.0, dropout: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__()
        self.window_size, self.shift_size, self.num_heads = list(window_size), list(shift_size), num_heads
        self.attention_dropout, self.dropout = attention_dropout, dropout
        self.qkv = nn.Linear(dim, dim * 3, bias=qkv_bias)
        self.proj = nn.Linear(dim, dim, bias=proj_bias)
        high, wide = window_size
        self.relative_position_bias_table = nn.Parameter(fg.zeros((2 * high - 1) * (2 * wide - 1), num_heads))
        nn.init.trunc_normal_(self.relative_position_bias_table, std=0.02)
        rows, columns = (fg.arange(high * wide) // wide, fg.arange(high * wide) % wide)
        apart = (rows[:, None] - rows + high - 1) * (2 * wide - 1) + columns[:, None] - columns + wide - 1
        self.register_buffer("relative_position_index", apart.flatten())

    def get_relative_position_bias(self) -> Tensor:
        """Return what is added for two places of a window. Shape: (1, heads, places, places)."""
        places = self.window_size[0] * self.window_size[1]
        bias = self.relative_position_bias_table[self.relative_position_index]
        return bias.view(places, places, -1).permute(2, 0, 1).unsqueeze(0)

    def forward(self, x: Tensor) -> Tensor:
        """Return the attended picture. Shape: input (N, H, W, C), result the same."""
        count, height, width, channels = x.shape
        high, wide = self.window_size
        x = F.pad(x, (0, 0, 0, -width % wide, 0, -height % high))
        padded = (x.shape[1], x.shape[2])
        shift = [0 if w >= size else s for s, w, size in zip(self.shift_size, self.window_size, padded, strict=True)]
        if any(shift):
            x = x.roll((-shift[0], -shift[1]), (1, 2))
        windows = self._windows(x)
        q, k, v = self.qkv(windows).unflatten(2, (3, self.num_heads, -1)).permute(2, 0, 3, 1, 4)
        scores = q * (channels // self.num_heads) ** -0.5 @ k.transpose(-2, -1) + self.get_relative_position_bias()
        if any(shift):
            apart = self._apart(padded, shift, x)
            scores = (scores.unflatten(0, (count, -1)) + apart[:, None]).flatten(0, 1)
        shares = F.dropout(scores.softmax(-1), self.attention_dropout, self.training)
        attended = self.proj((shares @ v).transpose(1, 2).flatten(2))
        attended = F.dropout(attended, self.dropout, self.training)
        grid = (count, padded[0] // high, padded[1] // wide, high, wide, channels)
        x = attended.view(grid).permute(0, 1, 3, 2, 4, 5).reshape(count, *padded, channels)
        if any(shift):
            x = x.roll((shift[0], shift[1]), (1, 2))
        return x[:, :height, :width].contiguous()

    def _windows(self, x: Tensor) -> Tensor:
        """Return the windows one after the other. Shape: input (N, H, W, C), result (N * windows, places, C)."""
        high, wide = self.window_size
        count, height, width, channels = x.shape
        parts = x.view(count, height // high, high, width // wide, wide, channels).permute(0, 1, 3, 2, 4, 5)
        return parts.reshape(-1, high * wide, channels)

    def _apart(self, size: Sequence[int], shift: Sequence[int], like: Tensor) -> Tensor:
        """Return -100 for two places of a window that the shift brought together. Shape: (windows, places, places)."""
        parts = [self._part(length, window, s) for length, window, s in zip(size, self.window_size, shift, strict=True)]
        numbers = (parts[0][:, None] * 3 + parts[1])[None, :, :, None].to(like.device)
        places = self._windows(numbers)[..., 0]
        return (places[:, None] != places[:, :, None]).to(like.dtype) * -100.0

    @staticmethod
    def _part(length: int, window: int, shift: int) -> Tensor:
        """Return 0, 1 or 2 for each place of a side: before the last window, in it, brought there by the shift."""
        places = fg.arange(length)
        return (places >= length - window).int() + (places >= length - shift).int()


class SwinTransformerBlock(nn.Module):
    """Attention in windows and two linear layers, each normalised before and added."""

    def __init__(
        self, dim: int, num_heads: int, window_size: Sequence[int], shift_size: Sequence[int], mlp_ratio: float = 4.0,
        dropout: float = 0.0, attention_dropout: float = 0.0, stochastic_depth_prob: float = 0.0,
        norm_layer: Any = nn.LayerNorm, attn_layer: Any = ShiftedWindowAttention,
    ) -> None:  # fmt: skip
        super().__init__()
        self.norm1 = norm_layer(dim)
        self.attn = attn_layer(
            dim, window_size, shift_size, num_heads, attention_dropout=attention_dropout, dropout=dropout
        )
        self.stochastic_depth = StochasticDepth(stochastic_depth_prob, "row")
        self.norm2 = norm_layer(dim)
        self.mlp = MLP(dim, [int(dim * mlp_ratio), dim], activation_layer=nn.GELU, inplace=None, dropout=dropout)
        for module in self.mlp.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                if module.bias is not None:
                    nn.init.normal_(module.bias, std=1e-6)

    def forward(self, x: Tensor) -> Tensor:
        """Return the block's result. Shape: input (N, H, W, C), result the same."""
        x = x + self.stochastic_depth(self.attn(self.norm1(x)))
        return x + self.stochastic_depth(self.mlp(self.norm2(x)))


class SwinTransformer(nn.Module):
    """Stages of blocks over ever fewer, ever wider patches. Shape: input (N, 3, H, W), result (N, num_classes)."""

    def __init__(
        self, patch_size: Sequence[int], embed_dim: int, depths: Sequence[int], num_heads: Sequence[int],
        window_size: Sequence[int], mlp_ratio: float = 4.0, dropout: float = 0.0, attention_dropout: float = 0.0,
        stochastic_depth_prob: float = 0.1, num_classes: int = 1000, norm_layer: Any = None, block: Any = None,
        downsample_layer: Any = PatchMerging,
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_classes = num_classes
        norm = partial(nn.LayerNorm, eps=1e-5) if norm_layer is None else norm_layer
        size = (patch_size[0], patch_size[1])
        patches = nn.Conv2d(3, embed_dim, size, stride=size)
        layers: list[nn.Module] = [nn.Sequential(patches, Permute([0, 2, 3, 1]), norm(embed_dim))]
        done, last, width = 0, sum(depths) - 1, embed_dim
        for stage, depth in enumerate(depths):
            if stage:
                layers.append(downsample_layer(width, norm))
                width *= 2
            blocks = []
            for i in range(depth):
                shift = [0 if i % 2 == 0 else w // 2 for w in window_size]
                blocks.append((block or SwinTransformerBlock)(
                    width, num_heads[stage], window_size=window_size, shift_size=shift, mlp_ratio=mlp_ratio,
                    dropout=dropout, attention_dropout=attention_dropout,
                    stochastic_depth_prob=stochastic_depth_prob * done / last, norm_layer=norm,
                ))  # fmt: skip
                done += 1
            layers.append(nn.Sequential(*blocks))
        self.features = nn.Sequential(*layers)
        self.norm = norm(width)
        self.permute = Permute([0, 3, 1, 2])
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.flatten = nn.Flatten(1)
        self.head = nn.Linear(width, num_classes)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.trunc_normal_(module.weight, std=0.02)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Return the classes' scores."""
        return self.head(self.flatten(self.avgpool(self.permute(self.norm(self.features(x))))))


def _builder(size: str) -> Callable[..., SwinTransformer]:
    width, depths, heads, depth_prob = _SIZES[size]

    def build(**options: Any) -> SwinTransformer:
        options = {"stochastic_depth_prob": depth_prob, **options}
        return SwinTransformer([4, 4], width, depths, heads, [7, 7], **options)

    build.__name__, build.__doc__ = f"swin_{size}", f"Return a Swin Transformer {size.upper()}."
    return model(weights_of(f"Swin_{size.upper()}"))(build)


swin_t, swin_s, swin_b = map(_builder, _SIZES)
