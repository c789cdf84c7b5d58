"""Rows of special functions: error functions, gamma and Bessel functions, entropies; torch.special's names."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.custom_derivatives import SymbolicZero
from jax.scipy import special

from funcgrad._ops.broadcasting import broadcast
from funcgrad._ops.checks import no_kernel, require_floating, require_real, wide
from funcgrad._ops.table import Array, Operand, op


@op(grad="ErfBackward0", promote="float", names="erf .erf .erf_ erf_ special.erf")
def erf(input: Array) -> Array:
    """2 / sqrt(pi) times the integral of exp(-t^2) from 0 to the input, in [-1, 1]."""
    require_real(input, "erf_vml_cpu")
    near = lax.erf(input)  # in single precision up to 2.4e-7 beyond 1, where a probability would be refused
    return near + lax.stop_gradient(jnp.clip(near, -1, 1) - near)


@op(grad="ErfcBackward0", promote="float", names="erfc .erfc .erfc_ erfc_ special.erfc")
def erfc(input: Array) -> Array:
    """1 - erf(input), exact where that is small."""
    require_real(input, "erfc_vml_cpu")
    return lax.erfc(input)


@op(grad="ErfinvBackward0", promote="float", names="erfinv .erfinv .erfinv_ special.erfinv")
def erfinv(input: Array) -> Array:
    """The inverse of erf on (-1, 1)."""
    require_real(input, "erfinv_vml_cpu")
    return lax.erf_inv(input)


@op(grad="LgammaBackward0", promote="float", names="lgamma .lgamma .lgamma_ special.gammaln")
def lgamma(input: Array) -> Array:
    """log |gamma(input)|."""
    require_real(input, "lgamma_vml_cpu")
    return _lgamma(wide(input)).astype(input.dtype)


@jax.custom_jvp
def _lgamma(input: Array) -> Array:
    return jnp.where((input == 1) | (input == 2), 0, lax.lgamma(input))


@_lgamma.defjvp
def _lgamma_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    """By `_digamma`, whose own derivative is right below 0."""
    return _lgamma(primals[0]), _digamma(primals[0]) * tangents[0]


@op(grad="DigammaBackward0", promote="float", names="digamma .digamma .digamma_ special.digamma special.psi")
def digamma(input: Array) -> Array:
    """The derivative of lgamma."""
    return _digamma(wide(input)).astype(input.dtype)


@jax.custom_jvp
def _digamma(input: Array) -> Array:
    return jnp.where(input == 0, jnp.copysign(np.asarray(np.inf, input.dtype), -input), lax.digamma(input))


@_digamma.defjvp
def _digamma_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    """JAX's own rule is wrong below 0."""
    return _digamma(primals[0]), trigamma(primals[0]) * tangents[0]


def _past_whole(input: Array) -> Array:
    """Return what the input is past the nearest whole number: exact, unlike pi times a large number."""
    return input - lax.stop_gradient(lax.round(input, lax.RoundingMethod.TO_NEAREST_EVEN))


def trigamma(input: Array) -> Array:
    """The derivative of digamma, by reflection below 1/2: (pi / sin(pi x))^2 - trigamma(1 - x)."""
    low = input < 0.5
    right = special.polygamma(1, jnp.where(low, 1 - input, jnp.where(input == np.inf, 1, input)))
    right = jnp.where(input == np.inf, 0, right)
    return jnp.where(low, (math.pi / lax.sin(math.pi * _past_whole(jnp.where(low, input, 0.5)))) ** 2 - right, right)


@op(grad="PolygammaBackward0", names="polygamma special.polygamma")
def polygamma(n: int, input: Array) -> Array:
    """The n-th derivative of digamma."""
    return _polygamma(input, n)


@op(grad="PolygammaBackward0", names=".polygamma .polygamma_")
def polygamma_method(input: Array, n: int) -> Array:
    """The n-th derivative of digamma."""
    return _polygamma(input, n)


def _polygamma(input: Array, n: int) -> Array:
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    input = _to_float(input)
    kind, input = input.dtype, wide(input)
    if n < 2:
        return (trigamma(input) if n else digamma(input)).astype(kind)
    order = jnp.full((), n + 1, input.dtype)
    return ((-1) ** (n + 1) * math.factorial(n) * _zeta(order, input)).astype(kind)


def _to_float(input: Array) -> Array:
    return input.astype(np.float32) if input.dtype.kind in "iub" else input


@op(grad="MvlgammaBackward0", promote="float", names="mvlgamma .mvlgamma .mvlgamma_ special.multigammaln")
def mvlgamma(input: Array, p: int) -> Array:
    """The logarithm of the gamma function of `p` dimensions. RuntimeError for p below 1."""
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    require_real(input, "arange_cpu")
    constant = p * (p - 1) / 4 * math.log(math.pi)
    halves = np.arange(p, dtype=input.dtype) / 2
    return jnp.sum(_lgamma(input[..., None] - halves), -1) + np.asarray(constant, input.dtype)


