"""torch.sym_*: arithmetic of sizes that torch's compiler knows by symbols; here sizes are Python numbers."""

from __future__ import annotations

import math
from typing import Any

from funcgrad._tensor.registry import FUNCTIONS, function


class SymInt:
    """The type of a symbolic int: no size is one here."""


class SymFloat:
    """The type of a symbolic float: no number is one here."""


class SymBool:
    """The type of a symbolic bool: no answer is one here."""


@function()
def sym_int(a: Any) -> int:
    """Return the number as an int, cut off towards 0."""
    return int(a)


@function()
def sym_float(a: Any) -> float:
    """Return the number as a float."""
    return float(a)


@function()
def sym_not(a: Any) -> bool:
    """Return the opposite."""
    return not a


@function()
def sym_max(a: Any, b: Any) -> Any:
    """Return the larger number; a float if either is one."""
    return float(max(a, b)) if isinstance(a, float) or isinstance(b, float) else max(a, b)


@function()
def sym_min(a: Any, b: Any) -> Any:
    """Return the smaller number; a float if either is one."""
    return float(min(a, b)) if isinstance(a, float) or isinstance(b, float) else min(a, b)


@function()
def sym_sqrt(a: Any) -> float:
    """Return the square root."""
    return math.sqrt(a)


@function()
def sym_ite(b: Any, t: Any, f: Any) -> Any:
    """Return `t` where `b` holds, else `f`."""
    return t if b else f


@function()
def sym_sum(args: Any) -> Any:
    """Return the sum of the numbers."""
    return sum(args)


FUNCTIONS["SymInt"], FUNCTIONS["SymFloat"], FUNCTIONS["SymBool"] = SymInt, SymFloat, SymBool
