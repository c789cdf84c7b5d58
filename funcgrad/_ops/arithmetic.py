"""Rows of arithmetic between tensors and numbers: + - * / // % **, their relatives and their operators."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.custom_derivatives import SymbolicZero

from funcgrad._base import dtypes, promotion
from funcgrad._base.cpp_names import c_type_name, scalar_type_name
from funcgrad._ops.backends import on_cpu
from funcgrad._ops.broadcasting import broadcast
from funcgrad._ops.checks import require_floating, require_number, require_real, wide
from funcgrad._ops.quotients import divided
from funcgrad._ops.table import Array, Operand, Scalar, in_dtype, op

Shapes = tuple[Any, ...]


def is_bool(array: Array) -> bool:
    """Tell whether an array holds truth values."""
    return array.dtype == np.bool_


def is_half(array: Array) -> bool:
    """Tell whether an array holds floats of 16 bits."""
    return array.dtype.itemsize == 2 and array.dtype.kind in "fV"


def is_integer(array: Array) -> bool:
    """Tell whether an array holds integers or truth values."""
    return array.dtype.kind in "iub"


def to_float(array: Array) -> Array:
    """Cast integers and truth values to the default float dtype; floats stay."""
    return in_dtype(array, promotion.as_float(dtypes.of_numpy(array.dtype)).numpy)


def is_number(shape: Any) -> bool:
    """Tell whether an entry of the shapes that a `grad` function gets stands for a Python number."""
    return isinstance(shape, type)


def _scaled(other: Array, alpha: Scalar) -> Array:
    """Multiply by torch's `alpha`, checking its category."""
    is_float = isinstance(alpha, float) or (hasattr(alpha, "dtype") and jnp.issubdtype(alpha.dtype, jnp.floating))
    if is_float and is_integer(other):
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    if isinstance(alpha, (bool, int, float)) and alpha == 1:
        return other
    if is_half(other):
        return _scaled_in_float32(other, jnp.asarray(alpha, np.float32))
    factor = jnp.full(other.shape, alpha, other.dtype)
    return other & factor if is_bool(other) else lax.mul(other, factor)


@jax.custom_jvp
def _scaled_in_float32(other: Array, alpha: Array) -> Array:
    return wide(other) * wide(alpha.astype(other.dtype))


@_scaled_in_float32.defjvp
def _scaled_in_float32_jvp(primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Array, Array]:
    """By alpha as it was given: torch's kernel rounds it, its gradient does not."""
    return _scaled_in_float32(*primals), wide(tangents[0]) * primals[1]


def _sum(function: Callable[[Array, Array], Array], input: Array, scaled: Array) -> Array:
    """Add, or subtract, what was scaled; 16-bit floats are rounded after that."""
    if scaled.dtype == input.dtype:
        return function(*broadcast(input, scaled))
    return function(*broadcast(wide(input), scaled)).astype(input.dtype)


def _number_second(name: str) -> Any:
    """Show a call with a number in front as torch does, which puts the number behind the tensor."""
    return lambda shapes, statics: (name, "other", None) if is_number(shapes[0]) else name


_ADD_NAMES = "add .add .add_ .__add__ .__radd__ .__iadd__"


@op(grad=_number_second("AddBackward0"), promote="common", names=_ADD_NAMES, numbers="typed")
def add(input: Operand, other: Operand, *, alpha: Scalar = 1) -> Array:
    """input + alpha * other; `or` for truth values. Shape: broadcast."""
    return _sum(jnp.add, input, _scaled(other, alpha))


def _sub_node(shapes: Shapes, statics: Shapes) -> Any:
    return ("RsubBackward1", "other") if is_number(shapes[0]) else "SubBackward0"


_SUB_NAMES = "sub .sub .sub_ subtract .subtract .subtract_ .__sub__ .__rsub__ .__isub__"


def without_truth_values(operands: Sequence[tuple[int, dtypes.dtype]]) -> dtypes.dtype:
    """Return the dtype that tensors to be subtracted are promoted to. RuntimeError for truth values."""
    refuse_truth_values([kind is dtypes.bool_ for _, kind in operands])
    return promotion.result_type(operands)


def refuse_truth_values(are_bool: Sequence[bool]) -> None:
    """Raise RuntimeError where one of two tensors to be subtracted, or both, are of truth values."""
    if all(are_bool):
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. "
            "Use the `^` or `logical_xor()` operator instead."
        )
    if any(are_bool):
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. "
            "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead."
        )


