"""Rows of spread and size: variance, standard deviation, norms, distances, log-sum-exp, covariance."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._base import dtypes, promotion
from funcgrad._ops.arithmetic import is_integer, magnitude
from funcgrad._ops.broadcasting import broadcast
from funcgrad._ops.checks import scalar_name, wide
from funcgrad._ops.dims import dim_of, dims_of
from funcgrad._ops.reductions import element_count
from funcgrad._ops.table import Array, Dims, DType, Scalar, op


def safe_sqrt(input: Array) -> Array:
    """The square root, with gradient 0 at 0."""
    is_zero = input == 0
    return jnp.where(is_zero, 0, lax.sqrt(jnp.where(is_zero, 1, input)))


def _moments(
    input: Array, name: str, dim: Dims | None, unbiased: bool | None, keepdim: bool, correction: float | None
) -> tuple[Array, Array]:
    """Return variance and mean, computed wide."""
    if is_integer(input):
        raise RuntimeError(f"{name} only support floating point and complex dtypes, but got: {scalar_name(input)}")
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


def _real_like(input: Array) -> np.dtype:
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
    return _moments(input, "std and var", dim, unbiased, keepdim, correction)[0].astype(_real_like(input))


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
    return safe_sqrt(variance).astype(_real_like(input))


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
    return variance.astype(_real_like(input)), center.astype(input.dtype)


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
    return safe_sqrt(variance).astype(_real_like(input)), center.astype(input.dtype)


def _extreme(input: Array, dims: tuple[int, ...], keepdim: bool, is_largest: bool) -> Array:
    return (jnp.max if is_largest else jnp.min)(input, dims, keepdims=keepdim)


_extreme_length = jax.custom_jvp(_extreme, nondiff_argnums=(1, 2, 3))


@_extreme_length.defjvp
def _extreme_length_jvp(
    dims: tuple[int, ...], keepdim: bool, is_largest: bool, primals: tuple[Array], tangents: tuple[Array]
) -> tuple[Array, Array]:
    """All within 4 roundings share the tangent: XLA may compute |z| twice, in two fusions, and round it in two ways.

    None equals the largest then, and the derivative of jnp.max divides by the number of those that do.
    """
    (x,), (dx,) = primals, tangents
    found = _extreme(x, dims, True, is_largest)
    chosen = (jnp.abs(x - found) <= 4 * jnp.finfo(x.dtype).eps * found).astype(x.dtype)
    moved = jnp.sum(dx * chosen, dims, keepdims=keepdim) / jnp.sum(chosen, dims, keepdims=keepdim)
    return found if keepdim else jnp.squeeze(found, dims), moved


def vector_norm_of(input: Array, p: float, dims: tuple[int, ...], keepdim: bool) -> Array:
    """(sum |x|^p)^(1/p) over `dims`, with torch's gradients: 0 where the norm is 0, shared among equal largest."""
    if p == 0:
        return jnp.sum((input != 0).astype(_real_like(input)), dims, keepdims=keepdim)
    if math.isinf(p):
        if element_count(input, dims) == 0:
            raise RuntimeError(
                f"linalg.vector_norm cannot compute the {p} norm on an empty tensor because the operation does not "
                "have an identity"
            )
        extreme = _extreme_length if input.dtype.kind == "c" else _extreme
        return extreme(magnitude(input), dims, keepdim, p > 0)
    if p == 1:
        return jnp.sum(magnitude(input), dims, keepdims=keepdim)
    if p == 2:
        square = lax.square(input) if input.dtype.kind != "c" else lax.real(input * lax.conj(input))
        return safe_sqrt(jnp.sum(square, dims, keepdims=keepdim))
    size = magnitude(input)
    is_zero = size == 0
    power = jnp.where(is_zero, 0 if p > 0 else np.inf, jnp.where(is_zero, 1, size) ** p)
    total = jnp.sum(power.astype(size.dtype), dims, keepdims=keepdim)
    return jnp.where(total == 0, 0, jnp.where(total == 0, 1, total) ** (1 / p))


