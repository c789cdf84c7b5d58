"""Layers on nested tensors: products with dense weights, embeddings, normalizations and attention."""

from __future__ import annotations

from typing import Any

from funcgrad._tensor.overriding import name_of
from funcgrad._tensor.tensor import Tensor
from funcgrad.nested.padding import filled, from_rectangle, rectangle
from funcgrad.nested.shaping import shown
from funcgrad.nested.tensor import NestedTensor, handles


@handles("linear")
def _linear(func: Any, input: Tensor, weight: Tensor, bias: Tensor | None = None) -> NestedTensor:
    if not isinstance(input, NestedTensor) or input._ragged_idx == input.ndim - 1:
        raise RuntimeError("linear(): expected a nested input, not ragged in its last dimension, and dense weights")
    return input._like(func(input._plain(), weight, bias))


@handles("embedding", "one_hot")
def _embedding(func: Any, input: Tensor, *args: Any, **options: Any) -> NestedTensor:
    if not isinstance(input, NestedTensor):
        raise RuntimeError(f"{name_of(func)}(): expected nested indices and a dense weight")
    return input._like(func(input._plain(), *args, **options))


@handles("layer_norm", "rms_norm")
def _norm(func: Any, input: NestedTensor, normalized_shape: Any, *args: Any, **options: Any) -> NestedTensor:
    sizes = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
    if len(sizes) > input.ndim - 1 - input._ragged_idx:
        raise RuntimeError(
            f"Given normalized_shape={sizes}, expected input with shape [*, {', '.join(map(str, sizes))}], but got "
            f"input of size {shown(input.shape)}, whose ragged dimension cannot be normalized over"
        )
    return input._like(func(input._plain(), sizes, *args, **options))


@handles("matmul", "__matmul__", "__rmatmul__", "bmm", "mm")
def _matmul(func: Any, input: Tensor, other: Tensor) -> Tensor:
    """Multiply by a dense matrix, by a dense matrix for each entry, or sum over the ragged size of two."""
    if isinstance(input, NestedTensor) and not isinstance(other, NestedTensor):
        at = input._ragged_idx
        if other.ndim <= 2 and at < input.ndim - 1:
            return input._like(input._plain().matmul(other))
        if other.ndim == input.ndim == 3 and at == 1 and other.shape[0] == len(input):
            return from_rectangle(filled(input, 0).matmul(other), input._raggedness)
    if isinstance(input, NestedTensor) and isinstance(other, NestedTensor):
        is_summed = input._raggedness is other._raggedness and input.ndim == other.ndim
        if is_summed and input._ragged_idx == input.ndim - 1 and other._ragged_idx == other.ndim - 2:
            left, right = (filled(x, 0).movedim(1, x._ragged_idx) for x in (input, other))
            return left.matmul(right)
    shapes = " and ".join(shown(x.shape) if isinstance(x, NestedTensor) else str(x.shape) for x in (input, other))
    raise RuntimeError(f"matmul(): not supported between inputs of shapes {shapes}")


@handles("scaled_dot_product_attention")
def _attention(
    func: Any, query: Any, key: Any, value: Any, attn_mask: Tensor | None = None, dropout_p: float = 0.0,
    is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False,
) -> NestedTensor:  # fmt: skip
    """Attend within each entry. Shape: query (B, H, *, E), key and value (B, H, *, E), equally ragged."""
    _check(query, key, value, attn_mask)
    queries, _ = rectangle(query)
    keys, is_held = rectangle(key)
    values, _ = rectangle(value)
    seen = is_held[:, None, None]
    if is_causal:
        steps = is_held.new_ones(queries.shape[1], keys.shape[1]).tril()
        seen = seen & steps
    turned = [x.movedim(1, -2) if x.ndim == 4 else x.unsqueeze(1) for x in (queries, keys, values)]
    result = func(*turned, seen, dropout_p, False, scale=scale, enable_gqa=enable_gqa)
    rows = result.movedim(-2, 1) if query.ndim == 4 else result.squeeze(1)
    return from_rectangle(rows, query._raggedness, query._ragged_idx)


def _check(query: Any, key: Any, value: Any, attn_mask: Any) -> None:
    named = {"query": query, "key": key, "value": value}
    if not all(isinstance(x, NestedTensor) for x in named.values()):
        raise ValueError(
            "Expected query, key, and value to be nested tensors, but got "
            f"query.is_nested: {query.is_nested}, key.is_nested: {key.is_nested}, "
            f"and value.is_nested: {value.is_nested} instead."
        )
    if not query.dtype == key.dtype == value.dtype:
        raise ValueError(
            "Expected query, key, and value to have the same dtype, but got "
            f"query.dtype: {query.dtype}, key.dtype: {key.dtype}, and value.dtype: {value.dtype} instead."
        )
    if not query._ragged_idx == key._ragged_idx == value._ragged_idx:
        raise ValueError(
            "Expected query, key, and value to all be ragged on the same dimension, but got ragged dims "
            f"{query._ragged_idx}, {key._ragged_idx}, and {value._ragged_idx}, respectively."
        )
    if attn_mask is not None:
        raise ValueError("Masks are not yet supported!")
    if query.ndim not in (3, 4) or query._ragged_idx != query.ndim - 2:
        raise RuntimeError(
            "scaled_dot_product_attention: expected (B, *, E) or (B, H, *, E), ragged in the last dimension but one, "
            f"but got {shown(query.shape)}"
        )
    if key._raggedness is not value._raggedness and key._raggedness.sizes.tolist() != value._raggedness.sizes.tolist():
        raise RuntimeError(
            f"scaled_dot_product_attention: key and value are not equally ragged: {shown(key.shape)} and "
            f"{shown(value.shape)}"
        )
