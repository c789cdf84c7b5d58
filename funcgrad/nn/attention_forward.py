"""Attention as functions: scaled_dot_product_attention, and multi_head_attention_forward of a layer's weights."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from funcgrad._base import dtypes
from funcgrad._base.warning import warn
from funcgrad._ops.table import TABLE
from funcgrad._tensor import functions as fg
from funcgrad._tensor.call import call
from funcgrad._tensor.functions import lookup
from funcgrad._tensor.tensor import Tensor
from funcgrad.random.dropout import dropout, kept_mask

_ATTENTION = TABLE["scaled_dot_product_attention"]
_function = lookup("nn.functional")


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """softmax(query key^T scale + mask) value, with dropout of the shares, whether training or not.

    Shape: query (*, L, E), key (*, S, E), value (*, S, F), attn_mask (*, L, S) of bool (True: may be seen) or added
    numbers, result (*, L, F). `scale` is 1 / sqrt(E) unless given.
    RuntimeError: a mask beside is_causal where torch has no kernel for both,
    dropout_p outside [0, 1], or shapes and dtypes that do not fit.
    """
    in_one_kernel = query.dim() == 4 and dropout_p == 0 and query.shape[-1] == value.shape[-1]
    if is_causal and attn_mask is not None and not in_one_kernel:
        raise RuntimeError("_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
    if not 0 <= dropout_p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {dropout_p}")
    kept = None
    if dropout_p > 0:
        batch = fg.broadcast_shapes(query.shape[:-2], key.shape[:-2])
        shape = (*batch, query.shape[-2], key.shape[-2])
        factor = 1 / (1 - dropout_p) if dropout_p < 1 else 0.0
        kept = kept_mask(shape, 1 - dropout_p, query.device).to(query.dtype) * factor
    return call(_ATTENTION, (query, key, value, attn_mask, kept), (is_causal, scale, enable_gqa))


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Return (attention output, attention weights or None). Shape: query (L, N, E), key and value (S, N, *), or no N.

    `is_causal` is a hint that `attn_mask` is the causal mask, which must be given all the same.
    """
    is_batched = _is_batched(query, key, value, key_padding_mask, attn_mask, num_heads)
    key_padding_mask, attn_mask = matched(key_padding_mask, attn_mask, query.dtype, ("key_padding_mask", "attn_mask"))
    _check_sizes(query, embed_dim_to_check, num_heads, is_causal and attn_mask is None)
    weights: Any = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else in_proj_weight
    q, k, v = projected(query, key, value, weights, in_proj_bias)
    if not is_batched:
        q, k, v = (part.unsqueeze(1) for part in (q, k, v))
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    length, batch = q.shape[:2]
    if bias_k is not None and bias_v is not None:
        k, v = _with_bias(k, bias_k), _with_bias(v, bias_v)
    q, k, v = (_by_head(part, batch, num_heads) for part in (q, k, v))
    k, v = k if static_k is None else static_k, v if static_v is None else static_v
    if add_zero_attn:
        k, v = (fg.cat([part, part.new_zeros((part.shape[0], 1, part.shape[2]))], dim=1) for part in (k, v))
    added = (bias_k is not None) + add_zero_attn
    drops_mask = is_causal and key_padding_mask is None and not need_weights
    mask = None if drops_mask else as_scores(attn_mask, query.dtype, added)
    mask = _with_padding(mask, key_padding_mask, query.dtype, added, num_heads)
    p, attended = dropout_p if training else 0.0, None
    if need_weights:
        output, attended = _with_weights(q, k, v, mask, p, num_heads, average_attn_weights)
        attended = attended if is_batched else attended.squeeze(0)
    else:
        output = _without_weights(q, k, v, mask, p, num_heads, drops_mask)
    output = output.transpose(0, 1).reshape(length * batch, v.shape[-1] * num_heads)
    output = _function("linear")(output, out_proj_weight, out_proj_bias).unflatten(0, (length, batch))
    return (output if is_batched else output.squeeze(1)), attended


