"""Tensor's methods: those of the table, made at first use, and the hand-written ones, installed once."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NoReturn

from funcgrad._tensor import conversions, facts, front, new_tensors, overriding, protocols
from funcgrad._tensor.differentiate import backward
from funcgrad._tensor.overriding import asks, asks_as_property
from funcgrad._tensor.registry import METHODS
from funcgrad._tensor.tensor import Tensor, _Methods

__all__ = ["METHODS", "conversions", "facts", "find", "install", "method_names", "new_tensors", "protocols"]

PROPERTIES = {"T", "H", "mT", "mH", "real", "imag"}
METHODS["backward"] = backward


def find(name: str) -> Any:
    """Return the method (or property) of the table with this name, or None."""
    if f".{name}" not in front.places():
        return None
    return _property(name) if name in PROPERTIES else asks(front.made(f".{name}"))


@functools.cache  # a property asks as the one object that it is
def _property(name: str) -> property:
    setter = _writes_part(name) if name in ("real", "imag") else _read_only(name)
    return asks_as_property(property(front.made(f".{name}"), setter))


def _writes_part(name: str) -> Callable[[Tensor, Any], None]:
    def write(self: Tensor, value: Any) -> None:
        getattr(self, name).copy_(value)

    return write


def _read_only(name: str) -> Callable[[Tensor, Any], NoReturn]:
    def refuse(self: Tensor, value: Any) -> NoReturn:
        raise AttributeError(f"attribute '{name}' of 'torch._C.TensorBase' objects is not writable")

    return refuse


def install() -> None:
    """Put the methods on Tensor. Operators are made now, since Python asks the class for them; others at first use."""
    for name, function in METHODS.items():
        setattr(Tensor, name, function)
    for place in front.places():
        if place.startswith(".__") and place[1:] not in METHODS:
            setattr(Tensor, place[1:], front.made(place))
    for name in PROPERTIES:
        setattr(Tensor, name, _property(name))
    for name, found in {**vars(Tensor)}.items():
        if isinstance(found, property) and found.fset is None:
            setattr(Tensor, name, found.setter(_read_only(name)))
    overriding.install()
    _Methods.find = staticmethod(find)  # type: ignore[assignment]  # a function, called as one
    _Methods.names = staticmethod(method_names)  # type: ignore[assignment]  # as well


def method_names() -> list[str]:
    """Return the names of all methods of Tensor."""
    return sorted({*METHODS, *(p[1:] for p in front.places() if p.startswith("."))})
