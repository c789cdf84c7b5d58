"""Rows: softmax, its logarithm, and the logarithm of a sum of exponentials."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._ops.arithmetic import is_half, refuse_negation
from funcgrad._ops.backends import on_cpu
from funcgrad._ops.checks import require_real_floating, wide
from funcgrad._ops.dims import dim_of, dims_of
from funcgrad._ops.table import Array, Dims, DType, op


@partial(jax.custom_jvp, nondiff_argnums=(1, 2))
def softmax_of(input: Array, axis: int, safe: bool = False) -> Array:
    """exp(input) / sum(exp(input)); safe: zeros in place of NaN where all inputs are -inf.

    Its derivative needs the result alone. What JAX derives keeps both parts of the quotient.
    """
    highest = jnp.max(input, axis, keepdims=True, initial=-np.inf)
    powers = lax.exp(input - (jnp.where(jnp.isneginf(highest), 0, highest) if safe else highest))
    total = jnp.sum(powers, axis, keepdims=True)
    return powers / (jnp.where(total == 0, 1, total) if safe else total)


@softmax_of.defjvp
def _softmax_of_jvp(axis: int, safe: bool, primals: Any, tangents: Any) -> tuple[Array, Array]:
    (result,), (moved,) = (softmax_of(x, axis, safe) for x in primals), tangents
    return result, result * (moved - jnp.sum(result * moved, axis, keepdims=True))


@op(grad="SoftmaxBackward0", names="softmax .softmax special.softmax nn.functional.softmax")
def softmax(input: Array, dim: int | None = None, dtype: DType | None = None) -> Array:
    """exp(input) / sum(exp(input)) along `dim`, safe for large inputs. Shape: input (*), result the same."""
    input, axis = _prepared(input, dim, dtype, "softmax")
    return softmax_of(wide(input), axis).astype(input.dtype) if input.ndim else jnp.ones_like(input)


@op(grad="SafeSoftmaxBackward0", names="_safe_softmax")
def safe_softmax(input: Array, dim: int, dtype: DType | None = None) -> Array:
    """softmax along `dim`, but 0 where all of its inputs are -inf. Shape: input (*), result the same."""
    input, axis = _prepared(input, dim, dtype, "softmax")
    if not input.ndim:
        return jnp.where(input > -jnp.inf, jnp.ones_like(input), 0)
    return softmax_of(wide(input), axis, True).astype(input.dtype)


@op(grad=("SoftmaxBackward0", ("NegBackward0", "input")), names="nn.functional.softmin")
def softmin(input: Array, dim: int | None = None, dtype: DType | None = None) -> Array:
    """softmax(-input) along `dim`. Shape: input (*), result the same."""
    refuse_negation(input.dtype.kind == "b")
    return softmax(-input, dim, dtype)


def log_softmax_of(input: Array, axis: int, kind: Any) -> Array:
    """log(softmax(input)) in the dtype `kind`: 16 bits in float32, then rounded.

    Along the last dimension torch's kernel for CPUs rounds the sum, too, and its logarithm.
    """
    if np.dtype(kind).itemsize != 2 or axis != input.ndim - 1 or not on_cpu():
        return jax.nn.log_softmax(wide(input), axis).astype(kind)
    below = _below_highest(wide(input), axis)
    total = _rounded(jnp.sum(lax.exp(below), axis, keepdims=True), kind)
    return (below - _rounded(lax.log(total), kind)).astype(kind)


def _below_highest(input: Array, axis: int) -> Array:
    return input - lax.stop_gradient(jnp.max(input, axis, keepdims=True, initial=-np.inf))


def _rounded(wide: Array, kind: Any) -> Array:
    return wide.astype(kind).astype(wide.dtype)


@op(grad="LogSoftmaxBackward0", names="log_softmax .log_softmax special.log_softmax nn.functional.log_softmax")
def log_softmax(input: Array, dim: int | None = None, dtype: DType | None = None) -> Array:
    """log(softmax(input)) along `dim`, safe for large inputs. Shape: input (*), result the same."""
    input, axis = _prepared(input, dim, dtype, "log_softmax")
    return log_softmax_of(input, axis, input.dtype) if input.ndim else jnp.zeros_like(input)


@op(grad="SoftmaxBackwardDataBackward0", names="_softmax_backward_data")
def softmax_backward_data(grad_output: Array, output: Array, dim: int, input_dtype: DType) -> Array:
    """The gradient that `softmax` passes on, from the one it gets and what it gave. Shape: all the same."""
    grad, given = wide(grad_output), wide(output)
    total = jnp.sum(grad * given, dim_of(given.ndim, dim), keepdims=True) if given.ndim else grad * given
    return (given * (grad - total)).astype(input_dtype.numpy)


@op(grad="LogSoftmaxBackwardDataBackward0", names="_log_softmax_backward_data")
def log_softmax_backward_data(grad_output: Array, output: Array, dim: int, input_dtype: DType) -> Array:
    """The gradient that `log_softmax` passes on, from the one it gets and what it gave. Shape: all the same."""
    grad, given = wide(grad_output), wide(output)
    total = jnp.sum(grad, dim_of(given.ndim, dim), keepdims=True) if given.ndim else grad
    return (grad - jnp.exp(given) * total).astype(input_dtype.numpy)


@op(grad="LogsumexpBackward0", promote="float", names="logsumexp .logsumexp special.logsumexp")
def logsumexp(input: Array, dim: Dims, keepdim: bool = False) -> Array:
    """log(sum(exp(input))) over `dim`, safe for large inputs."""
    dims = dims_of(input, dim)
    if input.size == 0:
        return lax.log(jnp.sum(lax.exp(input), dims, keepdims=keepdim))
    if not is_half(input) or not on_cpu():
        return jax.nn.logsumexp(wide(input), dims, keepdims=keepdim).astype(input.dtype)
    kind, highest = input.dtype, lax.stop_gradient(jnp.max(input, dims, keepdims=True)).astype(np.float32)
    highest = jnp.where(jnp.isinf(highest), 0, highest)
    powers = _rounded(lax.exp(_rounded(wide(input) - highest, kind)), kind)  # each of torch's functions rounds
    total = _rounded(jnp.sum(powers, dims, keepdims=True), kind)
    result = (_rounded(lax.log(total), kind) + highest).astype(kind)
    return result if keepdim else jnp.squeeze(result, dims)


def kernel_of_axis(name: str, input: Array, axis: int) -> str:
    """Return the name of torch's kernel: along the last dimension it is another one."""
    return f"{name}_lastdim_kernel_impl" if axis == max(input.ndim - 1, 0) else f"{name}_kernel_impl"


def _prepared(input: Array, dim: int | None, dtype: DType | None, name: str) -> tuple[Array, int]:
    """Return the input in the wanted dtype, and the axis; for None torch's old choice by number of dimensions."""
    if dtype is not None:
        input = input.astype(dtype.numpy)
    if dim is None:
        dim = 0 if input.ndim in (0, 1, 3) else 1
    axis = dim_of(input.ndim, dim)
    require_real_floating(input, kernel_of_axis(name, input, axis))
    return input, axis
