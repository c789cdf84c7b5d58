"""skip_init: a module whose parameters are left uninitialised."""

from __future__ import annotations

import inspect
from typing import Any

from funcgrad._tensor.placement import get_default_device
from funcgrad.nn.module import Module


def skip_init(module_cls: type[Module], *args: Any, **kwargs: Any) -> Module:
    """Return module_cls(*args, **kwargs) with parameters that nobody has initialised (here: zeros).

    No random numbers are drawn. Raises RuntimeError for a class whose arguments do not name `device`.
    """
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    device = kwargs.pop("device", None) or get_default_device()
    return module_cls(*args, device="meta", **kwargs).to_empty(device=device)
