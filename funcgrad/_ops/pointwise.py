"""Rows of one input, element by element: exponentials, logarithms, trigonometry, rounding, parts of complex numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._ops.arithmetic import direction, is_bool, is_half, is_integer
from funcgrad._ops.broadcasting import broadcast
from funcgrad._ops.checks import no_kernel, require_number, require_real, scalar_name
from funcgrad._ops.circular import cosine, sine
from funcgrad._ops.table import Array, Scalar, op

Derivative = Callable[[Array, Array], Array]  # (the tangent of the input, the result)


def _by_result(function: Callable[[Array], Array], derivative: Derivative, input: Array) -> Array:
    """Return function(input); in half precision differentiated as torch does, from the result once it is rounded."""
    return _rounded_once(function, derivative, input) if is_half(input) else function(input)


@partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def _rounded_once(function: Callable[[Array], Array], derivative: Derivative, input: Array) -> Array:
    return function(input.astype(np.float32)).astype(input.dtype)


@_rounded_once.defjvp
def _rounded_once_jvp(
    function: Callable[[Array], Array], derivative: Derivative, primals: tuple[Array], tangents: tuple[Array]
) -> tuple[Array, Array]:
    result = _rounded_once(function, derivative, *primals)
    tangent = derivative(tangents[0].astype(np.float32), result.astype(np.float32))
    return result, tangent.astype(result.dtype)


@op(grad="ExpBackward0", promote="float", names="exp .exp .exp_ exp_")
def exp(input: Array) -> Array:
    """e^input."""
    return lax.exp(input)


@op(grad="Exp2Backward0", promote="float", names="exp2 .exp2 .exp2_ exp2_ special.exp2")
def exp2(input: Array) -> Array:
    """2^input."""
    return lax.exp2(input)


@op(grad="Expm1Backward0", promote="float", names="expm1 .expm1 .expm1_ expm1_ special.expm1")
def expm1(input: Array) -> Array:
    """e^input - 1, exact near 0."""
    return lax.expm1(input)


@op(grad="LogBackward0", promote="float", names="log .log .log_ log_")
def log(input: Array) -> Array:
    """The natural logarithm."""
    return lax.log(input)


@op(grad="Log2Backward0", promote="float", names="log2 .log2 .log2_ log2_")
def log2(input: Array) -> Array:
    """The logarithm to base 2."""
    return jnp.log2(input)


@op(grad="Log10Backward0", promote="float", names="log10 .log10 .log10_ log10_")
def log10(input: Array) -> Array:
    """The logarithm to base 10."""
    return jnp.log10(input)


@op(grad="Log1PBackward0", promote="float", names="log1p .log1p .log1p_ log1p_ special.log1p")
def log1p(input: Array) -> Array:
    """log(1 + input), exact near 0."""
    return lax.log1p(input)


@op(grad="SqrtBackward0", promote="float", names="sqrt .sqrt .sqrt_ sqrt_")
def sqrt(input: Array) -> Array:
    """The square root; the gradient at 0 is infinite."""
    return _by_result(lax.sqrt, lambda tangent, result: tangent / (2 * result), input)


@op(grad="RsqrtBackward0", promote="float", names="rsqrt .rsqrt .rsqrt_ rsqrt_")
def rsqrt(input: Array) -> Array:
    """1 / sqrt(input)."""
    return lax.rsqrt(input)


@op(grad="SinBackward0", promote="float", names="sin .sin .sin_ sin_")
def sin(input: Array) -> Array:
    """The sine."""
    return sine(input)


@op(grad="CosBackward0", promote="float", names="cos .cos .cos_ cos_")
def cos(input: Array) -> Array:
    """The cosine."""
    return cosine(input)


@op(grad="TanBackward0", promote="float", names="tan .tan .tan_ tan_")
def tan(input: Array) -> Array:
    """The tangent."""
    return lax.tan(input)


@op(grad="AsinBackward0", promote="float", names="asin .asin .asin_ asin_ arcsin .arcsin .arcsin_ arcsin_")
def asin(input: Array) -> Array:
    """The angle in [-pi/2, pi/2] whose sine is the input."""
    return lax.asin(input)


@op(grad="AcosBackward0", promote="float", names="acos .acos .acos_ acos_ arccos .arccos .arccos_ arccos_")
def acos(input: Array) -> Array:
    """The angle in [0, pi] whose cosine is the input."""
    return lax.acos(input)


@op(grad="AtanBackward0", promote="float", names="atan .atan .atan_ atan_ arctan .arctan .arctan_ arctan_")
def atan(input: Array) -> Array:
    """The angle in (-pi/2, pi/2) whose tangent is the input."""
    return lax.atan(input)


@op(grad="SinhBackward0", promote="float", names="sinh .sinh .sinh_ sinh_")
def sinh(input: Array) -> Array:
    """The hyperbolic sine."""
    return lax.sinh(input)


@op(grad="CoshBackward0", promote="float", names="cosh .cosh .cosh_ cosh_")
def cosh(input: Array) -> Array:
    """The hyperbolic cosine."""
    return lax.cosh(input)


@op(grad="TanhBackward0", promote="float", names="tanh .tanh .tanh_ tanh_ nn.functional.tanh")
def tanh(input: Array) -> Array:
    """The hyperbolic tangent."""
    return _by_result(lax.tanh, lambda tangent, result: tangent * (1 - result * result), input)


@op(grad="AsinhBackward0", promote="float", names="asinh .asinh .asinh_ asinh_ arcsinh .arcsinh .arcsinh_ arcsinh_")
def asinh(input: Array) -> Array:
    """The inverse hyperbolic sine."""
    return lax.asinh(input)


@op(grad="AcoshBackward0", promote="float", names="acosh .acosh .acosh_ acosh_ arccosh .arccosh .arccosh_ arccosh_")
def acosh(input: Array) -> Array:
    """The inverse hyperbolic cosine; NaN below 1."""
    return _complex_acosh(input) if input.dtype.kind == "c" else lax.acosh(input)


@jax.custom_jvp
def _complex_acosh(input: Array) -> Array:
    return lax.acosh(input)


@_complex_acosh.defjvp
def _complex_acosh_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    """By one root for each factor: with that of (x - 1)(x + 1), as JAX has it, the sign is wrong left of the axis."""
    (x,), (dx,) = primals, tangents
    return _complex_acosh(x), dx / (lax.sqrt(x - 1) * lax.sqrt(x + 1))


@op(grad="AtanhBackward0", promote="float", names="atanh .atanh .atanh_ atanh_ arctanh .arctanh .arctanh_ arctanh_")
def atanh(input: Array) -> Array:
    """The inverse hyperbolic tangent; NaN beyond 1."""
    return lax.atanh(input)


_SIGMOID_NAMES = "sigmoid .sigmoid .sigmoid_ sigmoid_ special.expit nn.functional.sigmoid"


@op(grad="SigmoidBackward0", promote="float", names=_SIGMOID_NAMES)
def sigmoid(input: Array) -> Array:
    """1 / (1 + exp(-input))."""
    return _by_result(lax.logistic, lambda tangent, result: tangent * (1 - result) * result, input)


@op(grad="LogitBackward0", promote="float", names="logit .logit .logit_ logit_ special.logit")
def logit(input: Array, eps: float | None = None) -> Array:
    """log(input / (1 - input)), the input kept `eps` away from 0 and 1 on request; NaN beyond, as its gradient."""
    require_real(input, "logit_cpu")
    if eps is not None:
        low, high = np.asarray(eps, input.dtype), np.asarray(1 - eps, input.dtype)
        input = jnp.where(input < low, low, jnp.where(input > high, high, input))
        return lax.log(input) - lax.log1p(-input)
    input *= jnp.where((input < 0) | (input > 1), np.asarray(np.nan, input.dtype), np.asarray(1, input.dtype))
    return lax.log(input) - lax.log1p(-input)


def _rounded(input: Array, function: Any, name: str) -> Array:
    """Round floats; integers are round already."""
    if input.dtype.kind == "c":
        raise NotImplementedError(f"{name} is not supported for complex inputs")
    return input if is_integer(input) else function(input)


@op(grad="FloorBackward0", names="floor .floor .floor_ floor_")
def floor(input: Array) -> Array:
    """The largest integer not above. The gradient is 0."""
    return _rounded(input, lax.floor, "floor")


@op(grad="CeilBackward0", names="ceil .ceil .ceil_ ceil_")
def ceil(input: Array) -> Array:
    """The smallest integer not below. The gradient is 0."""
    return _rounded(input, lax.ceil, "ceil")


@op(grad="TruncBackward0", names="trunc .trunc .trunc_ trunc_ fix .fix .fix_ fix_")
def trunc(input: Array) -> Array:
    """The integer part. The gradient is 0."""
    return _rounded(input, lambda x: jnp.where(x < 0, lax.ceil(x), lax.floor(x)), "trunc")


@op(grad="FracBackward0", names="frac .frac .frac_ frac_")
def frac(input: Array) -> Array:
    """The part behind the point, input - trunc(input)."""
    require_real(input, "frac_cpu")
    return lax.sub(input, trunc(input))


def _round_node(shapes: tuple[Any, ...], statics: tuple[Any, ...]) -> str:
    return "RoundBackward1" if statics and statics[0] else "RoundBackward0"


@op(grad=_round_node, names="round .round .round_ round_ special.round")
def round(input: Array, *, decimals: int = 0) -> Array:
    """Round to `decimals` places, halves to even. The gradient is 0."""
    if decimals and input.dtype.kind in "biuc":
        raise no_kernel("round_cpu", input)
    if is_integer(input) and input.dtype != bool:
        return input
    require_number(input, "round_vml_cpu")
    if not decimals:
        return lax.round(input, lax.RoundingMethod.TO_NEAREST_EVEN)
    ten = np.asarray(10.0 ** (decimals if decimals > 0 else -decimals), input.dtype)
    shifted = input * ten if decimals > 0 else input / ten
    whole = lax.round(shifted, lax.RoundingMethod.TO_NEAREST_EVEN)
    return whole / ten if decimals > 0 else whole * ten


@op(grad="Deg2RadBackward0", promote="float", names="deg2rad .deg2rad .deg2rad_ deg2rad_")
def deg2rad(input: Array) -> Array:
    """Degrees in radians."""
    return input * np.asarray(math.pi / 180, input.dtype)


@op(grad="Rad2DegBackward0", promote="float", names="rad2deg .rad2deg .rad2deg_ rad2deg_")
def rad2deg(input: Array) -> Array:
    """Radians in degrees."""
    return input * np.asarray(180 / math.pi, input.dtype)


@op(grad="SignBackward0", names="sign .sign .sign_")
def sign(input: Array) -> Array:
    """-1, 0 or 1; 0 for NaN. The gradient is 0."""
    if input.dtype.kind == "c":
        raise NotImplementedError(
            "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead."
        )
    if is_bool(input):
        return input
    return lax.sign(input) if is_integer(input) else jnp.where(jnp.isnan(input) | (input == 0), 0, lax.sign(input))


@op(grad="SgnBackward0", names="sgn .sgn .sgn_")
def sgn(input: Array) -> Array:
    """input / |input|, 0 at 0: `sign` for complex numbers too."""
    if input.dtype.kind != "c":
        return sign(input)
    return direction(input)


@op(grad="AngleBackward0", promote="float", names="angle .angle")
def angle(input: Array) -> Array:
    """The angle of a complex number; 0 or pi for a real one."""
    if input.dtype.kind != "c":
        input = lax.stop_gradient(input)
        return jnp.where(jnp.isnan(input), input, jnp.where(input < 0, np.asarray(math.pi, input.dtype), 0))
    is_zero = input == 0
    safe, still = jnp.where(is_zero, 1, input), lax.stop_gradient(input)
    at_zero = lax.atan2(lax.imag(still), lax.real(still))  # the signs of zeros count
    return jnp.where(is_zero, at_zero, lax.atan2(lax.imag(safe), lax.real(safe)))


def _conjugate(input: Array) -> Array:
    return lax.conj(input) if input.dtype.kind == "c" else input


@op(grad="ConjBackward0", names="conj .conj", write_back=lambda base, new: _conjugate(new))
def conj(input: Array) -> Array:
    """The complex conjugate, a view; a real tensor itself."""
    return _conjugate(input)


@op(grad="ConjPhysicalBackward0", names="conj_physical .conj_physical conj_physical_ .conj_physical_")
def conj_physical(input: Array) -> Array:
    """The complex conjugate as a tensor of its own; a real tensor itself."""
    return _conjugate(input)


@op(names="resolve_conj .resolve_conj resolve_neg .resolve_neg", grad="CloneBackward0")
def resolve_conj(input: Array) -> Array:
    """A copy of a conjugate, which is a view; any other tensor itself."""
    return input


@op(grad="ComplexBackward0", names="complex")
def complex(real: Array, imag: Array) -> Array:
    """real + i imag. Shape: broadcast. RuntimeError unless both are float32, or both float64."""
    _require_parts(real, imag, ("float32", "float64"))
    return lax.complex(*broadcast(real, imag))


def _require_parts(first: Array, second: Array, kinds: tuple[str, ...]) -> None:
    if not {first.dtype.name, second.dtype.name} <= {*kinds}:
        found = f"{scalar_name(first)} and {scalar_name(second)}"
        raise RuntimeError(f"Expected both inputs to be Half, Float or Double tensors but got {found}")
    if first.dtype != second.dtype:
        raise RuntimeError(
            f"Expected object of scalar type {scalar_name(first)} but got scalar type {scalar_name(second)} for second "
            "argument"
        )


@op(grad="PolarBackward0", names="polar")
def polar(abs: Array, angle: Array) -> Array:
    """abs * (cos(angle) + i sin(angle)). Shape: broadcast. RuntimeError unless both are float32, or both float64."""
    _require_parts(abs, angle, ("float16", "float32", "float64"))
    if abs.dtype == np.float16:
        raise no_kernel("polar_cpu", abs)
    return _on_circle(*broadcast(abs, angle))


@jax.custom_jvp
def _on_circle(size: Array, angle: Array) -> Array:
    return lax.complex(size * lax.cos(angle), size * lax.sin(angle))


@_on_circle.defjvp
def _on_circle_jvp(primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Array, Array]:
    """As torch derives it, along the result's own direction: for a negative size against it, for size 0 nowhere."""
    found = _on_circle(*primals)
    size, angle = (x.astype(found.dtype) for x in tangents)
    return found, direction(found) * size + found * np.asarray(1j, found.dtype) * angle


