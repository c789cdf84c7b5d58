"""Where hand-written functions enter their public names: methods of Tensor, functions of a namespace, or both."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from funcgrad._base.errors import NotATensor
from funcgrad._tensor.called import count_tensor, forget_places

METHODS: dict[str, Any] = {}
FUNCTIONS: dict[str, Any] = {}  # "where", "nn.functional.one_hot"
# `overriding` enters here what says of arguments on which a function failed whether it is to be called again.
again: list[Callable[[tuple[Any, ...]], bool]] = []


def asks_late(given: tuple[Any, ...]) -> bool:
    """Tell whether a function can do nothing with the first object of a class that overrides functions; now it asks."""
    return any(wants(given) for wants in again)


def method(*names: str) -> Callable[[Any], Any]:
    """Give a function (or property) to Tensor under these names (its own, without names)."""
    return _entering((METHODS,), names)


def function(*names: str) -> Callable[[Any], Any]:
    """Give a function to the plain namespace, or to the one that its dotted name says."""
    return _entering((FUNCTIONS,), names)


def both(*names: str) -> Callable[[Any], Any]:
    """Give a function to the plain namespace and to Tensor."""
    return _entering((METHODS, FUNCTIONS), names)


def _entering(where: tuple[dict[str, Any], ...], names: tuple[str, ...]) -> Callable[[Any], Any]:
    def enter(entered: Any) -> Any:
        if "<locals>" in getattr(entered, "__qualname__", ""):
            entered.__qualname__ = entered.__name__  # Python's own errors name it so
        for registry in where:
            public = _explained(entered, METHODS in where) if registry is FUNCTIONS else entered
            for name in names or (entered.__name__,):
                registry[name] = public
            if public is not entered:
                _say_where(public, (names or (entered.__name__,))[0])
        return entered

    return enter


def _say_where(public: Any, name: str) -> None:
    """Let a function name the place where users find it, and pickles."""
    room, _, public.__name__ = name.rpartition(".")
    public.__module__, public.__qualname__ = f"funcgrad.{room}".rstrip("."), public.__name__


def _explained(entered: Any, is_method: bool) -> Any:
    """Return the function, which says of an argument that must be a tensor, and lacks what tensors have, what it is.

    is_method: whether errors of its arguments count as a method does.
    """
    if not inspect.isfunction(entered) or "Tensor" not in entered.__annotations__.values():
        return entered

    @functools.wraps(entered)
    def explained(*args: Any, **kwargs: Any) -> Any:
        try:
            return entered(*args, **kwargs)
        except TypeError as error:
            if asks_late((*args, *kwargs.values())):
                return explained(*args, **kwargs)
            forget_places(error, kwargs)
            if is_method:
                count_tensor(error, entered.__name__)
            raise
        except AttributeError as error:
            if asks_late((*args, *kwargs.values())):
                return explained(*args, **kwargs)
            _refuse(entered, inspect.signature(entered).bind(*args, **kwargs).arguments, error.obj)
            raise

    return explained


def _refuse(entered: Any, arguments: dict[str, Any], lacking: Any) -> None:
    """Raise NotATensor where the object that lacks an attribute stands in the place of a tensor."""
    for position, (name, given) in enumerate(arguments.items(), 1):
        if given is lacking and entered.__annotations__.get(name) == "Tensor" and not hasattr(given, "requires_grad"):
            raise NotATensor(
                f"{entered.__name__}(): argument '{name}' (position {position}) must be Tensor, "
                f"not {type(given).__name__}"
            ) from None
