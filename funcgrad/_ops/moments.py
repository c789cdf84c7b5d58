"""Rows of spread: variance, standard deviation, covariance, correlation."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._base import dtypes, promotion
from funcgrad._ops.arithmetic import is_integer
from funcgrad._ops.checks import wide
from funcgrad._ops.dims import dims_of
from funcgrad._ops.reductions import element_count
from funcgrad._ops.table import Array, Dims, op


def safe_sqrt(input: Array) -> Array:
    """The square root, with gradient 0 at 0."""
    is_zero = input == 0
    return jnp.where(is_zero, 0, lax.sqrt(jnp.where(is_zero, 1, input)))


def _moments(
    input: Array, name: str, dim: Dims | None, unbiased: bool | None, keepdim: bool, correction: float | None
) -> tuple[Array, Array]:
    """Return variance and mean, computed wide."""
    if is_integer(input):
        raise RuntimeError(f"{name} only support floating point and complex dtypes")
    if isinstance(dim, bool):  # std(False): torch's older meaning of the first argument
        dim, unbiased = None, dim
    if correction is None:
        correction = 1 if unbiased is None or unbiased else 0
    dims, input = dims_of(input, dim), wide(input)
    center = jnp.mean(input, dims, keepdims=True)
    off = input - center
    square = lax.real(off * lax.conj(off)) if input.dtype.kind == "c" else lax.square(off)
    # As torch: divided by zero, hence NaN or infinity, where there is not more than `correction`.
    freedom = jnp.asarray(max(element_count(input, dims) - correction, 0), square.dtype)
    variance = jnp.sum(square, dims, keepdims=keepdim) / freedom
    return variance, center if keepdim else jnp.squeeze(center, dims)


def real_like(input: Array) -> np.dtype:
    """Return the dtype of the real numbers that go with an array's."""
    return np.real(np.zeros((), input.dtype)).dtype if input.dtype.kind == "c" else input.dtype


@op(grad="VarBackward0")
def var(
    input: Array,
    dim: Dims | None = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Array:
    """sum |x - mean|^2 / (n - correction) over `dim` (default: all)."""
    return _moments(input, "std and var", dim, unbiased, keepdim, correction)[0].astype(real_like(input))


@op(grad="StdBackward0")
def std(
    input: Array,
    dim: Dims | None = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Array:
    """The square root of `var`; the gradient of equal elements is 0."""
    variance = _moments(input, "std and var", dim, unbiased, keepdim, correction)[0]
    return safe_sqrt(variance).astype(real_like(input))


@op(grad="VarMeanBackward0", names="var_mean")
def var_mean(
    input: Array,
    dim: Dims | None = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Array, Array]:
    """`var` and the mean."""
    variance, center = _moments(input, "var_mean", dim, unbiased, keepdim, correction)
    return variance.astype(real_like(input)), center.astype(input.dtype)


@op(grad="StdMeanBackward0", names="std_mean")
def std_mean(
    input: Array,
    dim: Dims | None = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Array, Array]:
    """`std` and the mean."""
    variance, center = _moments(input, "std_mean", dim, unbiased, keepdim, correction)
    return safe_sqrt(variance).astype(real_like(input)), center.astype(input.dtype)


def _covariance(
    input: Array, correction: int, fweights: Array | None, aweights: Array | None, name: str = "cov"
) -> Array:
    if input.ndim > 2:
        raise RuntimeError(
            f"{name}(): expected input to have two or fewer dimensions but got an input with {input.ndim} dimensions"
        )
    rows = input.reshape(1, -1) if input.ndim < 2 else input
    rows = rows.astype(np.float32) if is_integer(rows) else rows
    weight = None if fweights is None else fweights.astype(real_like(rows))
    if aweights is not None:
        common = promotion.promote_types(dtypes.of_numpy(rows.dtype), dtypes.of_numpy(aweights.dtype))
        rows = rows.astype(common.numpy)
        weight = aweights.astype(real_like(rows)) * (1 if weight is None else weight)
    total = rows.shape[1] if weight is None else jnp.sum(weight)
    center = (rows if weight is None else rows * weight).sum(1, keepdims=True) / total
    freedom = total - correction
    if aweights is not None and correction:
        assert weight is not None
        freedom = total - correction * jnp.sum(weight * aweights.astype(weight.dtype)) / total
    off = rows - center
    weighted = off if weight is None else off * weight
    freedom = max(freedom, 0) if isinstance(freedom, int) else jnp.maximum(freedom, 0)
    product = weighted @ (lax.conj(off) if rows.dtype.kind == "c" else off).T
    result = product / jnp.asarray(freedom, rows.dtype)
    return jnp.squeeze(result) if input.ndim < 2 or rows.shape[0] == 1 else result


_COV_NODE = ("DivBackward0", ("MmBackward0", ("SubBackward0", "input"), ("TBackward0", ("SubBackward0", "input"))))


@op(grad=("SqueezeBackward0", _COV_NODE), names="")
def cov(input: Array, *, correction: int = 1, fweights: Array | None = None, aweights: Array | None = None) -> Array:
    """The covariance of the rows. Shape: input (variables, observations), result (variables, variables)."""
    return _covariance(input, correction, fweights, aweights)


@op(grad="ClampBackward1")
def corrcoef(input: Array) -> Array:
    """The correlation coefficients of the rows. Shape: input (variables, observations), result square."""
    covariance = _covariance(input, 1, None, None, "corrcoef")
    if covariance.ndim == 0:
        return covariance / covariance
    spread = lax.sqrt(jnp.diagonal(covariance))
    ratio = covariance / spread[:, None] / spread[None, :]
    return jnp.clip(ratio, -1, 1) if ratio.dtype.kind != "c" else ratio
