"""TestCase of torch's test-suites: what equals what (recorded from torch 2.13.0)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad as torch
from funcgrad.testing.cases import TestCase

ONES = torch.ones(2)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (1, 1.0), (True, 1), ([1, 2], torch.tensor([1, 2])), ("a", "a"), ({"a": ONES}, {"a": ONES}), ({1, 2}, {2, 1}),
        (float("nan"), float("nan")), (torch.tensor(1.0), 1.0), (1, torch.ones(1, 1)), (torch.Size([1]), (1,)),
        (np.ones(2, np.float32), ONES), (ONES, [1, 1]), ([torch.ones(1), 2], [torch.ones(1), 2.0]), (1.0, 1.000001),
        (torch.tensor(1), 1.0), (None, None), (torch.float32, torch.float32),
    ],
)  # fmt: skip
def test_equal(first: Any, second: Any) -> None:
    TestCase().assertEqual(first, second)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (1, 2, "Expected 2 but got 1"),
        (ONES, torch.ones(2, dtype=torch.int64), "'dtype' do not match: torch.float32 != torch.int64"),
        (ONES, np.ones(2), "'dtype' do not match: torch.float32 != torch.float64"),
        ("a", "b", "'a' != 'b'"),
        (torch.float32, torch.float64, "torch.float32 != torch.float64"),
        (None, 1, "None"),
        (ONES, (1, 1, 1), r"'shape' do not match: torch.Size\(\[2\]\) != torch.Size\(\[3\]\)"),
        ({"a": ONES}, {"b": ONES}, "a"),
        (torch.tensor(1.5), 1, "Expected 1 but got 1.5"),
    ],
)
def test_not_equal(first: Any, second: Any, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        TestCase().assertEqual(first, second)
    TestCase().assertNotEqual(first, second)


def test_a_message_follows_the_difference() -> None:
    with pytest.raises(AssertionError, match=r"Tensor-likes are not close!(.|\n)*\nafter step 3"):
        TestCase().assertEqual(ONES, ONES * 2, "after step 3")


def test_tolerances_and_dtypes_are_options() -> None:
    TestCase().assertEqual(ONES, ONES * 1.001, atol=0.01, rtol=0)
    TestCase().assertEqual(ONES, ONES.double(), exact_dtype=False)
    with pytest.raises(ValueError, match="must be either specified or omitted"):
        TestCase().assertEqual(ONES, ONES, atol=0.01)
    with pytest.raises(ValueError, match="Got 2 elements instead"):
        TestCase().assertEqual(ONES, 1.0)
