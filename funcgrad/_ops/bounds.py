"""Rows that choose the larger or smaller of two numbers, or hold numbers within bounds."""

from __future__ import annotations

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import lax

from funcgrad._ops.arithmetic import Shapes, is_number
from funcgrad._ops.broadcasting import broadcast
from funcgrad._ops.checks import require_bounds, require_order
from funcgrad._ops.table import Array, Operand, op


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def _winner(choose: Callable[[Array, Array], Array], input: Array, other: Array) -> Array:
    return choose(input, other)


@_winner.defjvp
def _winner_jvp(
    choose: Callable[[Array, Array], Array], primals: tuple[Array, Array], tangents: tuple[Array, Array]
) -> tuple[Array, Array]:
    (x, y), (dx, dy) = primals, tangents
    loses = lax.lt if choose is lax.max else lax.gt
    by_input, by_other = _share(loses(x, y), x == y, dx), _share(loses(y, x), x == y, dy)
    return _winner(choose, x, y), by_input + by_other


def _share(loses: Array, ties: Array, tangent: Array) -> Array:
    return jnp.where(loses, 0, jnp.where(ties, tangent / 2, tangent))


@op(grad="MaximumBackward0", promote="common", names="maximum .maximum")
def maximum(input: Array, other: Array) -> Array:
    """The larger of each pair, NaN where either is. Ties share the gradient; both get it for NaN. Shape: broadcast."""
    require_order(input, "maximum")
    return _winner(lax.max, *broadcast(input, other))


@op(grad="MinimumBackward0", promote="common", names="minimum .minimum")
def minimum(input: Array, other: Array) -> Array:
    """The smaller of each pair, NaN where either is. Ties share the gradient; both get it for NaN. Shape: broadcast."""
    require_order(input, "minimum")
    return _winner(lax.min, *broadcast(input, other))


@op(grad="FmaxBackward0", promote="common", names="fmax .fmax")
def fmax(input: Array, other: Array) -> Array:
    """The larger of each pair, the number where the other is NaN. `input` gets a tie's gradient. Shape: broadcast."""
    require_order(input, "fmax")
    input, other = broadcast(input, other)
    return jnp.where((input >= other) | jnp.isnan(other), input, other)


@op(grad="FminBackward0", promote="common", names="fmin .fmin")
def fmin(input: Array, other: Array) -> Array:
    """The smaller of each pair, the number where the other is NaN. `input` gets a tie's gradient. Shape: broadcast."""
    require_order(input, "fmin")
    input, other = broadcast(input, other)
    return jnp.where((input <= other) | jnp.isnan(other), input, other)


def _clamp_node(shapes: Shapes, statics: Shapes) -> str:
    return "ClampBackward0" if any(isinstance(shape, tuple) for shape in shapes[1:]) else "ClampBackward1"


@op(grad=_clamp_node, promote="common", names="clamp .clamp clamp_ .clamp_ clip .clip clip_ .clip_")
def clamp(input: Array, min: Operand | None = None, max: Operand | None = None) -> Array:
    """min(max(input, min), max); the gradient passes at the bounds. Shape: broadcast.

    Raises RuntimeError without bounds.
    """
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    require_bounds(input)
    if min is None:
        return _at_most(*broadcast(input, max))
    if max is None:
        return _at_least(*broadcast(input, min))
    input, low = broadcast(input, min)
    return _between(*broadcast(input, low, max))


# A gradient goes to the input where it is within the bounds, to a bound where the input is beyond it: to none for NaN.


@jax.custom_jvp
def _at_least(input: Array, low: Array) -> Array:
    return jnp.where((input < low) | jnp.isnan(low), low, input)


@_at_least.defjvp
def _at_least_jvp(primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Array, Array]:
    (x, low), (dx, dlow) = primals, tangents
    return _at_least(x, low), _kept(x >= low, dx) + _kept(x < low, dlow)


@jax.custom_jvp
def _at_most(input: Array, high: Array) -> Array:
    return jnp.where((input > high) | jnp.isnan(high), high, input)


@_at_most.defjvp
def _at_most_jvp(primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Array, Array]:
    (x, high), (dx, dhigh) = primals, tangents
    return _at_most(x, high), _kept(x <= high, dx) + _kept(x > high, dhigh)


@jax.custom_jvp
def _between(input: Array, low: Array, high: Array) -> Array:
    return _at_most(_at_least(input, low), high)


@_between.defjvp
def _between_jvp(primals: tuple[Array, ...], tangents: tuple[Array, ...]) -> tuple[Array, Array]:
    (x, low, high), (dx, dlow, dhigh) = primals, tangents
    to_low, to_high = (x < low) & (low < high), (x > high) | (high < low)
    return _between(x, low, high), _kept((x >= low) & (x <= high), dx) + _kept(to_low, dlow) + _kept(to_high, dhigh)


def _kept(mask: Array, tangent: Array) -> Array:
    return jnp.where(mask, tangent, jnp.zeros_like(tangent))


def _clamp_min_node(shapes: Shapes, statics: Shapes) -> str:
    return "ClampMinBackward0" if is_number(shapes[1]) else "ClampMinBackward1"


@op(grad=_clamp_min_node, promote="common", names="clamp_min .clamp_min clamp_min_ .clamp_min_")
def clamp_min(input: Array, min: Operand) -> Array:
    """max(input, min); the gradient passes at the bound. Shape: broadcast."""
    return clamp(input, min)


def _clamp_max_node(shapes: Shapes, statics: Shapes) -> str:
    return "ClampMaxBackward0" if is_number(shapes[1]) else "ClampMaxBackward1"


@op(grad=_clamp_max_node, promote="common", names="clamp_max .clamp_max clamp_max_ .clamp_max_")
def clamp_max(input: Array, max: Operand) -> Array:
    """min(input, max); the gradient passes at the bound. Shape: broadcast."""
    return clamp(input, None, max)
