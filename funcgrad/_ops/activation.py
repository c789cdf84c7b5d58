"""Rows: activations, elementwise and gated, each with torch's gradient at its kinks."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
from jax import lax

from funcgrad._ops.arithmetic import magnitude
from funcgrad._ops.checks import (
    require_bounds,
    require_floating,
    require_number,
    require_real,
    require_real_floating,
    scalar_name,
    size_text,
)
from funcgrad._ops.dims import dim_of
from funcgrad._ops.table import Array, op


@op(grad="ReluBackward0", names="relu .relu relu_ .relu_ nn.functional.relu nn.functional.relu_")
def relu(input: Array) -> Array:
    """max(input, 0); the gradient at 0 is 0 and NaN stays NaN. Shape: input (*), result the same."""
    if input.dtype.kind == "b":
        raise RuntimeError("Boolean inputs not supported for relu")
    require_bounds(input)
    return jnp.where(input <= 0, jnp.zeros_like(input), input)


@op(grad="HardtanhBackward0", names="nn.functional.relu6")
def relu6(input: Array) -> Array:
    """min(max(input, 0), 6). Shape: input (*), result the same."""
    return hardtanh(input, 0.0, 6.0)


@op(grad="HardtanhBackward0", names="nn.functional.hardtanh nn.functional.hardtanh_")
def hardtanh(input: Array, min_val: float = -1.0, max_val: float = 1.0) -> Array:
    """min(max(input, min_val), max_val); no gradient at the bounds. Shape: input (*), result the same."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    if input.dtype.kind == "b":
        raise RuntimeError("Bool inputs not supported for hardtanh")
    if input.dtype.kind == "u" and (min_val < 0 or max_val < 0):
        raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
    require_bounds(input)
    if input.dtype.kind in "iu" and not (math.isfinite(min_val) and math.isfinite(max_val)):
        raise RuntimeError("value cannot be converted to type int64_t without overflow")
    low, high = (jnp.full_like(input, bound) for bound in (min_val, max_val))
    return jnp.where(input <= low, low, jnp.where(input >= high, high, input))


@op(grad="LeakyReluBackward0", names="nn.functional.leaky_relu nn.functional.leaky_relu_")
def leaky_relu(input: Array, negative_slope: float = 0.01) -> Array:
    """input where it is positive, else negative_slope * input. Shape: input (*), result the same."""
    require_real(input, "leaky_relu_cpu")
    require_floating(input, "leaky_relu_cpu")
    return jnp.where(input > 0, input, input * negative_slope)


@op(grad="EluBackward0", names="nn.functional.elu nn.functional.elu_")
def elu(input: Array, alpha: float = 1.0) -> Array:
    """input where it is positive, else alpha * (exp(input) - 1). Shape: input (*), result the same."""
    require_real(input, "elu_cpu")
    require_floating(input, "elu_cpu")
    return _elu(input, alpha, 1.0, 1.0)


@op(grad="EluBackward0", names="selu selu_ nn.functional.selu nn.functional.selu_")
def selu(input: Array) -> Array:
    """scale * elu(input, alpha) with the constants that keep mean 0 and variance 1. Shape: input (*), result the same.

    Source: Klambauer et al. 2017, https://arxiv.org/abs/1706.02515.
    """
    require_real(input, "elu_cpu")
    require_floating(input, "elu_cpu")
    return _elu(input, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1.0)


@op(grad="CeluBackward0", names="celu celu_ nn.functional.celu nn.functional.celu_")
def celu(input: Array, alpha: float = 1.0) -> Array:
    """input where it is positive, else alpha * (exp(input / alpha) - 1). Shape: input (*), result the same."""
    require_real(input, "elu_cpu")
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    require_floating(input, "elu_cpu")
    return _elu(input, alpha, 1.0, 1.0 / alpha)


@op(grad="GeluBackward0", names="nn.functional.gelu")
def gelu(input: Array, approximate: str = "none") -> Array:
    """input * P(X <= input) for a normal X, or its tanh approximation. Shape: input (*), result the same."""
    require_real(input, "GeluKernelImpl")
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    require_floating(input, "GeluKernelImpl")
    return jax.nn.gelu(input, approximate=approximate == "tanh")


