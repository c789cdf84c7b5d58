"""Rows: normalizations that also return the mean and the inverse deviation they used, under torch's native names."""

from __future__ import annotations

import math

import jax.numpy as jnp
from jax import lax

from funcgrad._ops.arithmetic import magnitude
from funcgrad._ops.checks import wide
from funcgrad._ops.dims import dim_of
from funcgrad._ops.loss_reduction import completed
from funcgrad._ops.normalization import batch_norm_eval, batch_norm_train, group_norm, layer_norm
from funcgrad._ops.table import Array, Dims, Scalar, op


def _statistics(input: Array, axes: Dims, eps: float) -> tuple[Array, Array]:
    given = wide(input)
    return given.mean(axes), lax.rsqrt(given.var(axes) + eps)


@op(grad=("NativeLayerNormBackward0", "input", "weight", "bias"), names="")
def native_layer_norm(
    input: Array, normalized_shape: Dims, weight: Array | None, bias: Array | None, eps: float
) -> tuple[Array, Array, Array]:
    """What `layer_norm` gives, and mean and inverse deviation, with ones for the normalized dimensions."""
    result = layer_norm(input, normalized_shape, weight, bias, eps)
    kept = input.ndim - len(normalized_shape)
    statistics = _statistics(lax.stop_gradient(input), tuple(range(kept, input.ndim)), eps)
    shape = (*input.shape[:kept], *(1,) * len(normalized_shape))
    mean, rstd = (x.reshape(shape).astype(input.dtype) for x in statistics)
    return result, mean, rstd


@op(grad=("NativeGroupNormBackward0", "input", "weight", "bias"), names="native_group_norm")
def native_group_norm(
    input: Array, weight: Array | None, bias: Array | None, N: int, C: int, HxW: int, group: int, eps: float
) -> tuple[Array, Array, Array]:  # fmt: skip
    """What `group_norm` gives, and mean and inverse deviation of each group. Shape: (N, C, *), (N, group) twice."""
    if input.size != N * C * HxW:
        raise RuntimeError(f"native_group_norm: expected {N * C * HxW} elements, but got {list(input.shape)}")
    if input.size == 0:
        nothing = jnp.zeros((N, group), input.dtype)
        return input, nothing, nothing
    result = group_norm(input.reshape(N, C, *input.shape[2:]), group, weight, bias, eps).reshape(input.shape)
    mean, rstd = (x.astype(input.dtype) for x in _statistics(input.reshape(N, group, -1), (2,), eps))
    return result, mean, rstd


@op(grad=("NativeBatchNormBackward0", "input", "weight", "bias"), names="")
def native_batch_norm_train(
    input: Array, weight: Array | None = None, bias: Array | None = None, running_mean: Array | None = None,
    running_var: Array | None = None, momentum: Scalar = 0.1, eps: float = 1e-5,
) -> tuple[Array, ...]:  # fmt: skip
    """What `batch_norm` gives in training, mean and inverse deviation of each channel, and the new running ones."""
    result, *moved = batch_norm_train(input, running_mean, running_var, weight, bias, momentum, eps)
    axes = (0, *range(2, input.ndim))
    mean, inverse = (x.astype(input.dtype) for x in _statistics(lax.stop_gradient(input), axes, eps))
    return (result, mean, inverse, *moved)


@op(grad=("NativeBatchNormBackward0", "input", "weight", "bias"), names="")
def native_batch_norm_eval(
    input: Array, running_mean: Array, running_var: Array, weight: Array | None = None, bias: Array | None = None,
    eps: float = 1e-5,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """What `batch_norm` gives by running statistics, and two empty tensors."""
    empty = jnp.zeros((0,), running_mean.dtype)
    return batch_norm_eval(input, running_mean, running_var, weight, bias, eps), empty, empty


@op(grad="DivBackward0", names="norm_except_dim")
def norm_except_dim(v: Array, pow: float = 2, dim: int = 0) -> Array:
    """The norm over all dimensions but one, which are kept as ones; over all for dim -1 (0-d result)."""
    axes = tuple(d for d in range(v.ndim) if dim == -1 or d != dim % v.ndim)
    norm = jnp.sum(magnitude(v) ** pow, axes, keepdims=dim != -1)
    safe = jnp.where(norm == 0, 1, norm)
    return jnp.where(norm == 0, 0, safe ** (1 / pow)).astype(v.dtype)


def _weight_norm_grad(shapes: tuple, statics: tuple) -> tuple:
    (dim,), rank = completed(statics, 0), len(shapes[0])
    if dim in (0, rank - 1):
        return ("WeightNormInterfaceBackward0", "v", "g")
    length: tuple = ("NormBackward0", "v")
    if dim != -1:
        rows = ("ViewBackward0", ("CloneBackward0", ("TransposeBackward0", "v")))
        length = ("TransposeBackward0", ("ViewBackward0", ("NormBackward1", rows)))
    return ("MulBackward0", "v", ("DivBackward0", "g", length))


@op(grad=_weight_norm_grad, names="_weight_norm")
def weight_norm(v: Array, g: Array, dim: int = 0) -> Array:
    """v * g / |v|, the norm taken over all dimensions but `dim`, or over all for -1. Shape: as v."""
    axes = tuple(d for d in range(v.ndim) if dim == -1 or d != dim_of(v.ndim, dim))
    given = wide(v)
    length = jnp.sqrt(jnp.square(given).sum(axes, keepdims=dim != -1))
    return (given * (wide(g) / length)).astype(v.dtype)


@op(grad="NativeChannelShuffleBackward0", names="native_channel_shuffle nn.functional.native_channel_shuffle")
def native_channel_shuffle(input: Array, groups: int) -> Array:
    """Deal the channels of each group out in turn. Shape: input (N, C, *), result the same."""
    batch, channels = input.shape[:2]
    split = input.reshape(batch, groups, channels // groups, math.prod(input.shape[2:]))
    return jnp.swapaxes(split, 1, 2).reshape(input.shape)
