"""Functions of one pair of attention (batch, head, query, key) and what they say of all pairs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from funcgrad._base.dtypes import bool_ as bool_dtype
from funcgrad._tensor import functions as fg
from funcgrad._tensor.entries import over_entries
from funcgrad._tensor.tensor import Tensor

MaskMod = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
ScoreMod = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]


def over_pairs(function: Callable[..., Tensor], shape: tuple[int, ...], device: Any, *scores: Tensor) -> Tensor:
    """Return a function of (score,) batch, head, query, key for all pairs. Each argument is a tensor of no dimension.

    Shape: scores (B, H, L, S), result likewise. Raises RuntimeError where the function asks Python for a number.
    """
    for inner_first in reversed(range(4)):
        places = [dim == inner_first for dim in range(4)]
        function = over_entries(function, [True] * len(scores) + places)
    return function(*scores, *(fg.arange(size, device=device) for size in shape))


def create_mask(mod_fn: Callable[..., Tensor], B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Any = None) -> Tensor:  # fmt: skip  # noqa: E501
    """Return which pairs a mask function, or a score function by giving more than -inf, lets attend.

    Shape: (B, H, Q_LEN, KV_LEN), 1 for None. AssertionError: the function takes neither four nor five arguments.
    """
    shape = (B or 1, H or 1, Q_LEN, KV_LEN)
    if positional_arguments(mod_fn) == 5:
        return ~fg.isneginf(over_pairs(mod_fn, shape, device, fg.zeros(shape, device=device)))
    return over_pairs(mod_fn, shape, device)


def positional_arguments(function: Callable[..., Any]) -> int:
    """Return how many arguments without a default a function takes: four (a mask) or five (of scores)."""
    parameters = inspect.signature(function).parameters.values()
    count = sum(p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)
    if count not in (4, 5):
        raise AssertionError(f"Expected 4 or 5 positional args, got {count}")
    return count


def noop_mask(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> Tensor:
    """Choose every pair."""
    return batch.new_ones((), dtype=bool_dtype)


def and_masks(*mask_mods: MaskMod) -> MaskMod:
    """Return the function that chooses what all of these choose. RuntimeError: one is no function."""
    _check_callable(mask_mods)

    def and_mask(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        result = b.new_ones((), dtype=bool_dtype)
        for mask in mask_mods:
            result = result & mask(b, h, q_idx, kv_idx)
        return result

    return and_mask


def or_masks(*mask_mods: MaskMod) -> MaskMod:
    """Return the function that chooses what one of these chooses. RuntimeError: one is no function."""
    _check_callable(mask_mods)

    def or_mask(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        result = b.new_zeros((), dtype=bool_dtype)
        for mask in mask_mods:
            result = result | mask(b, h, q_idx, kv_idx)
        return result

    return or_mask


def _check_callable(mask_mods: tuple[Any, ...]) -> None:
    if not all(map(callable, mask_mods)):
        raise RuntimeError(f"All inputs should be callable mask_mods: {mask_mods}")