@op(grad="NanToNumBackward0", names="nan_to_num .nan_to_num nan_to_num_ .nan_to_num_")
def nan_to_num(
    input: Array, nan: Scalar | None = None, posinf: Scalar | None = None, neginf: Scalar | None = None
) -> Array:
    """Put numbers for NaN (0) and the infinities (the dtype's largest and smallest). Their gradient is 0."""
    if is_integer(input):
        return input
    if input.dtype.kind == "c":
        return lax.complex(*(nan_to_num(part, nan, posinf, neginf) for part in (lax.real(input), lax.imag(input))))
    limits = jnp.finfo(input.dtype)
    high = limits.max if posinf is None else posinf
    low = limits.min if neginf is None else neginf
    result = jnp.where(jnp.isnan(input), jnp.asarray(0 if nan is None else nan, input.dtype), input)
    result = jnp.where(input == np.inf, jnp.asarray(high, input.dtype), result)
    return jnp.where(input == -np.inf, jnp.asarray(low, input.dtype), result)


@op(names="frexp .frexp", results="mantissa exponent", grad="FrexpBackward0")
def frexp(input: Array) -> tuple[Array, Array]:
    """Split into a mantissa in [0.5, 1) and an int32 exponent: input = mantissa * 2^exponent."""
    _, exponent = jnp.frexp(lax.stop_gradient(input))
    scale = jnp.exp2(-exponent.astype(input.dtype))
    return jnp.where(jnp.isfinite(input), input * scale, input), exponent.astype(np.int32)
