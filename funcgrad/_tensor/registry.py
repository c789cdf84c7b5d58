"""Where hand-written functions enter their public names: methods of Tensor, functions of a namespace, or both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

METHODS: dict[str, Any] = {}
FUNCTIONS: dict[str, Any] = {}  # "where", "nn.functional.one_hot"


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
        for registry in where:
            for name in names or (entered.__name__,):
                registry[name] = entered
        return entered

    return enter
