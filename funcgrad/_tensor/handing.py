"""How torch hands a function's arguments to those who are asked: where it is Python, by name what has a default."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

_OURS = {"out", "generator"}  # parameters that torch's functions of these names do not have
_WITH_OUT = {"normalize"}
_NEVER_INPLACE = {
    "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d",
    "interpolate", "local_response_norm", "softsign", "tanhshrink",
}  # fmt: skip

# Each returns functions that are Python in torch; to make them all before somebody asks would take time.
in_python: list[Callable[[], Iterable[Any]]] = []
wholly_named: set[Any] = set()  # functions that are Python in torch and name what has no default too


def handed(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments by position and by name as torch's own function hands them on.

    Functions that are Python in torch name whatever has a default, given or not; kernels get what the caller wrote.
    """
    if function not in _functions() and function not in wholly_named:
        return args, kwargs
    signature, shown = _signature_of(function)
    try:
        given = signature.bind(*args, **kwargs).arguments
    except TypeError:  # said in the function's own words when it is called
        return args, kwargs
    positional = tuple(
        [given[p.name] for p in signature.parameters.values() if p.default is p.empty and p.name not in shown]
    )
    by_name = {name: given.get(name, default) for name, default in shown.items()}
    return positional, by_name | {name: given[name] for name in given if name in _OURS}


@functools.cache
def _functions() -> frozenset[Any]:
    return frozenset(function for functions in in_python for function in functions())


@functools.cache
def _signature_of(function: Callable[..., Any]) -> tuple[inspect.Signature, dict[str, Any]]:
    """Return a function's signature, and the defaults of those parameters that torch's function names."""
    signature, name = inspect.signature(function), function.__name__
    if function in wholly_named:
        return signature, {p.name: p.default for p in signature.parameters.values()}
    lacking = (_OURS - {"out"} if name in _WITH_OUT else _OURS) | ({"inplace"} if name in _NEVER_INPLACE else set())
    optional = [p for p in signature.parameters.values() if p.default is not p.empty and p.name not in lacking]
    return signature, {p.name: _as_number(p.default) for p in optional}


def _as_number(default: Any) -> Any:
    return default[0] if type(default) is tuple and len(default) == 1 else default