def projected(query: Tensor, key: Tensor, value: Tensor, weights: Any, bias: Tensor | None) -> Any:
    """Project the three inputs; those that are one and the same in one product."""
    linear = _function("linear")
    if isinstance(weights, Tensor):
        if key.shape != value.shape:
            raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")
        if query is key and key is value:
            return linear(query, weights, bias).chunk(3, dim=-1)
        if key is value:
            size = query.shape[-1]
            parts = (None, None) if bias is None else bias.split([size, 2 * size])
            first, rest = weights.split([size, 2 * size])
            return (linear(query, first, parts[0]), *linear(key, rest, parts[1]).chunk(2, dim=-1))
        weights = weights.chunk(3)
    elif key.shape[:-1] != value.shape[:-1]:
        raise AssertionError(f"key's sequence and batch dims {key.shape[:-1]} do not match value's {value.shape[:-1]}")
    else:
        _check_widths(query.shape[-1], {"query": query, "key": key, "value": value}, weights)
    biases = (None, None, None) if bias is None else bias.chunk(3)
    return [linear(x, weight, b) for x, weight, b in zip((query, key, value), weights, biases, strict=True)]


def _check_widths(size: int, inputs: dict[str, Tensor], weights: Sequence[Tensor]) -> None:
    """AssertionError for an input that is not as wide as what it is to be multiplied by."""
    for (name, given), weight in zip(inputs.items(), weights, strict=True):
        expected = (size, given.shape[-1])
        if weight.shape != expected:
            raise AssertionError(f"expecting {name} weights shape of {expected}, but got {weight.shape}")


def _with_bias(part: Tensor, bias: Tensor) -> Tensor:
    return fg.cat([part, bias.repeat(1, part.shape[1], 1)])