@op(grad="IgammaBackward0", promote="common", names="igamma .igamma .igamma_ special.gammainc")
def igamma(input: Array, other: Array) -> Array:
    """The regularized lower incomplete gamma function. Shape: broadcast."""
    return _of_gamma(lax.igamma, 0, *broadcast(input, other))


@op(grad="IgammacBackward0", promote="common", names="igammac .igammac .igammac_ special.gammaincc")
def igammac(input: Array, other: Array) -> Array:
    """The regularized upper incomplete gamma function. Shape: broadcast."""
    return _of_gamma(lax.igammac, 1, *broadcast(input, other))


def _of_gamma(function: Callable[..., Array], at_infinity: int, a: Array, x: Array) -> Array:
    """Compute an incomplete gamma function, of which XLA does not know the limit for an infinite `a`."""
    limit = jnp.where(jnp.isinf(x), np.asarray(np.nan, a.dtype), np.asarray(at_infinity, a.dtype))
    return jnp.where(jnp.isinf(a), limit, function(a, x))


@op(grad="SincBackward0", promote="float", names="sinc .sinc .sinc_ sinc_ special.sinc")
def sinc(input: Array) -> Array:
    """sin(pi x) / (pi x), 1 at 0."""
    return _sinc(input)


@jax.custom_jvp
def _sinc(input: Array) -> Array:
    return jnp.sinc(input)


@_sinc.defjvp
def _sinc_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    """Along with (x cos x - sin x) / x^2 at x = pi input; near 0, where that cancels out, its Taylor series."""
    (input,), (tangent,) = primals, tangents
    x = input * np.asarray(np.pi, input.dtype)
    is_near = jnp.abs(x) < 0.3
    far, near = jnp.where(is_near, jnp.ones_like(x), x), jnp.where(is_near, x, jnp.zeros_like(x))
    square = near * near
    series = 0 - near * (1 / 3 - square * (1 / 30 - square * (1 / 840 - square * (1 / 45360 - square / 3991680))))
    slope = jnp.where(is_near, series, (far * jnp.cos(far) - jnp.sin(far)) / (far * far))
    return _sinc(input), (slope * np.asarray(np.pi, input.dtype) * tangent).astype(input.dtype)


@op(grad="I0Backward0", promote="float", names="i0 .i0 .i0_ i0_ special.i0 special.modified_bessel_i0")
def i0(input: Array) -> Array:
    """The modified Bessel function of order 0."""
    return _i0(input)


@jax.custom_jvp
def _i0(input: Array) -> Array:
    return special.i0(input)


@_i0.defjvp
def _i0_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    """i1: JAX's own rule goes through |x| and has no derivative at 0."""
    return _i0(primals[0]), _i1(primals[0]) * tangents[0]


@op(grad="SpecialI0EBackward0", promote="float", names="special.i0e")
def special_i0e(input: Array) -> Array:
    """exp(-|x|) i0(x)."""
    return special.i0e(input)


@op(grad="SpecialI1Backward0", promote="float", names="special.i1 special.modified_bessel_i1")
def special_i1(input: Array) -> Array:
    """The modified Bessel function of order 1."""
    return _i1(input)


@jax.custom_jvp
def _i1(input: Array) -> Array:
    return special.i1(input)


@_i1.defjvp
def _i1_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    """i0 - i1 / x: JAX's own rule has no second derivative at 0."""
    (x,), (dx,) = primals, tangents
    is_far = jnp.abs(x) > jnp.finfo(x.dtype).eps  # NaN is not, as in torch
    safe = jnp.where(is_far, x, 1)
    return _i1(x), jnp.where(is_far, _i0(safe) - _i1(safe) / safe, 0.5) * dx


@op(grad="SpecialI1EBackward0", promote="float", names="special.i1e")
def special_i1e(input: Array) -> Array:
    """exp(-|x|) i1(x)."""
    return special.i1e(input)


_NDTR_GRAD = ("MulBackward1", ("AddBackward1", ("ErfBackward0", ("MulBackward1", "input"))))


@op(grad=_NDTR_GRAD, promote="float", names="special.ndtr")
def special_ndtr(input: Array) -> Array:
    """The normal distribution's cumulative probability."""
    return (1 + erf(input * np.asarray(math.sqrt(0.5), input.dtype))) * np.asarray(0.5, input.dtype)


@op(grad="SpecialNdtriBackward0", promote="float", names="special.ndtri")
def special_ndtri(input: Array) -> Array:
    """The inverse of ndtr. The gradient is infinite at 0 and 1."""
    if input.dtype.itemsize == 2:
        raise no_kernel("ndtri_cpu", input)
    return _normal_quantile(input)


