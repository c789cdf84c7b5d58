"""What code asserts on its way: `_assert`, of tensors `_assert_async`, and torch's `_check` in its kinds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from funcgrad._base.dtypes import bool_
from funcgrad._base.warning import warn
from funcgrad._ops.conditions import are_not_zero
from funcgrad._tensor.refused_numbers import require
from funcgrad._tensor.registry import function
from funcgrad._tensor.tensor import Tensor

_NO_SIZES = (
    "_check_is_size will be removed in a future PyTorch release along with guard_size_oblivious.     "
    "Use _check(i >= 0) instead."
)


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
    _check_with(RuntimeError, cond, message)


@function()
def _check_index(cond: bool, message: Callable[[], str] | None = None) -> None:
    """Raise IndexError, with what `message` answers, unless `cond` is true."""
    _check_with(IndexError, cond, message)


@function()
def _check_value(cond: bool, message: Callable[[], str] | None = None) -> None:
    """Raise ValueError, with what `message` answers, unless `cond` is true."""
    _check_with(ValueError, cond, message)


@function()
def _check_type(cond: bool, message: Callable[[], str] | None = None) -> None:
    """Raise TypeError, with what `message` answers, unless `cond` is true."""
    _check_with(TypeError, cond, message)


@function()
def _check_not_implemented(cond: bool, message: Callable[[], str] | None = None) -> None:
    """Raise NotImplementedError, with what `message` answers, unless `cond` is true."""
    _check_with(NotImplementedError, cond, message)


@function()
def _check_with(error_type: type[Exception], cond: bool, message: Callable[[], str] | None) -> None:
    """Raise `error_type`, with what `message` answers, unless `cond` is true."""
    if isinstance(cond, Tensor):
        raise TypeError(
            "cond must be a bool, but got a Tensor. For tensor conditions, use torch._check_tensor_all() "
            "to assert that all elements are true."
        )
    if not isinstance(cond, bool):
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if not cond:
        raise _error_of(error_type, message)


@function()
def _check_is_size(i: int, message: Callable[[], str] | None = None, *, max: int | None = None) -> None:
    """Raise RuntimeError, with what `message` answers, unless `i` is neither negative nor above `max`."""
    warn(_NO_SIZES, FutureWarning)
    _check(i >= 0, message)
    if max is not None:
        _check(i <= max, message)


@function()
def _check_tensor_all(cond: Tensor, message: Callable[[], str] | None = None) -> None:
    """Raise RuntimeError unless all of a tensor of bools hold; of computed ones when something is read."""
    _check_tensor_all_with(RuntimeError, cond, message)


@function()
def _check_tensor_all_with(error_type: type[Exception], cond: Tensor, message: Callable[[], str] | None = None) -> None:
    """Raise `error_type`, as `_check_tensor_all` does RuntimeError."""
    if not isinstance(cond, Tensor):
        raise TypeError(f"cond must be a tensor, but got {type(cond)}")
    if cond.dtype is not bool_:
        raise TypeError(f"cond tensor must have dtype torch.bool, but got {cond.dtype}")
    require(are_not_zero, cond, error=lambda: _error_of(error_type, message))


def _error_of(kind: type[Exception], message: Any) -> Exception:
    if not issubclass(kind, Exception) or issubclass(kind, Warning):
        raise AssertionError(f"error_type must be a subclass of Exception but not Warning, got {kind}")
    if message is None:
        return kind(
            "Expected cond to be True, but got False. (Could this error message be improved? If so, please report an "
            "enhancement request to PyTorch.)"
        )
    if not callable(message):
        raise TypeError("message must be a callable")
    return kind(str(message()))
