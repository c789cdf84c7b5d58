"""Rows that answer yes or no, combine such answers, or choose by them; and the bits of integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._base import dtypes
from funcgrad._base.cpp_names import c_type_name
from funcgrad._ops.arithmetic import is_bool, is_integer
from funcgrad._ops.broadcasting import broadcast
from funcgrad._ops.checks import no_kernel, scalar_name
from funcgrad._ops.rearranging import cast
from funcgrad._ops.table import Array, Mask, Operand, op


@op(promote="common", names="eq .eq .eq_ .__eq__")
def eq(input: Array, other: Operand) -> Array:
    """input == other. Shape: broadcast."""
    return lax.eq(*broadcast(input, other))


@op(promote="common", names="ne .ne .ne_ not_equal .not_equal .not_equal_ .__ne__")
def ne(input: Array, other: Operand) -> Array:
    """input != other. Shape: broadcast."""
    return lax.ne(*broadcast(input, other))


def _ordered(input: Array, other: Array, kernel: str) -> list[Array]:
    """Stretch two tensors whose numbers have an order. Raises NotImplementedError for complex ones."""
    if input.dtype.kind == "c":
        raise no_kernel(kernel, input)
    return broadcast(input, other)


@op(promote="common", names="lt .lt .lt_ less .less .less_ .__lt__")
def lt(input: Array, other: Operand) -> Array:
    """input < other. Shape: broadcast."""
    return lax.lt(*_ordered(input, other, "lt_cpu"))


@op(promote="common", names="le .le .le_ less_equal .less_equal .less_equal_ .__le__")
def le(input: Array, other: Operand) -> Array:
    """input <= other. Shape: broadcast."""
    return lax.le(*_ordered(input, other, "le_cpu"))


@op(promote="common", names="gt .gt .gt_ greater .greater .greater_ .__gt__")
def gt(input: Array, other: Operand) -> Array:
    """input > other. Shape: broadcast."""
    return lax.gt(*_ordered(input, other, "gt_cpu"))


@op(promote="common", names="ge .ge .ge_ greater_equal .greater_equal .greater_equal_ .__ge__")
def ge(input: Array, other: Operand) -> Array:
    """input >= other. Shape: broadcast."""
    return lax.ge(*_ordered(input, other, "ge_cpu"))


@op(names="isclose .isclose")
def isclose(input: Array, other: Array, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Array:
    """|input - other| <= atol + rtol * |other|. Shape: broadcast. Raises RuntimeError for two dtypes."""
    if input.dtype != other.dtype:
        raise RuntimeError(f"{scalar_name(input)} did not match {scalar_name(other)}")
    for name, given in (("rtol", rtol), ("atol", atol)):
        if given < 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {given}")
    input, other = broadcast(input, other)
    same = lax.eq(input, other)
    if equal_nan and not is_integer(input):
        same |= jnp.isnan(input) & jnp.isnan(other)
    if is_bool(input):
        return same
    if is_integer(input):
        input, other = input.astype(np.float64), other.astype(np.float64)
    difference = lax.abs(input - other)
    return same | (jnp.isfinite(difference) & (difference <= atol + lax.abs(rtol * other)))


@op(names="isnan .isnan")
def isnan(input: Array) -> Array:
    """Where the input is NaN."""
    return jnp.isnan(input)


@op(names="isinf .isinf")
def isinf(input: Array) -> Array:
    """Where the input is infinite."""
    return jnp.isinf(input)


@op(names="isfinite .isfinite")
def isfinite(input: Array) -> Array:
    """Where the input is neither infinite nor NaN."""
    return jnp.isfinite(input)


@op(names="isposinf .isposinf")
def isposinf(input: Array) -> Array:
    """Where the input is +infinity."""
    return jnp.zeros(input.shape, np.bool_) if is_integer(input) else input == np.inf


@op(names="isneginf .isneginf")
def isneginf(input: Array) -> Array:
    """Where the input is -infinity."""
    return jnp.zeros(input.shape, np.bool_) if is_integer(input) else input == -np.inf


@op(names="isreal .isreal")
def isreal(input: Array) -> Array:
    """Where the imaginary part is 0."""
    return lax.imag(input) == 0 if input.dtype.kind == "c" else jnp.ones(input.shape, np.bool_)


@op(names="signbit .signbit")
def signbit(input: Array) -> Array:
    """Where the sign is negative, also for -0. NotImplementedError for complex numbers."""
    if input.dtype.kind == "c":
        raise NotImplementedError("signbit is not implemented for complex tensors.")
    return jnp.zeros(input.shape, np.bool_) if input.dtype.kind in "ub" else jnp.signbit(input)


@op(names="isin")
def isin(elements: Operand, test_elements: Operand, *, assume_unique: bool = False, invert: bool = False) -> Array:
    """Where an element occurs among `test_elements`. Shape: that of `elements`."""
    elements, tests = jnp.asarray(elements), jnp.asarray(test_elements).reshape(-1)
    tests = tests.astype(jnp.promote_types(elements.dtype, tests.dtype))
    found = jnp.any(elements.astype(tests.dtype)[..., None] == tests, -1)
    return ~found if invert else found


def _truth(array: Array) -> Array:
    return array if is_bool(array) else array != 0


@op(names="logical_not .logical_not .logical_not_")
def logical_not(input: Array) -> Array:
    """Where the input is 0."""
    return ~_truth(input)


@op(names="logical_and .logical_and .logical_and_")
def logical_and(input: Array, other: Array) -> Array:
    """Where both are not 0. Shape: broadcast."""
    return lax.bitwise_and(*broadcast(_truth(input), _truth(other)))


@op(names="logical_or .logical_or .logical_or_")
def logical_or(input: Array, other: Array) -> Array:
    """Where one or both are not 0. Shape: broadcast."""
    return lax.bitwise_or(*broadcast(_truth(input), _truth(other)))


@op(names="logical_xor .logical_xor .logical_xor_")
def logical_xor(input: Array, other: Array) -> Array:
    """Where exactly one is not 0. Shape: broadcast."""
    return lax.bitwise_xor(*broadcast(_truth(input), _truth(other)))


def _on_bits(name: str, function: Callable[[Array, Array], Array], input: Array, other: Array) -> Array:
    """Apply a function of bits. Raises NotImplementedError for floats, as torch has no kernel for them."""
    input, other = broadcast(input, other)
    if not is_integer(input):
        raise no_kernel(f"{name}_cpu", input)
    return function(input, other)


_AND_NAMES = "bitwise_and .bitwise_and .bitwise_and_ .__and__ .__rand__ .__iand__"
_OR_NAMES = "bitwise_or .bitwise_or .bitwise_or_ .__or__ .__ror__ .__ior__"
_XOR_NAMES = "bitwise_xor .bitwise_xor .bitwise_xor_ .__xor__ .__rxor__ .__ixor__"
_LEFT_NAMES = "bitwise_left_shift .bitwise_left_shift .bitwise_left_shift_ .__lshift__ .__rlshift__ .__ilshift__"
_RIGHT_NAMES = "bitwise_right_shift .bitwise_right_shift .bitwise_right_shift_ .__rshift__ .__rrshift__ .__irshift__"


@op(names="bitwise_not .bitwise_not .bitwise_not_")
def bitwise_not(input: Array) -> Array:
    """~input; `not` for truth values. Raises NotImplementedError for floats."""
    return _on_bits("bitwise_not", lambda x, _: lax.bitwise_not(x), input, input)


@op(promote="common", names=_AND_NAMES)
def bitwise_and(input: Operand, other: Operand) -> Array:
    """input & other. Shape: broadcast. Raises NotImplementedError for floats."""
    return _on_bits("bitwise_and", lax.bitwise_and, input, other)


@op(promote="common", names=_OR_NAMES)
def bitwise_or(input: Operand, other: Operand) -> Array:
    """input | other. Shape: broadcast. Raises NotImplementedError for floats."""
    return _on_bits("bitwise_or", lax.bitwise_or, input, other)


@op(promote="common", names=_XOR_NAMES)
def bitwise_xor(input: Operand, other: Operand) -> Array:
    """input ^ other. Shape: broadcast. Raises NotImplementedError for floats."""
    return _on_bits("bitwise_xor", lax.bitwise_xor, input, other)


@op(promote="common", names=_LEFT_NAMES)
def bitwise_left_shift(input: Operand, other: Operand) -> Array:
    """input << other. Shape: broadcast. Raises NotImplementedError for floats."""
    return _on_bits("lshift", lax.shift_left, input, other)


@op(promote="common", names=_RIGHT_NAMES)
def bitwise_right_shift(input: Operand, other: Operand) -> Array:
    """input >> other, keeping the sign. Shape: broadcast. Raises NotImplementedError for floats."""
    shift = lax.shift_right_arithmetic if input.dtype.kind == "i" else lax.shift_right_logical
    return _on_bits("rshift", shift, input, other)


@op(promote="common", names="gcd .gcd gcd_ .gcd_")
def gcd(input: Array, other: Array) -> Array:
    """The greatest common divisor. Shape: broadcast."""
    _require_integer(input, "gcd_cpu")
    return jnp.gcd(*broadcast(input, other))


@op(promote="common", names="lcm .lcm lcm_ .lcm_")
def lcm(input: Array, other: Array) -> Array:
    """The least common multiple. Shape: broadcast."""
    _require_integer(input, "lcm_cpu")
    return jnp.lcm(*broadcast(input, other))


def _require_integer(input: Array, kernel: str) -> None:
    if input.dtype.kind not in "iu":
        raise no_kernel(kernel, input)


def _chosen(condition: Mask, input: Array, other: Array) -> Array:
    if not is_bool(condition) and condition.dtype != np.uint8:
        raise RuntimeError(
            f"where expected condition to be a boolean tensor, but got a tensor with dtype {scalar_name(condition)}"
        )
    return jnp.where(*broadcast(condition != 0, input, other))


@op(grad="WhereBackward0", promote="common", names="where")
def where(condition: Mask, input: Operand, other: Operand) -> Array:
    """`input` where the condition holds, `other` elsewhere; a NaN not chosen leaves no trace. Shape: broadcast."""
    return _chosen(condition, input, other)


@op(grad="WhereBackward0", promote="common", names=".where")
def where_method(input: Operand, condition: Mask, other: Operand) -> Array:
    """`input` where the condition holds, `other` elsewhere. Shape: broadcast."""
    return _chosen(condition, input, other)


def _masked_fill_node(shapes: tuple[Any, ...], statics: tuple[Any, ...]) -> str:
    return "MaskedFillBackward0" if isinstance(shapes[2], type) else "MaskedFillBackward1"


@op(grad=_masked_fill_node, names="masked_fill .masked_fill .masked_fill_")
def masked_fill(input: Array, mask: Mask, value: Operand) -> Array:
    """`input` with `value` where the mask holds, in the dtype of `input`. Shape: broadcast of input and mask."""
    if not is_bool(mask):
        kind = c_type_name(dtypes.of_numpy(mask.dtype))
        raise RuntimeError(f"masked_fill_ only supports boolean masks, but got mask with dtype {kind}")
    if np.ndim(value):
        raise RuntimeError(
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{np.ndim(value)} dimension(s)."
        )
    is_real = not jnp.iscomplexobj(value) or (isinstance(value, complex) and not value.imag)
    if not (is_real or jnp.iscomplexobj(input) or is_bool(input)):
        kind = {"Float": "float", "Double": "double", "Long": "int64_t"}.get(scalar_name(input), scalar_name(input))
        raise RuntimeError(f"value cannot be converted to type {kind} without overflow")
    mask, input = broadcast(mask, input)
    filler = jnp.broadcast_to(cast(jnp.asarray(value), input.dtype), input.shape)
    return jnp.where(mask, filler, input)
