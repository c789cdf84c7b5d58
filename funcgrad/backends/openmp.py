"""torch.backends.openmp: XLA has threads of its own."""

from __future__ import annotations


def is_available() -> bool:
    """Tell that it is not used."""
    return False
