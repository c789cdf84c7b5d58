"""What torch's attention and Transformer layers are written with, under torch's names: copies of them ask for it."""

from __future__ import annotations

from typing import Any

from funcgrad._base import dtypes
from funcgrad._base.warning import warn
from funcgrad._tensor import functions as fg
from funcgrad._tensor.functions import lookup
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn.attention_forward import as_scores, projected

_function = lookup("nn.functional")


def _canonical_mask(
    mask: Tensor | None, mask_name: str, other_type: Any, other_name: str, target_type: Any, check_other: bool = True
) -> Tensor | None:
    """Return a mask to be added to scores: -inf where a boolean one is True. A floating one stays as it is.

    Warns of an `other_type` that is not the mask's. AssertionError: it is neither boolean nor floating.
    """
    if mask is None:
        return None
    if mask.dtype is not dtypes.bool_ and not mask.is_floating_point():
        raise AssertionError(f"only bool and floating types of {mask_name} are supported")
    if check_other and other_type not in (None, mask.dtype):
        warn(f"Support for mismatched {mask_name} and {other_name} is deprecated. Use same type for both instead.")
    return mask if mask.is_floating_point() else as_scores(mask, target_type, 0)


def _none_or_dtype(input: Tensor | None) -> Any:
    """Return the dtype of a mask, None of none."""
    if input is None or isinstance(input, Tensor):
        return None if input is None else input.dtype
    raise RuntimeError("input to _none_or_dtype() must be None or torch.Tensor")


def _in_projection_packed(q: Tensor, k: Tensor, v: Tensor, w: Tensor, b: Tensor | None = None) -> list[Tensor]:
    """Project query, key and value by the thirds of one weight. Shape: (..., E), w (3 E, E), b (3 E,)."""
    return list(projected(q, k, v, w, b))


def _in_projection(
    q: Tensor, k: Tensor, v: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor,
    b_q: Tensor | None = None, b_k: Tensor | None = None, b_v: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Project query, key and value by a weight each."""
    linear = _function("linear")
    return linear(q, w_q, b_q), linear(k, w_k, b_k), linear(v, w_v, b_v)


def _get_seq_len(src: Tensor, batch_first: bool) -> int | None:
    """Return the length of a sequence, or of a batch of them; None for a nested tensor."""
    if src.is_nested:
        return None
    return src.shape[1] if batch_first and src.dim() > 2 else src.shape[0]


def _generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
    """Return the mask that lets each place attend to itself and to what comes before: 0 there, else -inf."""
    return fg.triu(fg.full((sz, sz), float("-inf"), dtype=dtype, device=device), diagonal=1)


def _detect_is_causal_mask(mask: Tensor | None, is_causal: bool | None = None, size: int | None = None) -> bool:
    """Return `is_causal`; where that is not known, whether the mask is the causal one (of this size)."""
    if is_causal is not None or mask is None:
        return bool(is_causal)
    length = mask.shape[-2] if size is None else size
    causal = _generate_square_subsequent_mask(length, mask.device, mask.dtype)
    return mask.shape == causal.shape and bool((mask == causal).all())
