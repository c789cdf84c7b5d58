"""Rows that round to a grid of integers and come back: what training for quantised inference computes with."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._ops.arithmetic import is_number
from funcgrad._ops.checks import require_floating, scalar_name
from funcgrad._ops.dims import dim_of
from funcgrad._ops.table import Array, Operand, op


def _node(shapes: tuple[Any, ...], statics: tuple[Any, ...]) -> str:
    kind = "" if is_number(shapes[1]) else "TensorQparams"
    return f"FakeQuantizePerTensorAffineCachemask{kind}Backward0"


@op(grad=_node, names="fake_quantize_per_tensor_affine")
def fake_quantize_per_tensor_affine(
    input: Array, scale: Operand, zero_point: Operand, quant_min: int, quant_max: int
) -> Array:
    """(clamp(round(input / scale) + zero_point, quant_min, quant_max) - zero_point) * scale.

    The gradient passes straight through where nothing was clamped. Raises RuntimeError for an empty range.
    """
    for given in (scale, zero_point):
        if np.size(given) != 1:
            raise RuntimeError(f"a Tensor with {np.size(given)} elements cannot be converted to Scalar")
    _require_range(quant_min, quant_max)
    require_floating(input, "fake_quantize_tensor_cachemask_kernel_type_handling")
    return _on_grid(input, jnp.reshape(scale, ()), jnp.reshape(zero_point, ()), quant_min, quant_max)


@op(grad="FakeQuantizePerChannelAffineCachemaskBackward0", names="fake_quantize_per_channel_affine")
def fake_quantize_per_channel_affine(
    input: Array, scale: Array, zero_point: Array, axis: int, quant_min: int, quant_max: int
) -> Array:
    """fake_quantize_per_tensor_affine with a scale and a zero point for each channel. Shape: both (channels,)."""
    if scale.dtype.name not in ("float32", "bfloat16"):
        raise RuntimeError(f"Scale must be Float or BFloat16, found {scalar_name(scale)}")
    if zero_point.dtype.name not in ("int32", "float32", "float16"):
        raise RuntimeError(f"Zero-point must be Int32, Float or Half, found {scalar_name(zero_point)}")
    for given, name in ((scale, "scale"), (zero_point, "zero point")):
        if given.ndim != 1:
            raise RuntimeError(f"{name} should be a 1-D tensor")
    if scale.shape != zero_point.shape:
        raise RuntimeError("scale and zero-point need to have the same dimensions")
    if input.shape[dim_of(input.ndim, axis)] != scale.size:
        raise RuntimeError("dimensions of scale and zero-point are not consistent with input tensor")
    _require_range(quant_min, quant_max)
    if axis < 0:
        raise RuntimeError("`axis` must be between 0 and number of dimensions of input")
    require_floating(input, "fake_quantize_channel_cachemask_cpu_type_handling")
    shape = [1] * input.ndim
    shape[axis] = -1
    return _on_grid(input, scale.reshape(shape), zero_point.reshape(shape), quant_min, quant_max)


def _require_range(quant_min: int, quant_max: int) -> None:
    if quant_min > quant_max:  # the gap is torch's
        raise RuntimeError("`quant_min` should be less than or         equal to `quant_max`.")


def _on_grid(input: Array, scale: Array, zero_point: Array, quant_min: int, quant_max: int) -> Array:
    values = lax.stop_gradient(input)
    scale = lax.stop_gradient(jnp.asarray(scale, np.float32))
    between = jnp.issubdtype(jnp.asarray(zero_point).dtype, jnp.inexact)  # zero lies between two integers
    zero_point = jnp.asarray(zero_point).astype(np.float32)
    shifted = values * (np.float32(1) / scale) + (zero_point if between else 0)
    rounded = lax.round(shifted, lax.RoundingMethod.TO_NEAREST_EVEN) + (0 if between else zero_point)
    on_grid = ((jnp.clip(rounded, quant_min, quant_max) - zero_point) * scale).astype(input.dtype)
    is_inside = (rounded >= quant_min) & (rounded <= quant_max)
    return on_grid + jnp.where(is_inside, input - values, jnp.zeros_like(input))
