"""How a call of one of torch's functions is recorded: what has a default by its name, whether it was given or not."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from funcgrad.fx.naming import torch_name

_ROOM = "torch.nn.functional."
_OURS = {"out", "generator"}  # parameters that torch's functions of these names do not have
_WITH_OUT = {"normalize"}
_NEVER_INPLACE = {
    "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d",
    "interpolate", "local_response_norm", "softsign", "tanhshrink",
}  # fmt: skip
_METHODS = {f"{_ROOM}sigmoid", f"{_ROOM}tanh"}  # of these torch's functions call the tensor's method


def is_method_call(function: Callable[..., Any]) -> bool:
    """Tell whether torch's function only calls the method of its name, which is what is recorded."""
    return torch_name(function) in _METHODS


def as_recorded(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments by position and by name as torch's own function hands them to a tracer.

    Those of `nn.functional` that are Python name whatever has a default; kernels are recorded as they were called.
    TypeError: the function does not take these arguments.
    """
    name = torch_name(function)
    if name is None or not name.startswith(_ROOM):
        return args, kwargs
    signature, shown = _signature_of(function, name.removeprefix(_ROOM))
    given = signature.bind(*args, **kwargs).arguments
    positional = tuple([given[p.name] for p in signature.parameters.values() if p.default is p.empty])
    by_name = {name: given.get(name, default) for name, default in shown.items()}
    return positional, by_name | {name: given[name] for name in given if name in _OURS}


@functools.cache
def _signature_of(function: Callable[..., Any], name: str) -> tuple[inspect.Signature, dict[str, Any]]:
    """Return a function's signature, and the defaults of those parameters that torch's function has too."""
    signature = inspect.signature(function)
    lacking = (_OURS - {"out"} if name in _WITH_OUT else _OURS) | ({"inplace"} if name in _NEVER_INPLACE else set())
    optional = [p for p in signature.parameters.values() if p.default is not p.empty and p.name not in lacking]
    return signature, {p.name: _as_number(p.default) for p in optional}


def _as_number(default: Any) -> Any:
    return default[0] if type(default) is tuple and len(default) == 1 else default
