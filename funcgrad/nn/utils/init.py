"""skip_init: a module whose parameters are left uninitialised."""

from __future__ import annotations

from typing import Any

from funcgrad.nn.module import Module


def skip_init(module_cls: type[Module], *args: Any, **kwargs: Any) -> Module:
    """Return module_cls(*args, **kwargs) with parameters that nobody has initialised (here: zeros)."""
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    module = module_cls(*args, **kwargs)
    return module.to_empty(device=kwargs.get("device"))