@op(grad="LinalgVectorNormBackward0")
def norm(
    input: Array,
    p: str | float | None = "fro",
    dim: Dims | None = None,
    keepdim: bool = False,
    dtype: DType | None = None,
) -> Array:
    """The p-norm of all elements or along `dim`; "fro" is the 2-norm, "nuc" the sum of a matrix's singular values."""
    if is_integer(input) and dtype is None:
        raise RuntimeError(
            f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {scalar_name(input)}"
        )
    given = lax.convert_element_type(input, dtype.numpy) if dtype is not None else input
    dims, used = dims_of(input, dim), wide(given)
    if p == "nuc":
        result = jnp.linalg.norm(used, "nuc", dims, keepdims=keepdim)
    else:
        result = vector_norm_of(used, 2.0 if p is None or p == "fro" else float(p), dims, keepdim)
    return result.astype(_real_like(given))


@op(grad="NormBackward1", names="frobenius_norm")
def frobenius_norm(input: Array, dim: Dims, keepdim: bool = False) -> Array:
    """The 2-norm over `dim`."""
    return norm(input, "fro", dim, keepdim)


@op(grad=("SumBackward1", ("LinalgSvdBackward0", "input")), names="nuclear_norm")
def nuclear_norm(input: Array, dim: Dims | None = None, keepdim: bool = False) -> Array:
    """The sum of the singular values of matrices in two dimensions."""
    return norm(input, "nuc", dim, keepdim)


@op(grad="DistBackward0", promote="common")
def dist(input: Array, other: Array, p: float = 2) -> Array:
    """The p-norm of input - other, 0 with gradient 0 where they are equal. Shape: result ()."""
    difference = lax.sub(*broadcast(input, other))
    return vector_norm_of(wide(difference), p, dims_of(difference, None), False).astype(_real_like(difference))


@op(grad="RenormBackward0", names="renorm .renorm .renorm_")
def renorm(input: Array, p: float, dim: int, maxnorm: Scalar) -> Array:
    """Scale each slice along `dim` whose p-norm is above `maxnorm` to it."""
    if input.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {input.ndim} dimensions")
    dim = dim_of(input.ndim, dim)
    size = vector_norm_of(input, p, tuple(d for d in range(input.ndim) if d != dim), True)
    bound = jnp.asarray(maxnorm).astype(size.dtype)
    factor = jnp.where(size > bound, bound / (size + np.asarray(1e-7, size.dtype)), 1)
    return input * factor.astype(input.dtype)


@op(grad="LogsumexpBackward0", promote="float", names="logsumexp .logsumexp special.logsumexp")
def logsumexp(input: Array, dim: Dims, keepdim: bool = False) -> Array:
    """log(sum(exp(input))) over `dim`, safe for large inputs."""
    dims = dims_of(input, dim)
    if input.size == 0:
        return lax.log(jnp.sum(lax.exp(input), dims, keepdims=keepdim))
    return jax.nn.logsumexp(wide(input), dims, keepdims=keepdim).astype(input.dtype)


def _covariance(input: Array, correction: int, fweights: Array | None, aweights: Array | None) -> Array:
    if input.ndim > 2:
        raise RuntimeError(
            f"cov(): expected input to have two or fewer dimensions but got an input with {input.ndim} dimensions"
        )
    rows = input.reshape(1, -1) if input.ndim < 2 else input
    rows = rows.astype(np.float32) if is_integer(rows) else rows
    weight = None if fweights is None else fweights.astype(_real_like(rows))
    if aweights is not None:
        common = promotion.promote_types(dtypes.of_numpy(rows.dtype), dtypes.of_numpy(aweights.dtype))
        rows = rows.astype(common.numpy)
        weight = aweights.astype(_real_like(rows)) * (1 if weight is None else weight)
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
    covariance = _covariance(input, 1, None, None)
    if covariance.ndim == 0:
        return covariance / covariance
    spread = lax.sqrt(jnp.diagonal(covariance))
    ratio = covariance / spread[:, None] / spread[None, :]
    return jnp.clip(ratio, -1, 1) if ratio.dtype.kind != "c" else ratio