@op(grad=_sub_node, promote=without_truth_values, names=_SUB_NAMES, numbers="typed")
def sub(input: Operand, other: Operand, *, alpha: Scalar = 1) -> Array:
    """input - alpha * other. Shape: broadcast. Raises RuntimeError for truth values."""
    return _sum(lax.sub, input, _scaled(other, alpha))


def _rsub_node(shapes: Shapes, statics: Shapes) -> str:
    return "RsubBackward1" if is_number(shapes[1]) else "RsubBackward0"


@op(grad=_rsub_node, promote=without_truth_values, names="rsub")
def rsub(input: Array, other: Operand, alpha: Scalar = 1) -> Array:
    """other - alpha * input. Shape: broadcast. Raises RuntimeError for truth values."""
    return sub(other, input, alpha=alpha)


_MUL_NAMES = "mul .mul .mul_ multiply .multiply .multiply_ .__mul__ .__rmul__ .__imul__"


@op(grad=_number_second("MulBackward0"), promote="exact", names=_MUL_NAMES, numbers="typed")
def mul(input: Operand, other: Operand) -> Array:
    """input * other; `and` for truth values. Shape: broadcast."""
    input, other = broadcast(input, other)
    return jnp.multiply(input, other)


def _div_node(shapes: Shapes, statics: Shapes) -> Any:
    if is_number(shapes[0]):
        return ("MulBackward0", ("ReciprocalBackward0", "other"), None)
    return "DivBackward2" if statics and statics[0] is not None else "DivBackward0"


_DIV_NAMES = (
    "div .div .div_ divide .divide .divide_ true_divide .true_divide .true_divide_ "
    ".__truediv__ .__rtruediv__ .__itruediv__ .__div__ .__rdiv__ .__idiv__"
)


