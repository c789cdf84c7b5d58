"""torch.backends.opt_einsum: accepted and kept; JAX chooses the order of an einsum with opt_einsum."""

from __future__ import annotations

enabled, strategy = True, "auto"


def is_available() -> bool:
    """Tell that it is used."""
    return True
