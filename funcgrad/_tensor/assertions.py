"""What code asserts on its way: `_assert`, of tensors `_assert_async`, and torch's `_check` in its kinds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from funcgrad._ops.conditions import are_not_zero
from funcgrad._tensor.refused_numbers import require
from funcgrad._tensor.registry import function
from funcgrad._tensor.tensor import Tensor


@function()
def _assert(condition: Any, message: str) -> None:
    """Raise AssertionError with this message where the condition does not hold: an `assert` that torch.fx can trace."""
    if not condition:
        raise AssertionError(message)


@function()
def _assert_async(input: Tensor, assert_msg: str | None = None) -> None:
    """Demand that a tensor's one number is not zero; RuntimeError comes when a computed one is read."""
    if input.numel() != 1:
        number = "more than one value" if input.numel() else "no values"
        raise RuntimeError(f"Boolean value of Tensor with {number} is ambiguous")
    require(are_not_zero, input, error=None if assert_msg is None else lambda: RuntimeError(assert_msg))


@function()
def _check(cond: bool, message: Callable[[], str] | None = None) -> None:
    """Raise RuntimeError, with what `message` answers, unless `cond` is true."""
    _require(RuntimeError, cond, message)


@function()
def _check_index(cond: bool, message: Callable[[], str] | None = None) -> None:
    """Raise IndexError, with what `message` answers, unless `cond` is true."""
    _require(IndexError, cond, message)


@function()
def _check_value(cond: bool, message: Callable[[], str] | None = None) -> None:
    """Raise ValueError, with what `message` answers, unless `cond` is true."""
    _require(ValueError, cond, message)


@function()
def _check_type(cond: bool, message: Callable[[], str] | None = None) -> None:
    """Raise TypeError, with what `message` answers, unless `cond` is true."""
    _require(TypeError, cond, message)


@function()
def _check_not_implemented(cond: bool, message: Callable[[], str] | None = None) -> None:
    """Raise NotImplementedError, with what `message` answers, unless `cond` is true."""
    _require(NotImplementedError, cond, message)


def _require(kind: type[Exception], cond: Any, message: Any) -> None:
    if isinstance(cond, Tensor):
        raise TypeError("cond must be a bool, but got a Tensor: give cond.all().item(), or ask torch._assert_async")
    if not isinstance(cond, bool):
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if message is not None and not callable(message):
        raise TypeError("message must be a callable")
    if not cond:
        raise kind("Expected cond to be True, but got False." if message is None else str(message()))
