"""torch.cond and torch.while_loop: branches and loops whose condition is a tensor, decided as the script runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from funcgrad._tensor.registry import function


@function()
def cond(pred: Any, true_fn: Callable[..., Any], false_fn: Callable[..., Any], operands: Sequence[Any] = ()) -> Any:
    """Return true_fn(*operands) where the predicate, a bool or a tensor of one, holds, else false_fn(*operands).

    The program that computes the predicate is run; what follows is recorded as one branch or the other.
    """
    return true_fn(*operands) if bool(pred) else false_fn(*operands)


@function()
def while_loop(cond_fn: Callable[..., Any], body_fn: Callable[..., Any], carried_inputs: Sequence[Any]) -> Any:
    """Apply `body_fn` to the carried values while cond_fn(*values) holds; return the last values."""
    values = tuple(carried_inputs)
    while bool(cond_fn(*values)):
        values = tuple(body_fn(*values))
    return values