@op(grad="SiluBackward0", names="nn.functional.silu")
def silu(input: Array) -> Array:
    """input * sigmoid(input). Shape: input (*), result the same."""
    require_floating(input, "silu_cpu")
    return input * lax.logistic(input)


@op(grad="MishBackward0", names="nn.functional.mish")
def mish(input: Array) -> Array:
    """input * tanh(log(1 + exp(input))). Shape: input (*), result the same."""
    require_real_floating(input, "mish_cpu")
    return input * jnp.tanh(log1p_exp(input))


@op(grad="HardsigmoidBackward0", names="nn.functional.hardsigmoid")
def hardsigmoid(input: Array) -> Array:
    """min(max(input + 3, 0), 6) / 6; no gradient at the bounds and NaN. Shape: input (*), result the same."""
    require_real_floating(input, "hardsigmoid_cpu")
    moved = input + 3
    return jnp.where(jnp.abs(input) < 3, moved, lax.stop_gradient(hardtanh(moved, 0.0, 6.0))) / 6


@op(grad="HardswishBackward0", names="nn.functional.hardswish")
def hardswish(input: Array) -> Array:
    """input * min(max(input + 3, 0), 6) / 6; the gradient at NaN is 1. Shape: input (*), result the same."""
    require_real(input, "hardswish_cpu")
    require_floating(input, "hardswish_cpu")
    is_inner = jnp.abs(input) < 3
    inner = jnp.where(is_inner, input, 0)
    return jnp.where(input <= -3, 0 * input, jnp.where(is_inner, inner * (inner + 3) / 6, input))


@op(grad="SoftplusBackward0", names="nn.functional.softplus")
def softplus(input: Array, beta: float = 1.0, threshold: float = 20.0) -> Array:
    """log(1 + exp(beta * input)) / beta, and input itself beyond the threshold. Shape: input (*), result the same."""
    require_real(input, "softplus_cpu")
    require_floating(input, "softplus_cpu")
    scaled = input * beta
    return jnp.where(scaled > threshold, input, log1p_exp(scaled) / beta)


@op(
    grad=("DivBackward0", "input", ("AddBackward0", ("AbsBackward0", "input"))),
    promote="float", names="nn.functional.softsign",
)  # fmt: skip
def softsign(input: Array) -> Array:
    """input / (1 + |input|). Shape: input (*), result the same."""
    return input / (magnitude(input) + 1)


@op(grad=("SubBackward0", "input", ("TanhBackward0", "input")), promote="float", names="nn.functional.tanhshrink")
def tanhshrink(input: Array) -> Array:
    """input - tanh(input). Shape: input (*), result the same."""
    return input - jnp.tanh(input)


@op(grad="SoftshrinkBackward0", names="nn.functional.softshrink")
def softshrink(input: Array, lambd: float = 0.5) -> Array:
    """input moved towards 0 by lambd, and 0 within it. Shape: input (*), result the same."""
    require_real_floating(input, "softshrink_check")
    most = float(jnp.finfo(input.dtype).max)
    if not 0 <= lambd <= most:
        raise RuntimeError(
            f"lambda must be in range [0, {most:g}] for input dtype {scalar_name(input)}, but found {lambd:g}"
        )
    moved = jnp.where(input > 0, input - lambd, input + lambd)
    return jnp.where(jnp.abs(input) <= lambd, input * 0, moved)  # -0 of negative ones


@op(grad="HardshrinkBackward0", names="hardshrink .hardshrink nn.functional.hardshrink")
def hardshrink(input: Array, lambd: float = 0.5) -> Array:
    """input, and 0 where |input| <= lambd. Shape: input (*), result the same."""
    require_real_floating(input, "hardshrink_cpu")
    return jnp.where(jnp.abs(input) <= lambd, jnp.zeros_like(input), input)


