"""Fuse batch normalization in eval mode into the convolution or linear layer before it."""

from __future__ import annotations

import copy
from typing import Any

from funcgrad._tensor.functions import ones_like, zeros_like
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn.parameter import Parameter

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"]


def fuse_conv_bn_weights(
    conv_w: Tensor, conv_b: Tensor | None, bn_rm: Tensor, bn_rv: Tensor, bn_eps: float, bn_w: Tensor | None,
    bn_b: Tensor | None, transpose: bool = False,
) -> tuple[Parameter, Parameter]:  # fmt: skip
    """Return weight and bias of the convolution that does what convolution and batch normalization did.

    Shape: conv_w (out, in, *), or (in, out, *) where `transpose`; all others (out,).
    """
    factor = (ones_like(bn_rm) if bn_w is None else bn_w) * (bn_rv + bn_eps).rsqrt()
    shape = [1, -1] if transpose else [-1, 1]
    weight = conv_w * factor.reshape(shape + [1] * (conv_w.ndim - 2)).to(conv_w.dtype)
    shift = zeros_like(bn_rm) if conv_b is None else conv_b
    bias = (shift - bn_rm) * factor + (zeros_like(bn_rm) if bn_b is None else bn_b)
    grads = conv_w.requires_grad, conv_w.requires_grad if conv_b is None else conv_b.requires_grad
    return Parameter(weight.detach(), grads[0]), Parameter(bias.detach().to(conv_w.dtype), grads[1])


def fuse_linear_bn_weights(
    linear_w: Tensor, linear_b: Tensor | None, bn_rm: Tensor, bn_rv: Tensor, bn_eps: float, bn_w: Tensor | None,
    bn_b: Tensor | None,
) -> tuple[Parameter, Parameter]:  # fmt: skip
    """Return weight and bias of the linear layer that does what linear layer and batch normalization did."""
    return fuse_conv_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """Return a convolution that does what both did. Both have to be in eval mode."""
    return _fused(conv, bn, transpose)


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """Return a linear layer that does what both did. Both have to be in eval mode."""
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1, got "
            f"linear.out_features={linear.out_features} and bn.num_features={bn.num_features}"
        )
    return _fused(linear, bn, False)


def _fused(layer: Any, bn: Any, transpose: bool) -> Any:
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    fused = copy.deepcopy(layer)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, transpose
    )
    return fused
