"""A layer of this package that inherits how it is made says its own name where arguments do not fit, as torch's do."""

from __future__ import annotations

from types import FunctionType
from typing import Any

_PACKAGE = __name__.partition(".")[0]


def name_own_init(layer: Any, root: Any) -> None:
    """Give a layer of this package that inherits `__init__`, not from `root`, one that is named after the layer."""
    inherited = layer.__init__
    is_public = layer.__module__.partition(".")[0] == _PACKAGE and not layer.__name__.startswith("_")
    if not is_public or "__init__" in vars(layer) or inherited is root.__init__:
        return
    own = FunctionType(
        inherited.__code__, inherited.__globals__, "__init__", inherited.__defaults__, inherited.__closure__
    )
    own.__kwdefaults__, own.__annotations__ = inherited.__kwdefaults__, inherited.__annotations__
    own.__doc__, own.__module__ = inherited.__doc__, inherited.__module__
    own.__qualname__ = f"{layer.__name__}.__init__"
    layer.__init__ = own
