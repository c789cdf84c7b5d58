"""_assert_async and the kinds of _check raise torch's errors."""

from __future__ import annotations

from typing import Any

import pytest

import funcgrad as torch
from funcgrad import explain


def test_an_assertion_of_computed_numbers_is_told_when_they_are_read() -> None:
    x = torch.arange(3.0) * 2
    torch._assert_async((x >= 0).all(), "negative")
    torch._assert_async((x > 3).sum())
    torch._assert_async((x > 0).all(), "x must be positive")
    with pytest.raises(RuntimeError, match="x must be positive"):
        x.sum().item()


def test_an_assertion_of_known_numbers_is_told_at_once() -> None:
    torch._assert_async(torch.tensor([0.5]))
    with pytest.raises(RuntimeError, match="Expected Tensor with single nonzero value, but got zero"):
        torch._assert_async(torch.tensor(0))
    with pytest.raises(RuntimeError, match="Boolean value of Tensor with more than one value is ambiguous"):
        torch._assert_async(torch.tensor([True, True]))
    with pytest.raises(RuntimeError, match="Boolean value of Tensor with no values is ambiguous"):
        torch._assert_async(torch.tensor([]))


@pytest.mark.parametrize(("name", "kind"), [
    ("_check", RuntimeError), ("_check_index", IndexError), ("_check_value", ValueError), ("_check_type", TypeError),
    ("_check_not_implemented", NotImplementedError),
])  # fmt: skip
def test_each_check_has_its_kind_of_error(name: str, kind: type[Exception]) -> None:
    check: Any = getattr(torch, name)
    check(True)
    check(True, lambda: pytest.fail("asked for the message of what holds"))
    with pytest.raises(kind, match="3 is too many"):
        check(False, lambda: f"{3} is too many")
    with pytest.raises(kind, match="Expected cond to be True, but got False"):
        check(False)
    with pytest.raises(TypeError, match="cond must be a bool, but got <class 'int'>"):
        check(1)
    with pytest.raises(TypeError, match="cond must be a bool, but got a Tensor"):
        check(torch.tensor(True))
    with pytest.raises(TypeError, match="message must be a callable"):
        check(False, "no function")
    check(True, "no function")


def test_a_check_raises_the_error_that_it_is_given() -> None:
    torch._check_with(KeyError, True, None)
    with pytest.raises(KeyError, match="3 is too many"):
        torch._check_with(KeyError, False, lambda: f"{3} is too many")
    with pytest.raises(AssertionError, match="error_type must be a subclass of Exception but not Warning"):
        torch._check_with(UserWarning, False, None)


def test_a_check_of_known_bools_is_told_at_once() -> None:
    torch._check_tensor_all(torch.tensor([True, True]))
    torch._check_tensor_all(torch.ones(0, dtype=torch.bool))
    with pytest.raises(RuntimeError, match="Expected cond to be True, but got False"):
        torch._check_tensor_all(torch.tensor([True, False]))
    with pytest.raises(ValueError, match="not all"):
        torch._check_tensor_all_with(ValueError, torch.tensor([False]), lambda: "not all")
    with pytest.raises(TypeError, match=r"cond tensor must have dtype torch.bool, but got torch.int64"):
        torch._check_tensor_all(torch.tensor([1]))
    with pytest.raises(TypeError, match="cond must be a tensor, but got <class 'bool'>"):
        torch._check_tensor_all(True)  # type: ignore[arg-type]  # that is the point


def test_a_check_of_computed_bools_runs_nothing_and_is_told_when_they_are_read() -> None:
    weight = torch.ones(3, requires_grad=True)
    with explain.counted() as seen:
        x = weight * torch.arange(3.0)
        torch._check_tensor_all(x >= 0)
        torch._check_tensor_all_with(IndexError, x > 0, lambda: "not all are positive")
    assert seen.runs == 0
    with pytest.raises(IndexError, match="not all are positive"):
        x.sum().item()


def test_a_size_is_neither_negative_nor_too_large() -> None:
    with pytest.warns(FutureWarning, match="_check_is_size will be removed"):
        torch._check_is_size(3, max=3)
    for size, most in ((-1, None), (4, 3)):
        with pytest.warns(FutureWarning), pytest.raises(RuntimeError, match="no size"):
            torch._check_is_size(size, lambda: "no size", max=most)
