"""torch.compile for scripts that call it: every loop is compiled already, so the model is returned as it is."""

from __future__ import annotations

from typing import Any


def compile(model: Any = None, **options: Any) -> Any:
    """Return the model or function itself; as a decorator with options too."""
    return model if model is not None else lambda function: function
