"""Masks of causal attention: which keys a query may see, when there are not as many of them as queries."""

from __future__ import annotations

from enum import IntEnum

from funcgrad._base.dtypes import bool_
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor

__all__ = ["CausalVariant", "causal_lower_right", "causal_upper_left"]


class CausalVariant(IntEnum):
    """Where the mask's diagonal begins or ends."""

    UPPER_LEFT = 1
    LOWER_RIGHT = 2


def causal_upper_left(*size: int) -> Tensor:
    """Return the mask in which query i sees keys 0 ... i. Shape: (queries, keys)."""
    _check(size)
    return fg.ones(*size, dtype=bool_).tril()


def causal_lower_right(*size: int) -> Tensor:
    """Return the mask in which the last query sees all keys, each before it one less. Shape: (queries, keys)."""
    _check(size)
    queries, keys = size
    return fg.ones(*size, dtype=bool_).tril(keys - queries)


def _check(size: tuple[int, ...]) -> None:
    if len(size) != 2:
        raise RuntimeError(f"causal masks need exactly two sizes, of queries and of keys, but got {len(size)}")