@op(grad="ThresholdBackward0", names="threshold threshold_ nn.functional.threshold nn.functional.threshold_")
def threshold(input: Array, threshold: float, value: float) -> Array:
    """input where it is above the threshold, else value. Shape: input (*), result the same."""
    require_number(input, "threshold_cpu")
    return jnp.where(input <= threshold, jnp.full_like(input, value), input)


def _prelu_grad(shapes: tuple, statics: tuple) -> tuple:
    return (
        "PreluKernelBackward0",
        "input",
        "weight" if len(shapes[0]) == len(shapes[1]) else ("ViewBackward0", "weight"),
    )


@op(grad=_prelu_grad, names="prelu .prelu nn.functional.prelu")
def prelu(input: Array, weight: Array) -> Array:
    """input where it is positive, else weight * input. Shape: input (N, C, *), weight (), (1,) or (C,).

    A RuntimeError tells of a weight with more dimensions, or with neither one value nor one for each channel.
    """
    if weight.ndim > 1:
        raise RuntimeError(f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.ndim}")
    if input.dtype != weight.dtype:
        raise RuntimeError(f"prelu: Type promoting not supported. Got {scalar_name(input)} and {scalar_name(weight)}")
    require_real_floating(input, "prelu_cpu")
    if weight.size != 1:
        if not input.ndim:
            raise RuntimeError("prelu: Not allow zero-dim input tensor.")
        channels = input.shape[1] if input.ndim > 1 else 1
        if channels != weight.size:
            raise RuntimeError(
                "Mismatch of parameter numbers and input channel size. "
                f"Found parameter numbers = {weight.size} and channel size = {channels}."
            )
        weight = weight.reshape(-1, *(1,) * (input.ndim - 2)) if input.ndim > 1 else weight
    else:
        weight = weight.reshape(())
    return jnp.where(input > 0, input, weight * input)


@op(grad="GluBackward0", names="nn.functional.glu")
def glu(input: Array, dim: int = -1) -> Array:
    """first half * sigmoid(second half) along `dim`. Shape: input (*, 2N, *), result (*, N, *).

    RuntimeError for an odd size.
    """
    if not input.ndim:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    require_real_floating(input, "glu_cpu")
    axis = dim_of(input.ndim, dim)
    if input.shape[axis] % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {axis} is size {input.shape[axis]}")
    value, gate = jnp.split(input, 2, axis)
    return value * lax.logistic(gate)


@op(grad="LogSigmoidBackward0", names="nn.functional.logsigmoid")
def logsigmoid(input: Array) -> Array:
    """log(sigmoid(input)), safe for large negative inputs. Shape: input (*), result the same."""
    require_real_floating(input, "log_sigmoid_cpu")
    return 0 - log1p_exp(-input)  # of large numbers 0, not -0


@op(grad="RreluWithNoiseBackward0", names="")
def rrelu_with_slopes(input: Array, slopes: Array) -> Array:
    """input where it is positive, else slope * input, each its own slope. Shape: both (*), result the same."""
    if input.shape != slopes.shape:
        raise RuntimeError(
            f"rrelu: expected slopes of size {size_text(input.shape)}, but got {size_text(slopes.shape)}"
        )
    return jnp.where(input > 0, input, lax.stop_gradient(slopes) * input)


def _elu(input: Array, alpha: float, scale: float, input_scale: float) -> Array:
    """Below 0 the exponential, at 0 a line of its slope, so that the second derivative there is 0, as torch's is."""
    negative = jnp.where(input < 0, input, jnp.zeros_like(input))
    slope = jnp.where(input == 0, alpha * scale * input_scale, scale).astype(input.dtype)
    return jnp.where(input < 0, jnp.expm1(negative * input_scale) * (alpha * scale), input * slope)


@jax.custom_jvp
def log1p_exp(x: Array) -> Array:
    """log(1 + exp(x)) without overflow; its derivative is sigmoid(x), to every order."""
    return jnp.maximum(x, 0) + jnp.log1p(jnp.exp(-jnp.abs(x)))


@log1p_exp.defjvp
def _log1p_exp_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    return log1p_exp(primals[0]), lax.logistic(primals[0]) * tangents[0]
