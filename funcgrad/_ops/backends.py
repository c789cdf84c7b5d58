"""What programs run on."""

from __future__ import annotations

import jax


def on_cpu() -> bool:
    """Tell whether programs run on the CPU."""
    return jax.default_backend() == "cpu"
