"""What copies of torch's own layers import from beside them is there, and does what it does in torch 2.13."""

from __future__ import annotations

from typing import get_args

import pytest
from funcgrad.nn.modules.conv import _reverse_repeat_tuple  # type: ignore[attr-defined]  # made when it is imported
from funcgrad.nn.modules.normalization import _shape_t  # type: ignore[attr-defined]
from funcgrad.nn.modules.rnn import apply_permutation  # type: ignore[attr-defined]
from funcgrad.nn.modules.transformer import (  # type: ignore[attr-defined]
    _detect_is_causal_mask,
    _generate_square_subsequent_mask,
    _get_seq_len,
)
from funcgrad.nn.modules.utils import _list_with_default  # type: ignore[attr-defined]

import funcgrad as torch
from funcgrad.nn import functional as F


def test_masks_become_scores_of_the_wanted_dtype() -> None:
    boolean, scores = torch.tensor([[True, False]]), torch.tensor([[0.5, 0.0]], dtype=torch.float64)
    found = F._canonical_mask(boolean, "mask", None, "", torch.float16)
    assert found is not None and found.dtype is torch.float16 and found.tolist() == [[float("-inf"), 0]]
    assert F._canonical_mask(scores, "mask", None, "", torch.float32) is scores
    assert F._canonical_mask(None, "mask", None, "", torch.float32) is None
    with pytest.warns(UserWarning, match="Support for mismatched mask and other is deprecated"):
        F._canonical_mask(boolean, "mask", F._none_or_dtype(scores), "other", torch.float32)
    with pytest.raises(AssertionError, match="only bool and floating types of mask are supported"):
        F._canonical_mask(torch.ones(2).long(), "mask", None, "", torch.float32)
    with pytest.raises(RuntimeError, match=r"must be None or torch\.Tensor"):
        F._none_or_dtype(1)


def test_packed_projections_are_those_by_each_third() -> None:
    q, k, weight, bias = torch.randn(2, 3, 4), torch.randn(2, 5, 4), torch.randn(12, 4), torch.randn(12)
    for inputs in ((q, q, q), (q, k, k), (q, k, k + 1)):
        packed = F._in_projection_packed(*inputs, weight, bias)
        apart = F._in_projection(*inputs, *weight.chunk(3), *bias.chunk(3))
        assert all(torch.allclose(one, other, atol=1e-6) for one, other in zip(packed, apart, strict=True))


def test_causal_masks_are_recognised() -> None:
    causal = _generate_square_subsequent_mask(3)
    assert causal[0].tolist() == [0, float("-inf"), float("-inf")]
    found = [_detect_is_causal_mask(*given) for given in ((causal,), (causal * 0,), (causal, False), (None,))]
    assert [*found, _detect_is_causal_mask(causal, None, 4)] == [True, False, False, False, False]
    x = torch.ones(2, 3, 4)
    assert (_get_seq_len(x, True), _get_seq_len(x, False), _get_seq_len(x[0], True)) == (3, 2, 3)


def test_small_helpers() -> None:
    assert _reverse_repeat_tuple((1, 2), 2) == (2, 2, 1, 1)
    assert _list_with_default([None, 3], [1, 2, 5, 6]) == [5, 3] and _list_with_default(3, [1]) == 3
    with pytest.raises(ValueError, match="Input dimension should be at least 3"):
        _list_with_default([1, 2], [1, 2])
    assert int in get_args(_shape_t) and torch.Size in get_args(_shape_t)
    with pytest.warns(FutureWarning, match="`apply_permutation` is deprecated"):
        assert apply_permutation(torch.arange(3).view(1, 3), torch.tensor([2, 0, 1])).tolist() == [[2, 0, 1]]
