"""assert_close says what torch's says; make_tensor draws what it is asked for."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import funcgrad as torch
from tests.testing import comparisons

RECORDED = json.loads((Path(__file__).parent / "messages.json").read_text())


@pytest.mark.parametrize("name", comparisons.PAIRS)
def test_messages_are_torchs(name: str) -> None:
    assert comparisons.raised(torch, name) == RECORDED[name]


def test_what_is_close_passes() -> None:
    close = torch.testing.assert_close
    close(torch.ones(2), torch.ones(2) + 1e-6)
    close(torch.tensor([float("nan")]), torch.tensor([float("nan")]), equal_nan=True)
    close({"a": [1, 2.0, None]}, {"a": [1, 2.0, None]})
    close(torch.ones(2).bfloat16(), torch.ones(2).bfloat16() * 1.01)
    close(np.ones(2), np.ones(2))
    close(torch.ones(2), torch.ones(2).double(), check_dtype=False)


@pytest.mark.parametrize("name", ["float32", "bfloat16", "complex64", "int64", "uint8", "bool"])
def test_made_tensors_lie_in_their_range(name: str) -> None:
    dtype = getattr(torch, name)
    made = torch.testing.make_tensor(50, 4, dtype=dtype, device="cpu")
    assert made.shape == (50, 4) and made.dtype is dtype
    real = made.real if dtype.is_complex else made
    assert real.double().abs().max().item() <= 9
    assert real.unique().numel() > 1


def test_made_tensors_take_bounds() -> None:
    made = torch.testing.make_tensor((30,), dtype=torch.float64, device="cpu", low=2, high=3, requires_grad=True)
    assert made.requires_grad and made.min().item() >= 2 and made.max().item() < 3
    whole = torch.testing.make_tensor((200,), dtype=torch.int32, device="cpu", low=-1, high=2, exclude_zero=True)
    assert set(whole.tolist()) == {-1, 1}
    with pytest.raises(ValueError, match="`requires_grad=True` is not supported"):
        torch.testing.make_tensor(2, dtype=torch.int64, device="cpu", requires_grad=True)
    with pytest.raises(ValueError, match="`low` must be less than `high`"):
        torch.testing.make_tensor(2, dtype=torch.int64, device="cpu", low=3, high=2)


def test_classes_must_be_one_where_subclasses_are_not_allowed() -> None:
    x = torch.ones(2)
    torch.testing.assert_close(torch.nn.Parameter(x), x)
    with pytest.raises(TypeError, match="No comparison pair"):
        torch.testing.assert_close(torch.nn.Parameter(x), x, allow_subclasses=False)


@pytest.mark.filterwarnings("ignore:.*assert_allclose")
def test_the_older_way_compares_across_dtypes_and_takes_nan_for_near() -> None:
    torch.testing.assert_allclose(torch.tensor([1, 2]), [1.0, 2.0])
    torch.testing.assert_allclose(np.array([np.nan]), torch.tensor([np.nan]))
    with pytest.raises(AssertionError, match="not close"):
        torch.testing.assert_allclose(1.0, 2.0, msg="")


def test_tensors_are_drawn_as_torchs_own_are() -> None:
    make = torch.testing.make_tensor
    torch.manual_seed(1)
    found = make((5, 5), dtype=torch.complex64, device="cpu").flatten()[:2]
    torch.testing.assert_close(found, torch.tensor([4.637369 - 3.972404j, -1.744753 + 4.224320j]))
    torch.manual_seed(1)
    found = make((5, 5), dtype=torch.float32, device="cpu", noncontiguous=True)
    assert found.stride() == (10, 2)
    torch.testing.assert_close(found[0, :3], torch.tensor([-3.972404, 4.224320, 5.397455]))
    with pytest.raises(ValueError, match="mutually exclusive"):
        make(2, dtype=torch.float32, device="cpu", noncontiguous=True, memory_format=torch.contiguous_format)
    with pytest.raises(ValueError, match="only supports"):
        make(2, dtype=torch.uint8, device="cpu", low=300, high=400)


def test_large_integers_are_compared_exactly() -> None:
    with pytest.raises(AssertionError, match="not equal"):
        torch.testing.assert_close(torch.tensor([2**62]), torch.tensor([2**62 + 1]))
    with pytest.raises(AssertionError, match="None mismatch: None is not 1"):
        torch.testing.assert_close(None, 1)
    with pytest.raises(AssertionError, match="'layout' do not match"):
        torch.testing.assert_close(torch.ones(2).to_sparse(), torch.ones(2))


def test_numbers_of_two_types_are_told_as_dtypes_are() -> None:
    with pytest.raises(AssertionError, match=r"^The \(d\)types do not match: <class 'int'> != <class 'float'>\.$"):
        torch.testing.assert_close(1, 1.5)


def test_the_older_way_has_tolerances_of_its_own() -> None:
    with pytest.warns(FutureWarning, match="deprecated"):
        torch.testing.assert_allclose(torch.ones(2), torch.ones(2) + 5e-5)
