"""Masked tensors show what torch's show; what does not count takes no part in results and gradients."""

from __future__ import annotations

import json

import pytest

import funcgrad
from funcgrad import masked
from tests.masked.running import RECORDED, expressions, shown

TRUTH = json.loads(RECORDED.read_text())
DATA = funcgrad.arange(6.0).reshape(2, 3)
MASK = funcgrad.tensor([[True, False, True], [False, True, True]])


@pytest.mark.parametrize("source", expressions())
def test_expression_shows_what_torch_shows(source: str) -> None:
    assert shown(funcgrad, source) == TRUTH[source]


def test_every_record_has_its_expression() -> None:
    assert list(TRUTH) == expressions()


def test_gradients_reach_what_counts() -> None:
    data = DATA.clone().requires_grad_()
    masked.as_masked_tensor(data, MASK).prod(1).sum().backward()
    assert data.grad.tolist() == [[2.0, 0.0, 0.0], [0.0, 5.0, 4.0]]


def test_masked_functions_take_the_mask_of_a_masked_tensor() -> None:
    given = masked.masked_tensor(DATA, MASK)
    assert masked.mean(given, 1).tolist() == [1.0, 4.5]
    assert masked.sum(given, 1, mask=~MASK).tolist() == [1.0, 3.0]


def test_a_number_that_does_not_count_spoils_no_gradient() -> None:
    x = masked.masked_tensor(funcgrad.tensor([0.0, 4.0]), funcgrad.tensor([False, True]), requires_grad=True)
    x.sqrt().sum().backward()
    assert x.grad.to_tensor(-1.0).tolist() == [-1.0, 0.25]


def test_what_masked_tensors_lack_names_the_function() -> None:
    with pytest.raises(TypeError, match=r"Multiple dispatch failed for 'torch\.Tensor\.cumsum'"):
        masked.masked_tensor(DATA, MASK).cumsum(0)


def test_equal_masks_may_be_written_to() -> None:
    x = masked.masked_tensor(DATA, MASK)
    x += masked.masked_tensor(DATA, MASK.clone())
    assert x.to_tensor(0.0).tolist() == [[0.0, 0.0, 4.0], [0.0, 8.0, 10.0]]
    with pytest.raises(ValueError, match="Input masks must match"):
        x.mul_(masked.masked_tensor(DATA, ~MASK))