@op(grad=_div_node, promote="quotient", names=_DIV_NAMES, numbers="typed")
def div(input: Operand, other: Operand, *, rounding_mode: str | None = None) -> Array:
    """input / other, rounded to zero ("trunc") or down ("floor") on request. Integers give floats unless rounded."""
    if rounding_mode is None:
        return _quotient(input, other)
    input, other = map(lax.stop_gradient, broadcast(input, other))
    if rounding_mode == "trunc":
        require_number(input, "div_trunc_cpu")
        return lax.div(input, other) if is_integer(input) else jnp.trunc(lax.div(input, other))
    if rounding_mode == "floor":
        return _floor_of_quotient(input, other)
    raise RuntimeError(f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'")


def _quotient(input: Array, other: Array) -> Array:
    """Divide. XLA divides by what is stretched, or known, by multiplying with its inverse, which is rounded itself.

    7 / 7 would be 0.99999994. PyTorch does so on GPUs, where it is faster; on CPUs it divides.
    """
    numerator, divisor = broadcast(to_float(input), to_float(other))
    is_inverted = divisor.shape != other.shape or isinstance(other, np.ndarray)
    if is_inverted and on_cpu() and divisor.dtype.kind != "c":
        divisor = lax.optimization_barrier(divisor)
    return divided(numerator, divisor)


def _floor_of_quotient(input: Array, other: Array) -> Array:
    """Divide and round down, exactly also where the float quotient would round up to the next integer."""
    require_number(input, "div_floor_cpu")
    if is_integer(input):
        quotient = lax.div(input, other)
        if input.dtype.kind != "i":
            return quotient
        inexact = (lax.sign(input) != lax.sign(other)) & (lax.rem(input, other) != 0)
        return jnp.where(inexact, quotient - np.ones((), quotient.dtype), quotient)
    rest = lax.rem(input, other)
    quotient = lax.div(input - rest, other)
    one = np.ones((), quotient.dtype)
    quotient = jnp.where((rest != 0) & ((other < 0) != (rest < 0)), quotient - one, quotient)
    floor = lax.floor(quotient)
    floor = jnp.where(quotient - floor > 0.5, floor + one, floor)
    exact = lax.div(input, other)
    floor = jnp.where(quotient == 0, lax.stop_gradient(exact) * np.zeros((), floor.dtype), floor)  # -0 too
    return jnp.where(other == 0, exact, floor)


_FLOOR_NAMES = "floor_divide .floor_divide .floor_divide_ .__floordiv__ .__rfloordiv__ .__ifloordiv__"


@op(promote="common", names=_FLOOR_NAMES)
def floor_divide(input: Operand, other: Operand) -> Array:
    """floor(input / other), integers staying integers. Shape: broadcast."""
    return _floor_of_quotient(*broadcast(input, other))


def _remainder_node(shapes: Shapes, statics: Shapes) -> str:
    return "RemainderBackward0" if is_number(shapes[1]) else "RemainderBackward1"


@op(
    grad=_remainder_node,
    promote="common",
    names="remainder .remainder .remainder_ .__mod__ .__rmod__ .__imod__",
)
def remainder(input: Operand, other: Operand) -> Array:
    """input - other * floor(input / other), with the divisor's sign. Shape: broadcast."""
    input, other = broadcast(input, other)
    require_number(input, "remainder_cpu")
    return _rest(input, other) if is_integer(input) else _rest_of_floats(input, other)


def _rest(input: Array, other: Array) -> Array:
    rest = lax.rem(input, other)
    return jnp.where((rest != 0) & ((rest < 0) != (other < 0)), rest + other, rest)


_rest_of_floats = jax.custom_jvp(_rest)


def _rest_jvp(primals: tuple[Array, Array], tangents: tuple[Any, Any]) -> tuple[Array, Any]:
    """By the divisor: the quotient rounded down exactly, where lax.rem has a rounded one."""
    (x, y), (dx, dy) = primals, tangents
    if type(dy) is SymbolicZero:
        return _rest_of_floats(x, y), dx
    by_divisor = -dy * lax.stop_gradient(_floor_of_quotient(x, y))
    return _rest_of_floats(x, y), by_divisor if type(dx) is SymbolicZero else dx + by_divisor


_rest_of_floats.defjvp(_rest_jvp, symbolic_zeros=True)


def _fmod_node(shapes: Shapes, statics: Shapes) -> str:
    return "FmodBackward0" if is_number(shapes[1]) else "FmodBackward1"


@op(grad=_fmod_node, promote="common", names="fmod .fmod .fmod_")
def fmod(input: Array, other: Operand) -> Array:
    """input - other * trunc(input / other), with the dividend's sign. Shape: broadcast."""
    require_number(input, "fmod_cpu")
    return lax.rem(*broadcast(input, other))


@op(grad="NegBackward0", names="neg .neg .neg_ neg_ negative .negative .negative_ negative_ .__neg__")
def neg(input: Array) -> Array:
    """-input. Raises RuntimeError for truth values."""
    refuse_negation(is_bool(input))
    return lax.neg(input)


def refuse_negation(is_of_truth_values: bool) -> None:
    """Raise RuntimeError where a tensor to be negated is of truth values."""
    if is_of_truth_values:
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. "
            "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead."
        )


@op(names="positive", grad="AliasBackward0")
def positive(input: Array) -> Array:
    """+input, the same tensor. Raises RuntimeError for truth values."""
    if is_bool(input):
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


@op(grad="ReciprocalBackward0", promote="float", names="reciprocal .reciprocal .reciprocal_ reciprocal_")
def reciprocal(input: Array) -> Array:
    """1 / input."""
    return lax.integer_pow(input, -1)


@jax.custom_jvp
def magnitude(input: Array) -> Array:
    """|input| with torch's gradient: 0 at 0, where lax.abs has 1. Infinite where one part is, whatever the other."""
    result = lax.abs(input)
    if input.dtype.kind != "c":
        return result
    return jnp.where(jnp.isinf(lax.real(input)) | jnp.isinf(lax.imag(input)), np.inf, result)


@magnitude.defjvp
def _magnitude_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    (x,), (dx,) = primals, tangents
    if x.dtype.kind != "c":
        return magnitude(x), jnp.where(jnp.isnan(x), 0, lax.sign(x)) * dx
    return magnitude(x), lax.real(lax.conj(direction(x)) * dx)


@jax.custom_jvp
def direction(input: Array) -> Array:
    """input / |input|, 0 at 0: how a complex number points."""
    return lax.sign(input)


@direction.defjvp
def _direction_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    """What turns it, over its size: JAX's own rule divides by |x|^3, which is 0 for small numbers."""
    (x,), (dx,) = primals, tangents
    unit, size = direction(x), magnitude(x)
    turned = (dx - unit * lax.real(lax.conj(unit) * dx)) / jnp.where(size == 0, 1, size)
    return unit, jnp.where(size == 0, 0, turned)


