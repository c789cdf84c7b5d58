"""torch.utils._contextlib: context managers that wrap functions and generators too."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from funcgrad._base.decorating import run_within, warn_of_decorated_class

__all__ = ["context_decorator"]


def context_decorator(ctx: Any, func: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function, or the generator function, run within a context each time that it has its turn.

    ctx: a context manager that can be entered again and again, or what makes one. RuntimeError for a class.
    """
    if callable(ctx) and hasattr(ctx, "__enter__"):
        raise AssertionError(f"Passed in {ctx} is both callable and also a valid context manager (has __enter__)")
    make: Callable[[], Any] = ctx if callable(ctx) else lambda: ctx
    if inspect.isclass(func):
        raise RuntimeError(
            "Cannot decorate classes; it is ambiguous whether or not only the constructor or all methods should have "
            "the context manager applied"
        )
    return run_within(make, func)


class _DecoratorContextManager:
    """Contract: `__enter__` and `__exit__`, and `clone` where `__init__` takes arguments. Gift: it decorates."""

    def __call__(self, orig_func: Any) -> Any:
        func = orig_func
        if inspect.isclass(orig_func):
            warn_of_decorated_class()
            func = lambda *args, **kwargs: orig_func(*args, **kwargs)  # noqa: E731 - it shall not look like the class
        return context_decorator(self.clone, func)

    def __enter__(self) -> Any:
        raise NotImplementedError

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        raise NotImplementedError

    def clone(self) -> Any:
        """Return another one like it."""
        return type(self)()


class _NoParamDecoratorContextManager(_DecoratorContextManager):
    """One that decorates without parentheses as well."""

    def __new__(cls, orig_func: Any = None) -> Any:
        return super().__new__(cls) if orig_func is None else cls()(orig_func)
