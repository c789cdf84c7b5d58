"""MultiheadAttention: several attentions side by side, each in its own projection."""

from __future__ import annotations

from typing import Any

from funcgrad._tensor.tensor import Tensor
from funcgrad.nn import functional as F
from funcgrad.nn import init
from funcgrad.nn.linear import NonDynamicallyQuantizableLinear
from funcgrad.nn.module import Module
from funcgrad.nn.parameter import Parameter, empty_parameter


class MultiheadAttention(Module):
    """softmax(Q K^T / sqrt(head size)) V for `num_heads` heads, joined and projected.

    Source: Vaswani et al. 2017, https://arxiv.org/abs/1706.03762.
    """

    __constants__ = ("batch_first",)
    bias_k: Parameter | None
    bias_v: Parameter | None

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} "
                "instead"
            )
        if embed_dim % num_heads:
            raise AssertionError("embed_dim must be divisible by num_heads")
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.dropout, self.batch_first, self.add_zero_attn = dropout, batch_first, add_zero_attn
        self._make_projections(bias, device, dtype)
        for name in ("bias_k", "bias_v"):
            new = empty_parameter((1, 1, embed_dim), device, dtype) if add_bias_kv else None
            self.register_parameter(name, new)
        self._reset_parameters()

    def _make_projections(self, bias: bool, device: Any, dtype: Any) -> None:
        size = self.embed_dim
        shapes: dict[str, tuple[int, int] | None] = {
            "in_proj_weight": (3 * size, size), "q_proj_weight": None, "k_proj_weight": None, "v_proj_weight": None,
        }  # fmt: skip
        if not self._qkv_same_embed_dim:
            shapes = {
                "q_proj_weight": (size, size), "k_proj_weight": (size, self.kdim), "v_proj_weight": (size, self.vdim),
                "in_proj_weight": None,
            }  # fmt: skip
        for name, shape in shapes.items():
            self.register_parameter(name, None if shape is None else empty_parameter(shape, device, dtype))
        self.register_parameter("in_proj_bias", empty_parameter(3 * size, device, dtype) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(size, size, bias=bias, device=device, dtype=dtype)

    def _reset_parameters(self) -> None:
        weights = (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        for weight in weights:
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)
        if self.bias_k is not None and self.bias_v is not None:
            init.xavier_normal_(self.bias_k)
            init.xavier_normal_(self.bias_v)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({"_qkv_same_embed_dim": True, **state})

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Return (attention output, attention weights or None).

        Shape: query (L, N, E), key (S, N, kdim), value (S, N, vdim), result (L, N, E); batch first where so made;
        without N for a single sequence. In boolean masks True forbids; other masks are added to the scores.
        """
        if any(getattr(x, "is_nested", False) for x in (query, key, value)):
            raise AssertionError(
                "MultiheadAttention does not support NestedTensor outside of its fast path, which is not here: split "
                "the heads and call scaled_dot_product_attention"
            )
        swap = self.batch_first and query.dim() == 3
        if swap:
            query, key, value = _swapped(query, key, value)
        output, weights = F.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias,
            self.bias_k, self.bias_v, self.add_zero_attn, self.dropout, self.out_proj.weight, self.out_proj.bias,
            training=self.training, key_padding_mask=key_padding_mask, need_weights=need_weights,
            attn_mask=attn_mask, use_separate_proj_weight=not self._qkv_same_embed_dim,
            q_proj_weight=self.q_proj_weight, k_proj_weight=self.k_proj_weight, v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights, is_causal=is_causal,
        )  # fmt: skip
        return (output.transpose(1, 0) if swap else output), weights


def _swapped(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Put the sequence first; tensors that are one stay one, so that they are projected together."""
    swapped_query = query.transpose(1, 0)
    swapped_key = swapped_query if key is query else key.transpose(1, 0)
    swapped_value = swapped_key if value is key else value.transpose(1, 0)
    return swapped_query, swapped_key, swapped_value
