"""Whether history is kept: no_grad, enable_grad, set_grad_enabled and inference_mode, each per thread."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar

from funcgrad._base.decorating import run_within, warn_of_decorated_class
from funcgrad._base.naming import typename

F = TypeVar("F", bound=Callable[..., Any])


class _Thread(threading.local):
    def __init__(self) -> None:
        self.grad = True
        self.inference = False
        self.saved_hooks: list[Any] = []  # what changes the form of saved tensors; the last is in force
        self.running: Any = None  # the backward pass under way


thread = _Thread()


class Inference:
    """Whether any block was ever in inference mode: only then tensors are asked whether they were made in one."""

    entered = False


def is_grad_enabled() -> bool:
    """Tell whether ops keep their history now."""
    return thread.grad


def is_inference_mode_enabled() -> bool:
    """Tell whether the present block is in inference mode."""
    return thread.inference


class _GradMode:
    """Contract: `_enter` sets the mode. Gift: use as a `with` block and as a decorator, of generators too."""

    def __init__(self) -> None:
        self._outer: list[tuple[bool, bool]] = []

    def _enter(self) -> None:
        raise AssertionError("a grad mode says in _enter what it sets")

    def _clone(self) -> _GradMode:
        return type(self)()

    def __enter__(self) -> None:
        self._outer.append((thread.grad, thread.inference))
        self._enter()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        thread.grad, thread.inference = self._outer.pop()

    def __call__(self, function: F) -> F:
        if inspect.isclass(function):
            warn_of_decorated_class()
        return run_within(self._clone, function)  # type: ignore[return-value]  # same signature by wraps


class no_grad(_GradMode):  # noqa: N801 - torch's own spelling
    """Keep no history inside: as a block, or as a decorator with or without parentheses.

    >>> with no_grad():
    ...     is_grad_enabled()
    False
    """

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        self = super().__new__(cls)
        self.__init__()
        return self if function is None else self(function)

    def __init__(self, function: Any = None) -> None:
        super().__init__()

    def _enter(self) -> None:
        thread.grad = False


class enable_grad(no_grad):  # noqa: N801 - torch's own spelling
    """Keep history inside, also within `no_grad`; within `inference_mode` none is kept."""

    def _enter(self) -> None:
        thread.grad = not thread.inference


class inference_mode(no_grad):  # noqa: N801 - torch's own spelling
    """Keep no history inside. What is made there can later neither be written to nor require gradients.

    mode: False leaves a block of inference mode for as long as this one lasts, and keeps history.
    """

    def __new__(cls, mode: Any = True) -> Any:
        self = object.__new__(cls)
        self.__init__(mode)
        return self(mode) if callable(mode) else self

    def __init__(self, mode: Any = True) -> None:
        super().__init__()
        self._mode = bool(mode)

    def _clone(self) -> _GradMode:
        return type(self)(self._mode)

    def _enter(self) -> None:
        Inference.entered = Inference.entered or self._mode
        thread.inference = self._mode
        thread.grad = not self._mode


class set_grad_enabled(_GradMode):  # noqa: N801 - torch's own spelling
    """Set the mode at once; as a block or decorator, for its duration."""

    def __init__(self, mode: bool) -> None:
        if type(mode) is not bool:
            kind = typename(mode)
            raise TypeError(f"set_grad_enabled(): argument 'enabled' (position 1) must be bool, not {kind}")
        super().__init__()
        self._mode = mode
        self._before = thread.grad
        thread.grad = self._mode and not thread.inference

    def __repr__(self) -> str:
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self._mode})"

    def _clone(self) -> _GradMode:
        return type(self)(self._mode)

    def __enter__(self) -> None:
        self._outer.append((self._before, thread.inference))
        thread.grad = self._mode and not thread.inference

    def __call__(self, function: F) -> F:
        thread.grad = self._before
        return super().__call__(function)
