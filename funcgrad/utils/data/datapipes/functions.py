"""What pipes check of the functions they are given: that they can be pickled, and take the columns of a sample."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from funcgrad._base.warning import warn

__all__ = ["validate_input_col"]


def check_function(fn: Any) -> None:
    """Warn of a function that pickle cannot name. TypeError for what cannot be called."""
    if not callable(fn):
        raise TypeError(f"A callable function is expected, but {type(fn)} is provided.")
    if isinstance(fn, functools.partial):
        fn = fn.func
    own = fn if hasattr(fn, "__name__") else type(fn)
    is_local = (inspect.isfunction(fn) or inspect.ismethod(fn) or own is not fn) and "<locals>" in own.__qualname__
    kind = "Local" if is_local else "Lambda" if getattr(fn, "__name__", "") == "<lambda>" else ""
    if kind:
        warn(
            f"{kind} function is not supported by pickle, please use regular python function or functools.partial "
            "instead."
        )


def validate_input_col(fn: Callable[..., Any], input_col: Any) -> None:
    """Check that a function takes as many arguments by position as there are columns. ValueError where it does not."""
    try:
        parameters = inspect.signature(fn).parameters.values()
    except ValueError:  # a function of C that does not tell
        return
    count = len(input_col) if isinstance(input_col, (list, tuple)) else 1
    by_position = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    takes_more = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    by_name = [p for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
    named = fn.func if isinstance(fn, functools.partial) else fn
    name = getattr(named, "__name__", repr(named))
    if by_name:
        raise ValueError(
            f"The function {name} takes {len(by_name)} non-default keyword-only parameters, which is not allowed."
        )
    taken = None
    if len(parameters) < count:
        taken = None if takes_more else f"{len(parameters)} parameters"
    elif any(p.default is p.empty for p in by_position[count:]) or (len(by_position) < count and not takes_more):
        taken = f"{len(by_position)} positional parameters"
    if taken:
        raise ValueError(f"The function {name} takes {taken}, but {count} are required.")


def columns_of(sample: Any, input_col: Any) -> tuple[Any, ...]:
    """Return the arguments that a function of these columns is called with; None: the sample."""
    if input_col is None:
        return (sample,)
    if isinstance(input_col, (list, tuple)):
        return tuple(sample[column] for column in input_col)
    return (sample[input_col],)
