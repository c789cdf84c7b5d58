"""torch.ao.nn.intrinsic.qat: what was fused, rounding the weights that it will have once it is one layer.

Source: Krishnamoorthi 2018, https://arxiv.org/abs/1806.08342, section 3.2.2.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import funcgrad._tensor.functions as torch
from funcgrad import nn
from funcgrad._tensor.creation import empty, zeros
from funcgrad._tensor.tensor import Tensor
from funcgrad.ao.nn import intrinsic, qat
from funcgrad.ao.nn.intrinsic import _FusedModule
from funcgrad.ao.nn.qat import plain_convolution, qconfig_of, require_qconfig, take_parameters
from funcgrad.nn import functional as F
from funcgrad.nn import init
from funcgrad.nn.parameter import Parameter
from funcgrad.nn.utils.fusion import fuse_conv_bn_weights, fuse_linear_bn_weights

__all__ = [
    "ConvBn1d", "ConvBn2d", "ConvBn3d", "ConvBnReLU1d", "ConvBnReLU2d", "ConvBnReLU3d", "ConvReLU1d", "ConvReLU2d",
    "ConvReLU3d", "LinearBn1d", "LinearReLU", "freeze_bn_stats", "update_bn_stats",
]  # fmt: skip
_STATISTICS = ("weight", "bias", "running_mean", "running_var", "num_batches_tracked")


class _WithNorm:
    """A layer and the batch normalization behind it. The weight is scaled as the normalization will, then rounded."""

    weight: Any
    bias: Any
    training: bool
    bn: Any

    def _begin(self, bn: nn.Module, count: int, bias: bool, freeze_bn: bool, qconfig: Any) -> None:
        self.qconfig = require_qconfig(qconfig)
        self.freeze_bn = freeze_bn if self.training else True
        self.bn = bn
        self.weight_fake_quant = qconfig.weight()
        own: Any = self
        if bias:
            own.bias = Parameter(empty(count))
        else:
            own.register_parameter("bias", None)
        self.reset_bn_parameters()
        if self.training and not freeze_bn:
            self.update_bn_stats()
        else:
            self.freeze_bn_stats()

    def reset_running_stats(self) -> None:
        """Forget the mean and the variance."""
        self.bn.reset_running_stats()

    def reset_bn_parameters(self) -> None:
        """Forget the mean and the variance, and draw the normalization's weight."""
        self.bn.reset_running_stats()
        init.uniform_(self.bn.weight)
        init.zeros_(self.bn.bias)

    def update_bn_stats(self) -> Any:
        """Let training change the mean and the variance."""
        self.freeze_bn, self.bn.training = False, True
        return self

    def freeze_bn_stats(self) -> Any:
        """Let the mean and the variance be as they are, in training too."""
        self.freeze_bn, self.bn.training = True, False
        return self

    def train(self, mode: bool = True) -> Any:
        """Set the mode of training; the normalization's own where it is not frozen."""
        self.training = mode
        if not self.freeze_bn:
            own: Any = self
            for module in own.children():
                module.train(mode)
        return self

    def _applied(self, input: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        raise NotImplementedError

    def _forward(self, input: Tensor) -> Tensor:
        """Return what the normalization makes of the layer with its rounded weight, scaled back."""
        factor = self.bn.weight / torch.sqrt(self.bn.running_var + self.bn.eps)
        ones = [1] * (self.weight.ndim - 2)
        weight = self.weight_fake_quant(self.weight * factor.reshape(-1, 1, *ones))
        nothing = zeros(self.weight.shape[0], device=weight.device, dtype=input.dtype)
        result = self._applied(input, weight, nothing) / factor.reshape(1, -1, *ones)
        if self.bias is not None:
            result = result + self.bias.reshape(1, -1, *ones)
        return self.bn(result)

    def _take(self, layer: Any, bn: Any) -> Any:
        self.weight, self.bias = layer.weight, layer.bias
        for name in _STATISTICS:
            setattr(self.bn, name, getattr(bn, name))
        return self


class _ConvBn(_WithNorm):
    """A convolution and batch normalization. A subclass says of how many dimensions."""

    _version = 2
    _FLOAT_MODULE: ClassVar[Any]
    _FLOAT_CONV_MODULE: ClassVar[Any]
    _FLOAT_BN_MODULE: ClassVar[Any]
    _FUSED_FLOAT_MODULE: ClassVar[Any] = None

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1, groups: int = 1, bias: bool | None = None, padding_mode: str = "zeros", eps: float = 1e-05,
        momentum: float = 0.1, freeze_bn: bool = False, qconfig: Any = None,
    ) -> None:  # fmt: skip
        sizes: Any = (in_channels, out_channels, kernel_size, stride, padding, dilation, groups, False, padding_mode)
        super().__init__(*sizes)
        require_qconfig(qconfig)
        bn = self._FLOAT_BN_MODULE(out_channels, eps, momentum, True, True)
        self._begin(bn, out_channels, bool(bias), freeze_bn, qconfig)
        self._enable_slow_path_for_better_numerical_stability = False

    def reset_bn_parameters(self) -> None:
        """Forget the mean and the variance, and draw the normalization's weight and the convolution's bias."""
        super().reset_bn_parameters()
        if self.bias is not None:
            bound = 1 / math.sqrt(init.fan_in_and_out(self.weight)[0])
            init.uniform_(self.bias, -bound, bound)

    def _applied(self, input: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        return self._conv_forward(input, weight, bias)  # type: ignore[attr-defined]

    def _forward(self, input: Tensor) -> Tensor:
        if self._enable_slow_path_for_better_numerical_stability:
            return self._forward_slow(input)
        return super()._forward(input)

    def _forward_slow(self, input: Tensor) -> Tensor:
        """Return the same by way of the batch's own statistics: two convolutions, and a weight of 0 may be scaled."""
        ones = [1] * (self.weight.ndim - 2)
        nothing = zeros(self.weight.shape[0], device=self.weight.device, dtype=input.dtype)
        plain = None
        if self.bn.training:
            plain = self._applied(input, self.weight, nothing)
            self.bn((plain if self.bias is None else plain + self.bias.reshape(1, -1, *ones)).detach())
        running = torch.sqrt(self.bn.running_var + self.bn.eps)
        weight = self.weight_fake_quant(self.weight * (self.bn.weight / running).reshape(-1, 1, *ones))
        result = self._applied(input, weight, nothing)
        if plain is not None:
            others = [0, *range(2, self.weight.ndim)]
            mean = plain.mean(others)
            variance = torch.square(plain - mean.reshape(1, -1, *ones)).mean(others)
            deviation = torch.sqrt(variance + self.bn.eps)
            result = result * (running / deviation).reshape(1, -1, *ones)
        else:
            mean, deviation = self.bn.running_mean - (0 if self.bias is None else self.bias), running
        result = result + (self.bn.bias - self.bn.weight * mean / deviation).reshape(1, -1, *ones)
        if self.bias is not None:  # so that it has a gradient, of zeros
            result = result + (self.bias - self.bias).reshape(1, -1, *ones)
        return result

    def forward(self, input: Tensor) -> Tensor:
        """Return the convolution with the rounded weight, normalized."""
        return self._forward(input)

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """Return such a layer with the parameters of what was fused, which has a `qconfig`."""
        qconfig = qconfig_of(mod, cls.__name__, cls._FLOAT_MODULE)
        conv, bn = mod[0], mod[1]
        options = {name: getattr(conv, name) for name in qat.CONV_OPTIONS}
        made = cls(
            conv.in_channels, conv.out_channels, conv.kernel_size, **options, bias=conv.bias is not None, eps=bn.eps,
            momentum=bn.momentum, qconfig=qconfig,
        )  # fmt: skip
        return made._take(conv, bn)

    def to_float(self) -> Any:
        """Return a convolution that does what both do, and ReLU where there is one."""
        conv = plain_convolution(self, self._FLOAT_CONV_MODULE)
        take_parameters(conv, self)
        bn = self.bn
        conv.weight, conv.bias = fuse_conv_bn_weights(
            conv.weight, conv.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
        )
        made = self._FUSED_FLOAT_MODULE(conv, nn.ReLU()) if self._FUSED_FLOAT_MODULE else conv
        return made.train(self.training)

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: dict[str, Any], strict: bool, missing_keys: list[str],
        unexpected_keys: list[str], error_msgs: list[str],
    ) -> None:  # fmt: skip
        if local_metadata.get("version") in (None, 1):  # before the normalization was a module of its own
            old = {"weight": "gamma", "bias": "beta"}
            for name in _STATISTICS:
                key, former = f"{prefix}bn.{name}", prefix + old.get(name, name)
                if former in state_dict:
                    state_dict[key] = state_dict.pop(former)
                elif key not in state_dict and strict:
                    missing_keys.append(key)
        super()._load_from_state_dict(  # type: ignore[misc]
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )


