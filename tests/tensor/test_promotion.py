"""torch's type promotion, pair by pair: recorded results, and the rules that users rely on."""

from __future__ import annotations

import json

import numpy as np
import pytest

import funcgrad as torch
from tests.tensor.promotion_cases import FUNCTIONS, IN_PLACE, cases, differs_on_purpose, outcome
from tests.tensor.running import RECORDED

TRUTH = json.loads((RECORDED / "promotion.json").read_text())


@pytest.mark.parametrize("name", (*FUNCTIONS, *IN_PLACE))
def test_every_pair_of_dtypes_gives_the_dtype_that_torch_gives(name: str) -> None:
    expected = iter(TRUTH[name])
    wrong = []
    for case in cases((name,)):
        kind = TRUTH["names"][next(expected)]
        if not differs_on_purpose(case, kind) and outcome(torch, case) != kind:
            wrong.append(f"{case}: torch {kind}, funcgrad {outcome(torch, case)}")
    assert not wrong, "\n".join(wrong[:20])


def test_integers_wrap_around_also_when_a_number_changes() -> None:
    small = torch.tensor([127], dtype=torch.int8)
    assert [(small + n).item() for n in (1, 2, 200, 300, 1)] == [-128, -127, 71, -85, -128]


def test_a_truth_value_of_numpy_is_a_float_to_tensors_as_in_torch() -> None:
    for x in (torch.tensor([1, 2]), torch.tensor([True, False])):
        for made in (x * np.True_, np.bool_(False) + x, torch.where(x > 0, x, np.True_), torch.full((2,), np.True_)):
            assert made.dtype is torch.float32
    assert (torch.tensor([1, 2]) - np.True_).tolist() == [0.0, 1.0]
    assert torch.tensor(np.True_).dtype is torch.bool


def test_floats_are_cut_off_and_wrap_around_in_small_integers() -> None:
    assert torch.tensor([3.7, -3.7, 300.0]).to(torch.uint8).tolist() == [3, 253, 44]
    assert torch.tensor([3.7, -3.7]).int().tolist() == [3, -3]


def test_the_default_dtype_counts_from_the_next_line_on_each_time_it_changes() -> None:
    def kinds() -> list[torch.dtype]:
        whole = torch.arange(-1, 2)
        return [x.dtype for x in (1j * whole, whole / 2, torch.sqrt(whole * whole))]

    try:
        for _ in range(2):
            torch.set_default_dtype(torch.float32)
            assert kinds() == [torch.complex64, torch.float32, torch.float32]
            torch.set_default_dtype(torch.float64)
            assert kinds() == [torch.complex128, torch.float64, torch.float64]
    finally:
        torch.set_default_dtype(torch.float32)
