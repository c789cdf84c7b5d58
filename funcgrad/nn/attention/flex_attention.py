"""Attention whose scores a function changes and whose pairs a function chooses. Everything is computed densely."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from funcgrad._base.dtypes import float32, float64
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn.attention.block_mask import DEFAULT_BLOCK_SIZE as _DEFAULT_SPARSE_BLOCK_SIZE
from funcgrad.nn.attention.block_mask import BlockMask, create_block_mask, sliced_mask_mod
from funcgrad.nn.attention.mask_mods import MaskMod, ScoreMod, and_masks, create_mask, noop_mask, or_masks, over_pairs

__all__ = [
    "_DEFAULT_SPARSE_BLOCK_SIZE", "AuxOutput", "AuxRequest", "BlockMask", "_mask_mod_signature",
    "_score_mod_signature", "and_masks", "create_block_mask", "create_mask", "flex_attention", "noop_mask", "or_masks",
]  # fmt: skip

_mask_mod_signature, _score_mod_signature = MaskMod, ScoreMod
_LONGER = "As the block mask was created for a smaller length than you're using it for, you likely need to create a new block mask."  # noqa: E501
_SHORTER = (
    "As the block mask was created for a larger length than you're using it for, you can either 1. create a new block "
    "mask with the correct length, or 2. 'adjust' the existing block mask to the correct length by calling "
    "block_mask._adjust(q_len, kv_len). This essentially 'crops' the block mask to the upper left corner, which does "
    "not work for all mask_mods!"
)


class AuxRequest(NamedTuple):
    """What `flex_attention` shall return beside its result."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """What was asked for by `AuxRequest`, else None. Shape: (B, H, L) each."""

    lse: Tensor | None = None
    max_scores: Tensor | None = None


def flex_attention(
    query: Tensor, key: Tensor, value: Tensor, score_mod: ScoreMod | None = None,
    block_mask: BlockMask | None = None, scale: float | None = None, enable_gqa: bool = False,
    return_lse: bool = False, kernel_options: Any = None, *, return_aux: AuxRequest | None = None,
) -> Any:  # fmt: skip
    """Return softmax(score_mod(query @ key^T * scale)) @ value over the pairs that the mask chooses.

    `score_mod` sees one score and its four places, each a tensor of no dimension.
    Shape: query (B, H, L, E), key (B, H or fewer with enable_gqa, S, E), value likewise, result (B, H, L, Ev); with
    return_lse also the logarithm of the summed exponentials (B, H, L), with return_aux also an AuxOutput. A query that
    attends to nothing gives 0. ValueError: shapes do not fit, or both return_lse and return_aux are asked for.
    """
    if return_lse and return_aux is not None:
        raise ValueError("Cannot specify both return_lse and return_aux. Please use return_aux=AuxRequest(lse=True).")
    _check_inputs(query, key, value, block_mask, enable_gqa)
    if enable_gqa:
        times = query.shape[1] // key.shape[1]
        key, value = key.repeat_interleave(times, 1), value.repeat_interleave(times, 1)
    precision = float64 if query.dtype == float64 else float32
    factor = 1.0 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = (query @ key.transpose(-2, -1)).to(precision) * factor
    shape = tuple(scores.shape)
    if score_mod is not None:
        scores = over_pairs(score_mod, shape, query.device, scores).to(precision)
    if block_mask is not None:
        scores = fg.where(block_mask.pairs(shape, query.device), scores, -math.inf)
    empty = (scores == -math.inf).all(-1, keepdim=True)
    weights = fg.where(empty, 0.0, fg.softmax(scores, -1))
    result = weights.to(query.dtype) @ value.to(query.dtype)
    if return_aux is not None:
        lse = fg.logsumexp(scores, -1) if return_aux.lse else None
        return result, AuxOutput(lse, fg.amax(scores, -1) if return_aux.max_scores else None)
    return (result, fg.logsumexp(scores, -1)) if return_lse else result


def _check_inputs(query: Tensor, key: Tensor, value: Tensor, block_mask: BlockMask | None, enable_gqa: bool) -> None:
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(
            "Expect query and key/value to have the same embedding dimension "
            f"but got E={query.shape[-1]} and E={key.shape[-1]}."
        )
    if not query.dim() == key.dim() == value.dim() == 4:
        raise NotImplementedError("NYI: query, key, and value must be 4D tensors")
    heads, key_heads = query.shape[1], key.shape[1]
    if not enable_gqa and heads != key_heads:
        raise ValueError(
            f"Expect query and key/value to have the same number of heads but got Hq={heads} and Hkv={key_heads}. "
            "Try setting enable_gqa=True for GQA."
        )
    if enable_gqa and heads % key_heads:
        raise ValueError(
            f"Expect number of query heads to be a multiple of kv heads for GQA but got Hq={heads} and Hkv={key_heads}."
        )
    if block_mask is not None:
        _check_block_mask(block_mask, query.shape[-2], key.shape[-2])


def _check_block_mask(block_mask: BlockMask, queries: int, keys: int) -> None:
    if block_mask.mask_mod is sliced_mask_mod:
        raise RuntimeError("Cannot use mask_mod from a sliced BlockMask")
    most_queries, most_keys = block_mask.shape[-2:]
    if (queries, keys) != (most_queries, most_keys):
        advice = _LONGER if queries > most_queries or keys > most_keys else _SHORTER
        raise ValueError(
            f"block_mask was created for block_mask.shape={block_mask.shape} but got q_len={queries} and "
            f"kv_len={keys}. {advice}"
        )