class ConvBn1d(_ConvBn, nn.Conv1d, _FusedModule):
    """A convolution over one dimension and batch normalization."""

    _FLOAT_MODULE, _FLOAT_CONV_MODULE, _FLOAT_BN_MODULE = intrinsic.ConvBn1d, nn.Conv1d, nn.BatchNorm1d


class ConvBn2d(_ConvBn, nn.Conv2d, _FusedModule):
    """A convolution over two dimensions and batch normalization."""

    _FLOAT_MODULE, _FLOAT_CONV_MODULE, _FLOAT_BN_MODULE = intrinsic.ConvBn2d, nn.Conv2d, nn.BatchNorm2d


class ConvBn3d(_ConvBn, nn.Conv3d, _FusedModule):
    """A convolution over three dimensions and batch normalization."""

    _FLOAT_MODULE, _FLOAT_CONV_MODULE, _FLOAT_BN_MODULE = intrinsic.ConvBn3d, nn.Conv3d, nn.BatchNorm3d


class _ThenReLU:
    """What ends with ReLU."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layers make of the input, where that is positive."""
        return F.relu(super().forward(input))  # type: ignore[misc]


class ConvBnReLU1d(_ThenReLU, ConvBn1d):
    """A convolution over one dimension, batch normalization, and ReLU."""

    _FLOAT_MODULE, _FUSED_FLOAT_MODULE = intrinsic.ConvBnReLU1d, intrinsic.ConvReLU1d


