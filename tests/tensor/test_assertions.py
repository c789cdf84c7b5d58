"""_assert_async and the kinds of _check raise torch's errors."""

from __future__ import annotations

from typing import Any

import pytest

import funcgrad as torch


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
        check(True, "no function")