@op(grad="AbsBackward0", names="abs .abs .abs_ abs_ absolute .absolute .absolute_ absolute_ .__abs__")
def abs(input: Array) -> Array:
    """|input|, real for complex input. The gradient at 0 is 0."""
    if is_bool(input):
        require_number(input, "abs_cpu")
    return magnitude(input) if input.dtype.kind in "cfV" else input if input.dtype.kind == "u" else lax.abs(input)


@op(grad="AddcmulBackward0", promote="common", names="addcmul .addcmul .addcmul_")
def addcmul(input: Array, tensor1: Array, tensor2: Array, *, value: Scalar = 1) -> Array:
    """input + value * tensor1 * tensor2, of which whole numbers take the whole part of `value`. Shape: broadcast."""
    whole = is_integer(input) and isinstance(value, float)
    return add(input, mul(tensor1, tensor2), alpha=int(value) if whole else value)


def _unless_whole(operands: Sequence[tuple[int, dtypes.dtype]]) -> dtypes.dtype:
    """Return the common dtype; RuntimeError where a whole number would be divided by another."""
    if not any(kind.is_differentiable for _, kind in operands[1:]):
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform "
            "a true division of tensor1 and tensor2. The historic addcdiv behavior can be implemented as (input "
            "+ value * torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs and as (input + value "
            "* tensor1 / tensor2) for float inputs. The future addcdiv behavior is just the latter "
            "implementation: (input + value * tensor1 / tensor2), for all dtypes."
        )
    return promotion.result_type(operands)


@op(grad="AddcdivBackward0", promote=_unless_whole, names="addcdiv .addcdiv .addcdiv_")
def addcdiv(input: Array, tensor1: Array, tensor2: Array, *, value: Scalar = 1) -> Array:
    """input + value * tensor1 / tensor2. Shape: broadcast. Raises RuntimeError for integers."""
    return add(input, div(tensor1, tensor2), alpha=value)


_LERP_RANKS = (promotion.ZERO_DIM, promotion.DIMENSIONED)  # from which on end and weight need the start's dtype


def _lerp_node(shapes: Shapes, statics: Shapes) -> str:
    return "LerpBackward0" if is_number(shapes[2]) else "LerpBackward1"


def _of_the_start(operands: Sequence[tuple[int, dtypes.dtype]]) -> dtypes.dtype:
    (_, start), *others = operands
    for name, (rank, kind), least in zip(("end", "weight"), others, _LERP_RANKS, strict=False):
        if kind is not start and rank >= least:
            raise RuntimeError(f"expected dtype {c_type_name(start)} for `{name}` but got dtype {c_type_name(kind)}")
    if not start.is_differentiable:
        kind = "tensor" if operands[-1][0] >= promotion.ZERO_DIM else "scalar"
        raise NotImplementedError(f"\"lerp_kernel_{kind}\" not implemented for '{scalar_type_name(start)}'")
    return promotion.result_type(operands)


@op(grad=_lerp_node, promote=_of_the_start, names="lerp .lerp .lerp_")
def lerp(input: Array, end: Array, weight: Operand) -> Array:
    """input + weight * (end - input), counted from the nearer end. Shape: broadcast."""
    input, end, weights = broadcast(input, end, weight)
    step = lax.sub(end, input)
    if isinstance(weight, np.ndarray):
        return input + weights * step if np.all(np.abs(weight) < 0.5) else end - step * (1 - weights)
    return jnp.where(lax.abs(weights) < 0.5, input + weights * step, end - step * (1 - weights))


@jax.custom_jvp
def _hypot(input: Array, other: Array) -> Array:
    return jnp.hypot(input, other)


@_hypot.defjvp
def _hypot_jvp(primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Array, Array]:
    (x, y), (dx, dy) = primals, tangents
    result = _hypot(x, y)
    return result, (x / result) * dx + (y / result) * dy


@op(grad="HypotBackward0", promote="common", names="hypot .hypot .hypot_")
def hypot(input: Array, other: Array) -> Array:
    """sqrt(input^2 + other^2) without overflow. Shape: broadcast."""
    require_floating(input, "hypot_cpu")
    return _hypot(*broadcast(input, other))


@jax.custom_jvp
def _angle(input: Array, other: Array) -> Array:
    return lax.atan2(input, other)