class ConvBnReLU2d(_ThenReLU, ConvBn2d):
    """A convolution over two dimensions, batch normalization, and ReLU."""

    _FLOAT_MODULE, _FUSED_FLOAT_MODULE = intrinsic.ConvBnReLU2d, intrinsic.ConvReLU2d


class ConvBnReLU3d(_ThenReLU, ConvBn3d):
    """A convolution over three dimensions, batch normalization, and ReLU."""

    _FLOAT_MODULE, _FUSED_FLOAT_MODULE = intrinsic.ConvBnReLU3d, intrinsic.ConvReLU3d


class _BackToReLU(_ThenReLU):
    """What ends with ReLU, and says so as a layer of floats."""

    _FLOAT_MODULE: ClassVar[Any]

    def to_float(self) -> Any:
        """Return the layer and ReLU."""
        layer = super().to_float()  # type: ignore[misc]
        return self._FLOAT_MODULE(layer, nn.ReLU()).train(layer.training)


class ConvReLU1d(_BackToReLU, qat.Conv1d, _FusedModule):
    """A convolution over one dimension, and ReLU."""

    _FLOAT_MODULE = intrinsic.ConvReLU1d


class ConvReLU2d(_BackToReLU, qat.Conv2d, _FusedModule):
    """A convolution over two dimensions, and ReLU."""

    _FLOAT_MODULE = intrinsic.ConvReLU2d


class ConvReLU3d(_BackToReLU, qat.Conv3d, _FusedModule):
    """A convolution over three dimensions, and ReLU."""

    _FLOAT_MODULE = intrinsic.ConvReLU3d


class LinearReLU(_BackToReLU, qat.Linear, _FusedModule):
    """A linear layer, and ReLU."""

    _FLOAT_MODULE = intrinsic.LinearReLU


class LinearBn1d(_WithNorm, nn.Linear, _FusedModule):
    """A linear layer and batch normalization."""

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, eps: float = 1e-05, momentum: float = 0.1,
        freeze_bn: bool = False, qconfig: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(in_features, out_features, bias)
        require_qconfig(qconfig)
        bn = nn.BatchNorm1d(out_features, eps, momentum, True, True)
        self._begin(bn, out_features, bias, freeze_bn, qconfig)

    def _applied(self, input: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        return F.linear(input, weight, bias)

    def forward(self, input: Tensor) -> Tensor:
        """Return the linear layer with the rounded weight, normalized."""
        return self._forward(input)

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """Return such a layer with the parameters of what was fused, which has a `qconfig`."""
        qconfig = qconfig_of(mod, cls.__name__, intrinsic.LinearBn1d)
        linear, bn = mod[0], mod[1]
        sizes = (linear.in_features, linear.out_features, linear.bias is not None)
        return cls(*sizes, bn.eps, bn.momentum, False, qconfig)._take(linear, bn)

    def to_float(self) -> nn.Module:
        """Return a linear layer that does what both do."""
        linear, bn = nn.Linear(self.in_features, self.out_features), self.bn
        linear.weight, linear.bias = fuse_linear_bn_weights(
            self.weight, self.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
        )
        return linear


def update_bn_stats(mod: Any) -> None:
    """Let training change a fused normalization's mean and variance: `model.apply(update_bn_stats)`."""
    if isinstance(mod, (_ConvBn, LinearBn1d)):
        mod.update_bn_stats()


def freeze_bn_stats(mod: Any) -> None:
    """Let a fused normalization's mean and variance be as they are: `model.apply(freeze_bn_stats)`."""
    if isinstance(mod, (_ConvBn, LinearBn1d)):
        mod.freeze_bn_stats()
