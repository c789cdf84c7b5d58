"""Rooms that are imported when somebody first asks for them: what goes wrong inside is told as what it is."""

from __future__ import annotations

import importlib
from types import ModuleType


def imported(module: str) -> ModuleType:
    """Return a module, imported now if need be.

    ImportError where an attribute was lacking inside: an AttributeError would be read as "there is no such module".
    """
    try:
        return importlib.import_module(module)
    except AttributeError as error:
        raise ImportError(f"importing {module} failed: {error}", name=module) from error
