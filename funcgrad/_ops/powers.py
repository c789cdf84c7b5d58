"""Rows of powers: small constant exponents become products and roots, and derivatives at 0 are torch's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.custom_derivatives import SymbolicZero

from funcgrad._base import dtypes
from funcgrad._ops.arithmetic import Shapes, is_bool, is_integer, is_number
from funcgrad._ops.broadcasting import broadcast
from funcgrad._ops.table import Array, DType, Operand, op


def _pow_node(shapes: Shapes, statics: Shapes) -> str:
    if is_number(shapes[1]):
        return "PowBackward0"
    return "PowBackward2" if is_number(shapes[0]) else "PowBackward1"


@op(grad=_pow_node, promote="common", names="pow .pow .pow_ .__pow__ .__rpow__ .__ipow__")
def pow(input: Operand, exponent: Operand) -> Array:
    """input ** exponent. Shape: broadcast. Raises RuntimeError for integers to a negative constant."""
    if isinstance(exponent, np.ndarray) and exponent.ndim == 0 and exponent.imag == 0:
        return _constant_power(input, exponent.real.item())
    if input.dtype.kind == "c" and exponent.ndim == 0:
        return _float_power(input, exponent)
    return _power(*broadcast(input, exponent))


_SMALL = (2, 3, -1, -2, 0.5)  # the powers of complex numbers that are products and roots in torch


def _constant_power(input: Array, exponent: float) -> Array:
    """Raise to a number known while tracing: small powers are products, halves are roots."""
    if is_integer(input):
        if exponent < 0:
            raise RuntimeError("Integers to negative integer powers are not allowed.")
        return lax.integer_pow(input, int(exponent)) if not is_bool(input) else input | (exponent == 0)
    if exponent == 0.5:
        return lax.sqrt(input)
    if exponent == -0.5:
        return lax.rsqrt(input)
    if -4 <= exponent <= 8 and exponent == int(exponent):
        return lax.integer_pow(input, int(exponent))
    return _float_power(input, jnp.full(input.shape, exponent, input.dtype))


@jax.custom_jvp
def _float_power(input: Array, exponent: Array) -> Array:
    if input.dtype.kind != "c":
        return lax.pow(input, exponent)
    result = lax.pow(input, jnp.broadcast_to(exponent, input.shape))
    result = jnp.where((input == 0) & (lax.real(exponent) > 0), 0, result)  # XLA has no number for 0 to a complex power
    if exponent.ndim == 0:  # one number, which varies: as exact as where it is known
        for small in _SMALL:
            result = jnp.where(exponent == small, _constant_power(input, small), result)
    return result


def _float_power_jvp(primals: tuple[Array, Array], tangents: tuple[Any, Any]) -> tuple[Array, Any]:
    """By x: y x^(y-1), 0 where y is 0. By y: x^y log(x), 0 where x is 0 and y is not negative.

    What has no tangent counts for nothing: the logarithm of a negative x would make it NaN.
    """
    (x, y), (dx, dy) = primals, tangents
    result, along = _float_power(x, y), []
    if type(dx) is not SymbolicZero:
        along.append(dx * jnp.where(y == 0, 0, y * _float_power(x, jnp.where(y == 0, 1, y - 1))))
    if type(dy) is not SymbolicZero:
        vanishes = (x == 0) & (lax.real(y) >= 0 if y.dtype.kind == "c" else y >= 0)
        along.append(dy * jnp.where(vanishes, 0, result * lax.log(jnp.where(vanishes, 1, x))))
    return result, sum(along[1:], along[0]) if along else dx


_float_power.defjvp(_float_power_jvp, symbolic_zeros=True)


def _power(input: Array, exponent: Array) -> Array:
    if is_bool(input):
        raise NotImplementedError("\"pow\" not implemented for 'Bool'")
    if is_integer(input):
        return _integer_power(input, exponent)
    return _float_power(input, exponent)


def _repeated_product(input: Array, exponent: Array) -> Array:
    """Raise integers by squaring, as often as the greatest power asks for."""

    def step(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        product, square, left = state
        return jnp.where(left % 2 == 1, product * square, product), square * square, left // 2

    def is_left(state: tuple[Array, Array, Array]) -> Array:
        return jnp.any(state[2] > 0)

    return lax.while_loop(is_left, step, (jnp.ones_like(input), input, exponent))[0]


def _integer_power(input: Array, exponent: Array) -> Array:
    """Raise integers; to a negative power, only 1 and -1 have a result other than 0."""
    wanted = jnp.maximum(exponent, 0)
    # jnp.power, unrolled and five times as fast, looks at the last six bits of a power only.
    power = lax.cond(jnp.any(wanted > 63), _repeated_product, jnp.power, input, wanted)
    if exponent.dtype.kind == "u":
        return power
    sign = jnp.where(exponent % 2 == 0, 1, input).astype(input.dtype)
    inverse = jnp.where(input == 1, 1, jnp.where(input == -1, sign, 0)).astype(input.dtype)
    return jnp.where(exponent < 0, inverse, power)


def _float_power_node(shapes: Shapes, statics: Shapes) -> tuple:
    return (_pow_node(shapes, statics), ("ToCopyBackward0", "input"))


def _in_double(ranked: Sequence[tuple[int, DType]]) -> DType:
    return dtypes.complex128 if any(kind.is_complex for _, kind in ranked) else dtypes.float64


@op(grad=_float_power_node, promote=_in_double, names="float_power .float_power .float_power_")
def float_power(input: Operand, exponent: Operand) -> Array:
    """input ** exponent in double precision. Shape: broadcast."""
    return pow(input, exponent)


@op(grad="PowBackward0", names="square .square .square_ square_")
def square(input: Array) -> Array:
    """input ** 2."""
    return lax.square(input.astype(np.int64) if is_bool(input) else input)
