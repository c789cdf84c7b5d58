"""Layers that several models of torchvision share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from funcgrad import nn
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor

Made = Callable[..., nn.Module]


class Conv2dNormActivation(nn.Sequential):
    """Convolution, normalisation and activation; padding=None keeps the size at stride 1."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: int = 3, stride: int = 1, padding: int | None = None,
        groups: int = 1, norm_layer: Made | None = nn.BatchNorm2d, activation_layer: Made | None = nn.ReLU,
        dilation: int = 1, inplace: bool | None = True, bias: bool | None = None,
    ) -> None:  # fmt: skip
        padding = (kernel_size - 1) // 2 * dilation if padding is None else padding
        bias = norm_layer is None if bias is None else bias
        layers: list[nn.Module] = [
            nn.Conv2d(
                in_channels, out_channels, kernel_size, stride, padding, dilation=dilation, groups=groups, bias=bias
            )
        ]
        if norm_layer is not None:
            layers.append(norm_layer(out_channels))
        if activation_layer is not None:
            layers.append(activation_layer(**({} if inplace is None else {"inplace": inplace})))
        super().__init__(*layers)
        self.out_channels = out_channels


ConvNormActivation = Conv2dNormActivation


class FrozenBatchNorm2d(nn.Module):
    """Normalises channels by statistics and an affine function that are buffers: nothing is learnt, nothing counted."""

    weight: Tensor
    bias: Tensor
    running_mean: Tensor
    running_var: Tensor

    def __init__(self, num_features: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.register_buffer("weight", fg.ones(num_features))
        self.register_buffer("bias", fg.zeros(num_features))
        self.register_buffer("running_mean", fg.zeros(num_features))
        self.register_buffer("running_var", fg.ones(num_features))

    def _load_from_state_dict(
        self,
        state_dict: Mapping[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Load what a BatchNorm2d saved: its count of batches is not needed."""
        count = f"{prefix}num_batches_tracked"
        needed = {key: value for key, value in state_dict.items() if key != count}
        super()._load_from_state_dict(needed, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)

    def forward(self, x: Tensor) -> Tensor:
        """Return the pictures, normalised. Shape: (N, C, H, W) in and out."""
        scale = self.weight * (self.running_var + self.eps).rsqrt()
        shift = self.bias - self.running_mean * scale
        return x * scale.reshape(1, -1, 1, 1) + shift.reshape(1, -1, 1, 1)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.weight.shape[0]}, eps={self.eps})"


class SqueezeExcitation(nn.Module):
    """Weighs the channels by what all of the picture says. Source: https://arxiv.org/abs/1709.01507, figure 1."""

    def __init__(
        self, input_channels: int, squeeze_channels: int, activation: Made = nn.ReLU,
        scale_activation: Made = nn.Sigmoid,
    ) -> None:  # fmt: skip
        super().__init__()
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc1 = nn.Conv2d(input_channels, squeeze_channels, 1)
        self.fc2 = nn.Conv2d(squeeze_channels, input_channels, 1)
        self.activation = activation()
        self.scale_activation = scale_activation()

    def forward(self, input: Tensor) -> Tensor:
        """Return the channels, weighed."""
        return self.scale_activation(self.fc2(self.activation(self.fc1(self.avgpool(input))))) * input


class MLP(nn.Sequential):
    """Linear layers with activation and dropout after each; none of both but dropout after the last."""

    def __init__(
        self, in_channels: int, hidden_channels: Sequence[int], norm_layer: Made | None = None,
        activation_layer: Made = nn.ReLU, inplace: bool | None = None, bias: bool = True, dropout: float = 0.0,
    ) -> None:  # fmt: skip
        options: dict[str, Any] = {} if inplace is None else {"inplace": inplace}
        layers: list[nn.Module] = []
        for width in hidden_channels[:-1]:
            layers.append(nn.Linear(in_channels, width, bias=bias))
            if norm_layer is not None:
                layers.append(norm_layer(width))
            layers += [activation_layer(**options), nn.Dropout(dropout, **options)]
            in_channels = width
        layers += [nn.Linear(in_channels, hidden_channels[-1], bias=bias), nn.Dropout(dropout, **options)]
        super().__init__(*layers)


class Permute(nn.Module):
    """Reorders dimensions."""

    def __init__(self, dims: Sequence[int]) -> None:
        super().__init__()
        self.dims = tuple(dims)

    def forward(self, x: Tensor) -> Tensor:
        """Return the tensor with its dimensions in the given order."""
        return x.permute(self.dims)


def stochastic_depth(input: Tensor, p: float, mode: str, training: bool = True) -> Tensor:
    """Zero whole rows ("row") or all of the input ("batch") with probability p, and scale what stays by 1 / (1 - p)."""
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"drop probability has to be between 0 and 1, but got {p}")
    if mode not in ("batch", "row"):
        raise ValueError(f"mode has to be either 'batch' or 'row', but got {mode}")
    if not training or p == 0.0:
        return input
    kept = 1.0 - p
    shape = [input.shape[0] if mode == "row" else 1, *[1] * (input.ndim - 1)]
    noise = fg.empty(shape, dtype=input.dtype, device=input.device).bernoulli_(kept)
    return input * (noise.div_(kept) if kept > 0.0 else noise)


class StochasticDepth(nn.Module):
    """Zeroes rows while training. Source: Huang et al. 2016, https://arxiv.org/abs/1603.09382."""

    def __init__(self, p: float, mode: str) -> None:
        super().__init__()
        self.p, self.mode = p, mode

    def forward(self, input: Tensor) -> Tensor:
        """Return the input, some rows zero."""
        return stochastic_depth(input, self.p, self.mode, self.training)

    def extra_repr(self) -> str:
        """Return the options."""
        return f"p={self.p}, mode={self.mode}"