@jax.custom_jvp
def _normal_quantile(share: Array) -> Array:
    return special.ndtri(share)


@_normal_quantile.defjvp
def _normal_quantile_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    """By sqrt(2 pi) exp(y^2 / 2)."""
    quantile = _normal_quantile(primals[0])
    return quantile, math.sqrt(2 * math.pi) * jnp.exp(jnp.square(quantile) / 2) * tangents[0]


@op(grad="SpecialLogNdtrBackward0", promote="float", names="special.log_ndtr")
def special_log_ndtr(input: Array) -> Array:
    """log(ndtr(input)), exact where that is small."""
    return special.log_ndtr(input)


@op(grad="SpecialEntrBackward0", promote="float", names="special.entr")
def special_entr(input: Array) -> Array:
    """-x log(x), 0 at 0, -infinity below. The gradient, -1 - log(x), is infinite at 0."""
    return _entropy(input)


@jax.custom_jvp
def _entropy(input: Array) -> Array:
    positive = input > 0
    safe = jnp.where(positive, input, 1)
    inside = jnp.where(positive, -safe * lax.log(safe), 0 * input)
    return jnp.where(input < 0, np.asarray(-np.inf, input.dtype), inside)


@_entropy.defjvp
def _entropy_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    (x,), (dx,) = primals, tangents
    return _entropy(x), (-1 - lax.log(x)) * dx


@op(grad="SpecialErfcxBackward0", promote="float", names="special.erfcx")
def special_erfcx(input: Array) -> Array:
    """exp(x^2) erfc(x), the scaled complementary error function."""
    large = input > 5
    near = jnp.where(large, 0, input)
    far = jnp.where(large, input, 6)
    square = 1 / (2 * far * far)
    # The asymptotic series, whose last term is below 1e-7 beyond 5, where exp(x^2) erfc(x) loses digits and overflows.
    series = 1 - square * (1 - 3 * square * (1 - 5 * square * (1 - 7 * square * (1 - 9 * square * (1 - 11 * square)))))
    return jnp.where(large, series / (far * np.asarray(math.sqrt(math.pi), input.dtype)), _scaled_erfc(near))


@jax.custom_jvp
def _scaled_erfc(x: Array) -> Array:
    return jnp.exp(x**2) * lax.erfc(x)


@_scaled_erfc.defjvp
def _scaled_erfc_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    """2 x erfcx(x) - 2 / sqrt(pi): the product's own rule has infinity times 0 where the result is infinite."""
    (x,), (dx,) = primals, tangents
    found = _scaled_erfc(x)
    return found, (2 * x * found - np.asarray(2 / math.sqrt(math.pi), x.dtype)) * dx


def _xlogy_node(shapes: tuple[object, ...], statics: tuple[object, ...]) -> str:
    return f"XlogyBackward{1 if isinstance(shapes[0], type) else 2 if isinstance(shapes[1], type) else 0}"


@op(grad=_xlogy_node, promote="float", names="xlogy .xlogy .xlogy_ xlogy_ special.xlogy")
def xlogy(input: Operand, other: Operand) -> Array:
    """input * log(other), 0 where input is 0. Shape: broadcast."""
    return _product_with(lax.log, 1, *broadcast(input, other))


def _xlog1py_node(shapes: tuple[object, ...], statics: tuple[object, ...]) -> str:
    return f"SpecialXlog1PyBackward{1 if isinstance(shapes[0], type) else 2 if isinstance(shapes[1], type) else 0}"


@op(grad=_xlog1py_node, promote="float", names="special.xlog1py")
def special_xlog1py(input: Operand, other: Operand) -> Array:
    """input * log(1 + other), 0 where input is 0. Shape: broadcast."""
    return _product_with(lax.log1p, 0, *broadcast(input, other))


@partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def _product_with(logarithm: Callable[[Array], Array], one: int, input: Array, other: Array) -> Array:
    """x log(y), where `one` is the y whose logarithm is 0."""
    vanishes = (input == 0) & ((other <= one - 1) | (other == np.inf))
    product = input * logarithm(jnp.where(vanishes, one, other))
    return jnp.where(jnp.isnan(other), other, jnp.where(vanishes, 0, product))


@_product_with.defjvp
def _product_with_jvp(
    logarithm: Callable[[Array], Array], one: int, primals: tuple[Array, Array], tangents: tuple[Array, Array]
) -> tuple[Array, Array]:
    """By x it is log(y) also at x = 0, unless y has none; by y it is x / y, undefined where both are 0."""
    (input, other), (by_input, by_other) = primals, tangents
    has_none = (input == 0) & (other <= one - 1)
    slope = jnp.where(has_none, 0, logarithm(jnp.where(has_none, one, other)))
    tangent = slope * by_input + input / (other + (1 - one)) * by_other
    return _product_with(logarithm, one, input, other), tangent


