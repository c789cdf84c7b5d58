"""Functions and generators that run within a context: what all context managers that decorate have in common."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from funcgrad._base.warning import warn


def run_within(make: Callable[[], Any], function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function, or the generator function, run within a context each time that it has its turn.

    make: gives a context manager, for each turn of a generator another one.
    """
    if inspect.isgeneratorfunction(function):
        return _generating_within(make, function)

    @functools.wraps(function)
    def inside(*args: Any, **kwargs: Any) -> Any:
        with make():
            return function(*args, **kwargs)

    return inside


def _generating_within(make: Callable[[], Any], function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def inside(*args: Any, **kwargs: Any) -> Any:
        generator = function(*args, **kwargs)
        resume, given = generator.send, None
        while True:
            try:
                with make():
                    item = resume(given)
            except StopIteration as end:
                return end.value
            try:
                resume, given = generator.send, (yield item)
            except GeneratorExit:
                with make():
                    generator.close()
                raise
            except BaseException as error:  # thrown into this generator: it is for the one inside
                resume, given = generator.throw, error

    return inside


def warn_of_decorated_class() -> None:
    """Warn, in torch's words, that a whole class is decorated."""
    warn(
        "Decorating classes is deprecated and will be disabled in future versions. You should only decorate "
        "functions or methods. To preserve the current behavior of class decoration, you can directly decorate "
        "the `__init__` method and nothing else.",
        FutureWarning,
    )
