"""Masks of causal attention: which keys a query may see, when there are not as many of them as queries."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, ClassVar

from funcgrad._base.dtypes import bool_
from funcgrad._tensor import functions as fg
from funcgrad._tensor.overriding import disabled
from funcgrad._tensor.tensor import Tensor

__all__ = ["CausalBias", "CausalVariant", "causal_lower_right", "causal_upper_left"]


class CausalVariant(IntEnum):
    """Where the mask's diagonal begins or ends."""

    UPPER_LEFT = 1
    LOWER_RIGHT = 2

    def __str__(self) -> str:
        return f"CausalVariant.{self.name}"


class CausalBias(Tensor):
    """A causal mask; what is computed from it is a plain tensor."""

    variant: CausalVariant
    seq_len_q: int
    seq_len_kv: int
    __torch_function__: ClassVar[Any] = disabled

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return repr(self._of_class(Tensor))


def causal_upper_left(*size: int) -> CausalBias:
    """Return the mask in which query i sees keys 0 ... i. Shape: (queries, keys)."""
    return _mask(CausalVariant.UPPER_LEFT, size)


def causal_lower_right(*size: int) -> CausalBias:
    """Return the mask in which the last query sees all keys, each before it one less. Shape: (queries, keys)."""
    return _mask(CausalVariant.LOWER_RIGHT, size)


def _mask(variant: CausalVariant, size: tuple[int, ...]) -> CausalBias:
    if len(size) != 2:
        raise RuntimeError(f"causal masks need exactly two sizes, of queries and of keys, but got {len(size)}")
    queries, keys = size
    diagonal = keys - queries if variant is CausalVariant.LOWER_RIGHT else 0
    mask: CausalBias = fg.ones(*size, dtype=bool_).tril(diagonal)._of_class(CausalBias)
    mask.variant, mask.seq_len_q, mask.seq_len_kv = variant, queries, keys
    return mask