@_angle.defjvp
def _angle_jvp(primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Array, Array]:
    """The gradient at the origin, which has no angle, is 0."""
    (y, x), (dy, dx) = primals, tangents
    square = x * x + y * y
    divisor = jnp.where(square == 0, np.inf, square)
    return _angle(y, x), (x / divisor) * dy - (y / divisor) * dx


@op(grad="Atan2Backward0", promote="float", names="atan2 .atan2 .atan2_ arctan2 .arctan2 .arctan2_")
def atan2(input: Array, other: Array) -> Array:
    """The angle of the point (other, input) in (-pi, pi]. Shape: broadcast."""
    require_real(input, "atan2_cpu")
    return _angle(*broadcast(input, other))


def _copysign_node(shapes: Shapes, statics: Shapes) -> str:
    return "CopysignBackward1" if is_number(shapes[1]) else "CopysignBackward0"


@op(grad=_copysign_node, promote="float", names="copysign .copysign .copysign_")
def copysign(input: Array, other: Operand) -> Array:
    """|input| with the sign of `other`; the gradient at 0 is 0. Shape: broadcast."""
    input, other = broadcast(input, other)
    size = magnitude(input)
    return jnp.where(jnp.signbit(other), -size, size)


@op(grad="LogaddexpBackward0", promote="common", names="logaddexp .logaddexp")
def logaddexp(input: Array, other: Array) -> Array:
    """log(exp(input) + exp(other)) without overflow. Shape: broadcast."""
    require_floating(input, "logaddexp_cpu")
    input, other = broadcast(input, other)
    return complex_logaddexp(input, other) if input.dtype.kind == "c" else real_logaddexp(input, other)


@jax.custom_jvp
def real_logaddexp(a: Array, b: Array) -> Array:
    """log(exp(a) + exp(b)), whose derivatives are the shares of the two: beside an infinity 0. Shape: both alike."""
    return jnp.logaddexp(a, b)


@real_logaddexp.defjvp
def _real_logaddexp_jvp(primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Array, Array]:
    (a, b), (da, db) = primals, tangents
    return real_logaddexp(a, b), lax.logistic(a - b) * da + lax.logistic(b - a) * db


def complex_logaddexp(a: Array, b: Array) -> Array:
    """log(exp(a) + exp(b)) of complex numbers, on the branch of the one with the larger real part, as torch has it."""
    is_less = lax.real(a) < lax.real(b)
    low, high = jnp.where(is_less, a, b), jnp.where(is_less, b, a)
    known = jnp.isfinite(lax.real(low)) & jnp.isfinite(lax.real(high))
    added = jnp.log1p(lax.exp(jnp.where(known, low - high, 0)))
    tied = ~known & (lax.real(low) == lax.real(high))  # two infinities of one sign
    doubled = lax.log(lax.exp(jnp.where(tied, low, 0)) + lax.exp(jnp.where(tied, high, 0)))
    other = jnp.where(tied, jnp.where(lax.real(low) < 0, low, doubled), high)
    undefined = jnp.isnan(lax.real(low)) | jnp.isnan(lax.real(high))
    return jnp.where(undefined, np.asarray(np.nan, a.dtype), jnp.where(known, high + added, other))


@op(grad="Logaddexp2Backward0", promote="common", names="logaddexp2 .logaddexp2")
def logaddexp2(input: Array, other: Array) -> Array:
    """log2(2^input + 2^other) without overflow. Shape: broadcast."""
    require_floating(input, "logaddexp2_cpu")
    return _real_logaddexp2(*broadcast(input, other))


@jax.custom_jvp
def _real_logaddexp2(a: Array, b: Array) -> Array:
    return jnp.logaddexp2(a, b)


@_real_logaddexp2.defjvp
def _real_logaddexp2_jvp(primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Array, Array]:
    (a, b), (da, db) = primals, tangents
    log_2 = np.asarray(math.log(2), a.dtype)
    return _real_logaddexp2(a, b), lax.logistic((a - b) * log_2) * da + lax.logistic((b - a) * log_2) * db


@op(grad="LdexpBackward0", promote="float", names="ldexp ldexp_ .ldexp .ldexp_")
def ldexp(input: Array, other: Array) -> Array:
    """input * 2^other. Shape: broadcast."""
    return mul(input, jnp.exp2(wide(other)).astype(other.dtype))
