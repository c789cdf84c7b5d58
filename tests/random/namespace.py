"""funcgrad's names as the scripts use them, put together from the rooms: these tests need no front door."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from funcgrad import random
from funcgrad._base import dtypes
from funcgrad._tensor import functions as fg
from funcgrad.random import dropout, functions


def torch() -> Any:
    """Return what `torch` means inside a script."""
    names: dict[str, Any] = {kind.name: kind for kind in dtypes.ALL} | {"bool": dtypes.bool_}
    for module in (fg, functions):
        names |= {name: getattr(module, name) for name in dir(module) if not name.startswith("__")}
    names |= {name: getattr(random, name) for name in random.__all__}
    return SimpleNamespace(**names, nn=SimpleNamespace(functional=dropout))
