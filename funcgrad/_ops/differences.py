"""Rows that estimate derivatives from samples along a dimension: torch.gradient."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._base import dtypes
from funcgrad._ops.arithmetic import is_integer
from funcgrad._ops.table import Array, Scalar, op


def _parts(input: Array, dim: int, *bounds: tuple[int, int | None]) -> list[Array]:
    """Return input[..., start:stop, ...] along `dim` for each (start, stop)."""
    return [lax.slice_in_dim(input, start, stop, axis=dim) for start, stop in bounds]


def _one_sided(input: Array, dim: int, steps: tuple[Array, Array], edge_order: int, at_end: bool) -> Array:
    """Return the estimate at one end from the two (three, for order 2) samples nearest to it."""
    length = input.shape[dim]
    places = (length - 1, length - 2, length - 3) if at_end else (0, 1, 2)
    near, next_one = _parts(input, dim, *((p, p + 1) for p in places[:2]))
    sign, (a, b) = (-1 if at_end else 1), steps
    if edge_order == 1:
        return sign * (next_one - near) / a
    (far,) = _parts(input, dim, (places[2], places[2] + 1))
    return sign * (-(2 * a + b) / (a * (a + b)) * near + (a + b) / (a * b) * next_one - a / (b * (a + b)) * far)


@op(grad="CatBackward0", names="")
def gradient_along(
    input: Array, coordinates: Array | None = None, spacing: Scalar = 1, *, dim: int = 0, edge_order: int = 1
) -> Array:
    """Estimate the derivative along `dim` by differences that are right to second order inside.

    The samples lie `spacing` apart, or at `coordinates` (n,). Shape: result as the input.
    """
    if input.dtype == np.uint8:
        raise RuntimeError("torch.gradient does not support uint8 input.")
    if is_integer(input):
        input = input.astype(dtypes.get_default_dtype().numpy)
    length = input.shape[dim]
    if coordinates is None:
        steps = jnp.broadcast_to(jnp.asarray(spacing).astype(input.dtype), length - 1)
    else:
        steps = jnp.diff(coordinates.astype(input.dtype))
    steps = steps.reshape(-1, *(1,) * (input.ndim - 1 - dim))
    before, after = steps[:-1], steps[1:]
    left, middle, right = _parts(input, dim, (0, length - 2), (1, length - 1), (2, length))
    if coordinates is None:  # the middle has no part in it, be it infinite
        inside = (right - left) / (before + after)
    else:
        shares = -after / (before * (before + after)), (after - before) / (before * after)
        inside = shares[0] * left + shares[1] * middle + before / (after * (before + after)) * right
    ends = ((steps[0], steps[min(1, length - 2)]), (steps[-1], steps[max(-2, 1 - length)]))
    first, last = (_one_sided(input, dim, ends[i], edge_order, bool(i)) for i in (0, 1))
    return jnp.concatenate([first, inside, last], dim).astype(input.dtype)
