"""Attention whose scores a function changes and whose pairs a function chooses. Everything is computed densely."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor

Chosen = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
_DEFAULT_SPARSE_BLOCK_SIZE = 128


class AuxRequest(NamedTuple):
    """What `flex_attention` shall return beside its result."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """What was asked for by `AuxRequest`, else None. Shape: (B, H, L) each."""

    lse: Tensor | None = None
    max_scores: Tensor | None = None


class BlockMask:
    """Which pairs attend to each other: a function of batch, head, query and key. Made by `create_block_mask`."""

    def __init__(self, mask_mod: Chosen, shape: tuple[Any, ...], block_size: Any = _DEFAULT_SPARSE_BLOCK_SIZE) -> None:
        self.mask_mod, self.shape, self.BLOCK_SIZE = mask_mod, shape, block_size

    def to(self, device: Any) -> BlockMask:
        """Return the mask: a function lies on no device."""
        return self

    def __repr__(self) -> str:
        return f"BlockMask(shape={self.shape})"


def create_block_mask(
    mask_mod: Chosen, B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Any = None,
    BLOCK_SIZE: Any = _DEFAULT_SPARSE_BLOCK_SIZE, _compile: bool = False,
) -> BlockMask:  # fmt: skip
    """Return the mask of a function (b, h, q_idx, kv_idx) -> bool, for so many batches, heads, queries and keys."""
    return BlockMask(mask_mod, (B or 1, H or 1, Q_LEN, KV_LEN), BLOCK_SIZE)


def create_mask(mod_fn: Chosen, B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Any = None) -> Tensor:
    """Return a mask function's values. Shape: (B, H, Q_LEN, KV_LEN), 1 for None."""
    shape = (B or 1, H or 1, Q_LEN, KV_LEN)
    return mod_fn(*_places(shape, device)).expand(shape)


def and_masks(*mask_mods: Chosen) -> Chosen:
    """Return the function that chooses what all of these choose."""

    def chosen(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        result = mask_mods[0](b, h, q_idx, kv_idx)
        for mask in mask_mods[1:]:
            result = result & mask(b, h, q_idx, kv_idx)
        return result

    return chosen


def or_masks(*mask_mods: Chosen) -> Chosen:
    """Return the function that chooses what one of these chooses."""

    def chosen(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        result = mask_mods[0](b, h, q_idx, kv_idx)
        for mask in mask_mods[1:]:
            result = result | mask(b, h, q_idx, kv_idx)
        return result

    return chosen


def _places(shape: tuple[int, ...], device: Any) -> list[Tensor]:
    """Return the four indices of each pair, each along its own dimension, so that functions of them broadcast."""
    return [
        fg.arange(size, device=device).reshape([size if i == dim else 1 for i in range(4)])
        for dim, size in enumerate(shape)
    ]


def flex_attention(
    query: Tensor, key: Tensor, value: Tensor, score_mod: Callable[..., Tensor] | None = None,
    block_mask: BlockMask | None = None, scale: float | None = None, enable_gqa: bool = False,
    return_lse: bool = False, kernel_options: Any = None, *, return_aux: AuxRequest | None = None,
) -> Any:  # fmt: skip
    """Return softmax(score_mod(query @ key^T * scale)) @ value over the pairs that the mask chooses.

    Shape: query (B, H, L, E), key (B, H or fewer with enable_gqa, S, E), value likewise, result (B, H, L, Ev); with
    return_lse also the logarithm of the summed exponentials (B, H, L), with return_aux also an AuxOutput. A query that
    attends to nothing gives 0. ValueError: both are asked for.
    """
    if return_lse and return_aux is not None:
        raise ValueError("Cannot specify both return_lse and return_aux. Please use return_aux=AuxRequest(lse=True).")
    if enable_gqa:
        times = query.shape[1] // key.shape[1]
        key, value = key.repeat_interleave(times, 1), value.repeat_interleave(times, 1)
    scores = query @ key.transpose(-2, -1) * (1.0 / math.sqrt(query.shape[-1]) if scale is None else scale)
    places = _places(tuple(scores.shape), query.device)
    if score_mod is not None:
        scores = score_mod(scores, *places)
    if block_mask is not None:
        scores = fg.where(block_mask.mask_mod(*places), scores, -math.inf)
    weights = fg.softmax(scores, -1)
    empty = (scores == -math.inf).all(-1, keepdim=True)
    result = fg.where(empty, 0.0, weights).to(value.dtype) @ value
    if return_aux is not None:
        lse = fg.logsumexp(scores, -1) if return_aux.lse else None
        return result, AuxOutput(lse, fg.amax(scores, -1) if return_aux.max_scores else None)
    return (result, fg.logsumexp(scores, -1)) if return_lse else result
