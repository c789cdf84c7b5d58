"""torch._dynamo.config and torch._inductor.config, imported as modules: each name is a switch of `compiler.config`."""

from __future__ import annotations

from typing import Any

from funcgrad.compiler import config


def __getattr__(name: str) -> Any:
    """Return the switch; None for one that nobody has set."""
    return getattr(config, name)