_SMALLEST_SHARE = 2.0**-53  # of a sum of doubles that a term still changes


@jax.custom_jvp
def _zeta(s: Array, q: Array) -> Array:
    """Sum the terms whose base is negative one by one: lax.zeta goes no further than nine terms."""
    s, q = broadcast(s, q)
    is_pole = (s == 1) | (~(s < 1) & (q <= 0) & (q == lax.floor(q)))
    is_defined = (s > 1) & ((q > 0) | (s == lax.floor(s)))
    count = jnp.where(is_defined & ~is_pole & (q < 0), -lax.floor(q), 0)

    def add(pair: tuple[Array, Array]) -> tuple[Array, Array]:
        k, total = pair
        return k + 1, total + jnp.where(k < count, lax.pow(jnp.where(k < count, q + k, 1), -s), 0)

    last = jnp.max(count, initial=0)
    _, head = lax.while_loop(lambda pair: pair[0] < last, add, (jnp.zeros_like(last), jnp.zeros_like(q)))
    tail = lax.zeta(jnp.where(is_defined, s, 2), jnp.where(is_defined & ~is_pole, q + count, 1))
    first = lax.pow(jnp.where(q > 0, q, 1), -s)
    is_all = (q > 0) & (lax.pow(q + 1, -s) < _SMALLEST_SHARE * first)  # the others are lost in rounding, and in 0 * inf
    found = jnp.where(is_all, first, jnp.where(is_defined, head + tail, np.nan))
    return jnp.where(is_pole, np.inf, found).astype(q.dtype)


def _zeta_jvp(primals: tuple[Array, Array], tangents: tuple[Any, Any]) -> tuple[Array, Array]:
    """By q -s zeta(s + 1, q); by s what the sum of `_summed_zeta` has."""
    (s, q), (ds, dq) = primals, tangents
    tangent = jnp.zeros_like(q) if isinstance(dq, SymbolicZero) else -s * _zeta(s + 1, q) * dq
    if not isinstance(ds, SymbolicZero):
        tangent += jax.jvp(lambda s: _summed_zeta(s, q), (s,), (ds,))[1]
    return _zeta(s, q), tangent


_zeta.defjvp(_zeta_jvp, symbolic_zeros=True)
# B_2j / (2j)! of the Bernoulli numbers, j = 1, 2, ...
_BERNOULLI = 1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000, 1 / 74724249600


def _summed_zeta(s: Array, q: Array) -> Array:
    """Return zeta(s, q) of q > 0 as nine terms and Euler and Maclaurin's formula for the rest; NaN for other q.

    Source: https://dlmf.nist.gov/25.11.E7.
    """
    base = jnp.where(q > 0, q, np.nan)
    total = sum(jnp.exp(-s * jnp.log(base + k)) for k in range(9))
    base += 9
    power = jnp.exp(-s * jnp.log(base))
    total += power * (base / (s - 1) + 0.5)
    factor = s / base
    for j, bernoulli in enumerate(_BERNOULLI):
        total += bernoulli * factor * power
        factor *= (s + 2 * j + 1) * (s + 2 * j + 2) / base**2
    return total


def _zeta_node(shapes: tuple[object, ...], statics: tuple[object, ...]) -> str:
    return f"SpecialZetaBackward{1 if isinstance(shapes[0], type) else 0}"


@op(grad=_zeta_node, promote="float", names="special.zeta")
def special_zeta(input: Operand, other: Operand) -> Array:
    """The Hurwitz zeta function, the sum of (k + other)^-input. Shape: broadcast."""
    return _zeta(*broadcast(input, other))


@op(names="heaviside .heaviside .heaviside_")
def heaviside(input: Array, values: Array) -> Array:
    """0 below 0, 1 above, `values` at 0. Shape: broadcast."""
    if input.dtype != values.dtype:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")
    input, values = broadcast(input, values)
    return jnp.where(input == 0, values, jnp.where(input > 0, 1, 0).astype(input.dtype))


@jax.custom_jvp
def _next(input: Array, other: Array) -> Array:
    return lax.nextafter(input, other)


@_next.defjvp
def _next_jvp(primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Array, Array]:
    """Where both are equal the result is `other`, which torch gives no gradient."""
    return _next(*primals), jnp.where(primals[0] == primals[1], 0, tangents[0])


@op(grad="NextafterBackward0", promote="common", names="nextafter .nextafter .nextafter_")
def nextafter(input: Array, other: Array) -> Array:
    """The next representable number from `input` towards `other`. Shape: broadcast."""
    require_floating(input, "nextafter_cpu")
    return _next(*broadcast(input, other))
