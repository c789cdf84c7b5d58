"""Rows that run along one dimension: cumulative sums, products, largest; differences and integrals."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._ops.arithmetic import complex_logaddexp, is_bool, is_integer, real_logaddexp, to_float
from funcgrad._ops.broadcasting import broadcast
from funcgrad._ops.checks import no_kernel, require_real, wide
from funcgrad._ops.dims import dim_of
from funcgrad._ops.reductions import as_summed
from funcgrad._ops.table import Array, DType, Scalar, op


def _along(function: Callable[..., Array], input: Array, dim: int) -> Array:
    dim = dim_of(input.ndim, dim)
    return input if input.ndim == 0 or input.size == 0 else function(input, dim)


@op(grad="CumsumBackward0", names="cumsum .cumsum .cumsum_")
def cumsum(input: Array, dim: int, *, dtype: DType | None = None) -> Array:
    """The running sum along `dim`. Integers and truth values give int64."""
    return _along(lax.cumsum, _terms(input, dtype, "cumsum_out_cpu"), dim)


@op(grad="CumprodBackward0", names="cumprod .cumprod .cumprod_")
def cumprod(input: Array, dim: int, *, dtype: DType | None = None) -> Array:
    """The running product along `dim`. Integers and truth values give int64."""
    return _along(lax.cumprod, _terms(input, dtype, "cumprod_out_cpu"), dim)


def _terms(input: Array, dtype: DType | None, kernel: str) -> Array:
    terms = as_summed(input, dtype)
    if is_bool(terms):
        raise no_kernel(kernel, terms)
    return terms


@op(grad="LogcumsumexpBackward0", promote="float")
def logcumsumexp(input: Array, dim: int) -> Array:
    """The running log-sum-exp along `dim`."""
    if input.dtype.kind == "c":
        return _along(_complex_logcumsumexp, input, dim)
    return _along(_real_logcumsumexp, wide(input), dim).astype(input.dtype)


def _real_logcumsumexp(input: Array, dim: int) -> Array:
    return _with_shares(dim, input)


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _with_shares(dim: int, input: Array) -> Array:
    """The running log-sum-exp, whose derivatives are those of `real_logaddexp` where there are infinities."""
    return lax.cumlogsumexp(input, dim)


@_with_shares.defjvp
def _with_shares_jvp(dim: int, primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    (input,), (tangent,) = primals, tangents
    result = _with_shares(dim, input)

    def join(before: tuple[Array, Array], after: tuple[Array, Array]) -> tuple[Array, Array]:
        (a, da), (b, db) = before, after
        return real_logaddexp(a, b), lax.logistic(a - b) * da + lax.logistic(b - a) * db

    return result, lax.associative_scan(join, (input, tangent), axis=dim)[1]


def _complex_logcumsumexp(input: Array, dim: int) -> Array:
    """One after the other, since the branch of the logarithm depends on the order."""

    def step(sum: Array, next: Array) -> tuple[Array, Array]:
        sum = complex_logaddexp(next, sum)
        return sum, sum

    parts = jnp.moveaxis(input, dim, 0)
    _, rest = lax.scan(step, parts[0], parts[1:])
    return jnp.moveaxis(jnp.concatenate([parts[:1], rest]), 0, dim)


def _running(input: Array, dim: int, cumulate: Callable[..., Array]) -> tuple[Array, Array]:
    """Return the running largest or smallest and the last place where it was reached."""
    dim = dim_of(input.ndim, dim)
    if input.ndim == 0 or input.size == 0:
        return input, jnp.zeros(input.shape, np.int64)
    ordered = input.astype(np.uint8) if is_bool(input) else input
    best = cumulate(lax.stop_gradient(ordered), dim)
    reached = ordered == best if is_integer(ordered) else (ordered == best) | jnp.isnan(ordered)
    place = lax.broadcasted_iota(np.int32, input.shape, dim)
    indices = lax.cummax(jnp.where(reached, place, 0), dim)
    return jnp.take_along_axis(input, indices, dim), indices.astype(np.int64)


@op(grad="CummaxBackward0", results="values indices")
def cummax(input: Array, dim: int) -> tuple[Array, Array]:
    """The largest so far along `dim`, and where it last was; that place gets the gradient."""
    require_real(input, "cummax_cpu")
    return _running(input, dim, lax.cummax)


@op(grad="CumminBackward0", results="values indices")
def cummin(input: Array, dim: int) -> tuple[Array, Array]:
    """The smallest so far along `dim`, and where it last was; that place gets the gradient."""
    require_real(input, "cummin_cpu")
    return _running(input, dim, lax.cummin)


def _ends(input: Array, dim: int) -> tuple[Array, Array]:
    """Return all but the last and all but the first along `dim`."""
    size = input.shape[dim]
    return lax.slice_in_dim(input, 0, max(size - 1, 0), axis=dim), lax.slice_in_dim(input, min(1, size), size, axis=dim)


@op(grad=("SubBackward0", ("SliceBackward0", "input"), ("SliceBackward0", "input")), promote="common")
def diff(input: Array, n: int = 1, dim: int = -1, prepend: Array | None = None, append: Array | None = None) -> Array:
    """The n-th difference of neighbours along `dim`; xor for truth values."""
    dim = dim_of(input.ndim, dim)
    if input.ndim == 0:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    for part in (prepend, append):
        if part is not None:
            _check_end(input, part, dim)
    if n == 0:
        return input
    parts = [part for part in (prepend, input, append) if part is not None]
    joined = jnp.concatenate(parts, dim) if len(parts) > 1 else input
    for _ in range(n):
        before, after = _ends(joined, dim)
        joined = after ^ before if is_bool(joined) else after - before
    return joined


def _check_end(input: Array, part: Array, dim: int) -> None:
    """RuntimeError for what `diff` cannot join to its input."""
    if part.ndim != input.ndim:
        raise RuntimeError("diff expects prepend or append to be the same dimension as input")
    for d, (wanted, given) in enumerate(zip(input.shape, part.shape, strict=True)):
        if d != dim and wanted != given:
            raise RuntimeError(
                "diff expects the shape of tensor to prepend or append to match that of input except along the "
                f"differencing dimension; input.size({d}) = {wanted}, but got tensor.size({d}) = {given}"
            )


def _check_points(y: Array, x: Array | None, dim: int, function: str) -> None:
    """RuntimeError for truth values, or where points along one dimension are not as many as samples."""
    if is_bool(y) or (x is not None and is_bool(x)):
        given = "`y`" if x is None else "`x` or `y`"
        raise RuntimeError(f"{function}: received a bool input for {given}, but bool is not supported")
    if x is not None and x.ndim == 1 and x.shape[0] != y.shape[dim]:
        raise RuntimeError(f"{function}: There must be one `x` value for each sample point")


def _panels(y: Array, x: Array | None, dx: Scalar, dim: int) -> Array:
    """Return the areas between neighbouring samples along `dim`, already halved."""
    before, after = _ends(y, dim)
    heights = to_float(before + after)
    if x is None:
        return heights * jnp.asarray(dx).astype(heights.dtype) / 2
    points = x.reshape((-1,) + (1,) * (y.ndim - 1 - dim)) if x.ndim == 1 else x
    first, second = _ends(points, points.ndim - (y.ndim - dim) if x.ndim > 1 else 0)
    widths = second - first
    common = jnp.promote_types(heights.dtype, widths.dtype)
    return jnp.multiply(*broadcast(heights.astype(common), widths.astype(common))) / 2


@op(
    grad=lambda shapes, statics: "MulBackward1" if shapes[1] is None else "DivBackward1",
    names="trapezoid trapz",
)
def trapezoid(y: Array, x: Array | None = None, *, dx: Scalar = 1, dim: int = -1) -> Array:
    """The integral along `dim` of samples `y` at the points `x`, or `dx` apart, by the trapezoidal rule."""
    if y.ndim == 0:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    dim = dim_of(y.ndim, dim)
    _check_points(y, x, dim, "trapezoid")
    if x is None and y.shape[dim]:
        total = jnp.sum(y, dim, dtype=np.int64 if is_integer(y) else None)
        ends = lax.index_in_dim(y, 0, dim, keepdims=False) + lax.index_in_dim(y, -1, dim, keepdims=False)
        return (to_float(total) - to_float(ends) * 0.5) * jnp.asarray(dx).astype(to_float(ends).dtype)
    return jnp.sum(_panels(y, x, dx, dim), dim)


@op(
    grad=lambda shapes, statics: "CumsumBackward0" if shapes[1] is None else "DivBackward1",
    names="cumulative_trapezoid",
)
def cumulative_trapezoid(y: Array, x: Array | None = None, *, dx: Scalar = 1, dim: int = -1) -> Array:
    """The running integral along `dim` by the trapezoidal rule. Shape: one less than `y` along `dim`."""
    if y.ndim == 0:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    dim = dim_of(y.ndim, dim)
    _check_points(y, x, dim, "cumulative_trapezoid")
    return lax.cumsum(_panels(y, x, dx, dim), dim)
