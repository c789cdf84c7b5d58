"""A quotient whose slope is torch's."""

from __future__ import annotations

from typing import Any

import jax
from jax import lax
from jax.custom_derivatives import SymbolicZero

from funcgrad._ops.table import Array

divided = jax.custom_jvp(lax.div)


def _divided_jvp(primals: tuple[Array, Array], tangents: tuple[Any, Any]) -> tuple[Array, Any]:
    """As torch derives it: the square of the divisor, by which JAX divides, may be beyond what floats hold."""
    (x, y), (dx, dy) = primals, tangents
    found = divided(x, y)
    by_dividend = dx if type(dx) is SymbolicZero else divided(dx, y)
    if type(dy) is SymbolicZero:
        return found, by_dividend
    by_divisor = -dy * divided(found, y)
    return found, by_divisor if type(dx) is SymbolicZero else by_dividend + by_divisor


divided.defjvp(_divided_jvp, symbolic_zeros=True)