def _by_head(part: Tensor, batch: int, heads: int) -> Tensor:
    """(length, batch, heads * size) to (batch * heads, length, size)."""
    length, _, width = part.shape
    return part.reshape(length, batch * heads, width // heads).transpose(0, 1)


def as_scores(mask: Tensor | None, dtype: Any, added: int) -> Tensor | None:
    """Return a mask to be added to the scores, -inf where a boolean one is True, wide enough for the added keys."""
    if mask is None:
        return None
    if mask.dtype is dtypes.bool_:
        scores: Any = fg.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill(mask, float("-inf"))
    else:
        scores = mask.to(dtype)
    return _function("pad")(scores, (0, added)) if added else scores


def matched(
    padding: Tensor | None, mask: Tensor | None, dtype: Any, names: tuple[str, str]
) -> tuple[Tensor | None, Tensor | None]:
    """Return a mask of padding and one of scores in one dtype; where they have two, with a warning."""
    for name, given in zip(names, (padding, mask), strict=True):
        _require_mask(given, name)
    if padding is None or mask is None or padding.dtype is mask.dtype:
        return padding, mask
    warn(f"Support for mismatched {names[0]} and {names[1]} is deprecated. Use same type for both instead.")
    return as_scores(padding, dtype, 0), as_scores(mask, dtype, 0)


def _require_mask(mask: Tensor | None, name: str) -> None:
    if mask is not None and mask.dtype is not dtypes.bool_ and not mask.is_floating_point():
        raise AssertionError(f"only bool and floating types of {name} are supported")


def _with_padding(mask: Tensor | None, padding: Tensor | None, dtype: Any, added: int, heads: int) -> Tensor | None:
    """Add the mask of padded keys (N, S). Shape: mask (L, S) or (N * heads, L, S), result (N * heads or 1, L, S)."""
    if mask is not None and mask.dim() == 2:
        mask = mask.unsqueeze(0)
    scores = as_scores(padding, dtype, added)
    if scores is None:
        return mask
    batch, keys = scores.shape
    scores = scores.view(batch, 1, 1, keys).expand(-1, heads, -1, -1).reshape(batch * heads, 1, keys)
    return scores if mask is None else mask + scores


def _with_weights(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, p: float, heads: int, is_averaged: bool
) -> tuple[Tensor, Tensor]:
    """Return the output and the weights: those of each head, or their mean."""
    scaled = q * math.sqrt(1.0 / q.shape[-1])
    scores = scaled.bmm(k.transpose(-2, -1))
    attended = (scores if mask is None else mask + scores).softmax(-1)
    if p > 0:
        attended = dropout(attended, p)
    by_head = attended.view(len(q) // heads, heads, *attended.shape[1:])
    return attended.bmm(v), by_head.mean(dim=1) if is_averaged else by_head


def _without_weights(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, p: float, heads: int, is_causal: bool
) -> Tensor:
    by_head = (len(q) // heads, heads)
    q, k, v = (part.view(*by_head, *part.shape[1:]) for part in (q, k, v))
    if mask is not None:
        mask = mask.unsqueeze(0) if mask.shape[0] == 1 else mask.view(*by_head, *mask.shape[1:])
    output = scaled_dot_product_attention(q, k, v, mask, p, is_causal)
    return output.flatten(0, 1)


def _check_sizes(query: Tensor, width: int, heads: int, lacks_mask: bool) -> None:
    if lacks_mask:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
            "`generate_square_subsequent_mask` to create this mask."
        )
    if query.shape[-1] != width:
        raise AssertionError(f"was expecting embedding dimension of {width}, but got {query.shape[-1]}")
    if width % heads:
        raise AssertionError(f"embed_dim {width} not divisible by num_heads {heads}")


def _is_batched(
    query: Tensor, key: Tensor, value: Tensor, padding: Tensor | None, mask: Tensor | None, heads: int
) -> bool:
    """Tell whether the inputs have a batch dimension, and refuse shapes that do not go together."""
    dims = query.dim()
    if dims not in (2, 3):
        raise AssertionError(f"query should be unbatched 2D or batched 3D tensor but received {dims}-D query tensor")
    kind = "batched" if dims == 3 else "unbatched"
    if key.dim() != dims or value.dim() != dims:
        raise AssertionError(
            f"For {kind} ({dims}-D) `query`, expected `key` and `value` to be {dims}-D "
            f"but found {key.dim()}-D and {value.dim()}-D tensors respectively"
        )
    if padding is not None and padding.dim() != dims - 1:
        raise AssertionError(
            f"For {kind} ({dims}-D) `query`, expected `key_padding_mask` to be `None` or {dims - 1}-D "
            f"but found {padding.dim()}-D tensor instead"
        )
    if padding is not None:
        _check_padding((1, *padding.shape)[-2:], (query.shape[1] if dims == 3 else 1, key.shape[0]))
    if mask is not None and mask.dim() not in (2, 3):
        raise AssertionError(
            f"For {kind} ({dims}-D) `query`, expected `attn_mask` to be `None`, 2-D or 3-D "
            f"but found {mask.dim()}-D tensor instead"
        )
    if mask is not None:
        _check_mask(mask, (query.shape[0], key.shape[0]), heads * (query.shape[1] if dims == 3 else 1), dims == 3)
    return dims == 3


def _check_padding(given: tuple[int, ...], wanted: tuple[int, int]) -> None:
    for place, (size, right) in enumerate(zip(given, wanted, strict=True)):
        if size != right:
            raise AssertionError(f"Expected key_padded_mask.shape[{place}] to be {right}, but got {size}")


def _check_mask(mask: Tensor, size: tuple[int, int], count: int, is_batched: bool) -> None:
    wanted = size if mask.dim() == 2 else (count, *size)
    if tuple(mask.shape) != wanted and mask.dim() == 3 and not is_batched:
        raise AssertionError(f"Expected `attn_mask` shape to be {wanted} but got {mask.shape}")
    if tuple(mask.shape) != wanted:
        raise RuntimeError(f"The shape of the {mask.dim()}D attn_mask is {mask.shape}, but should be {wanted}.")
