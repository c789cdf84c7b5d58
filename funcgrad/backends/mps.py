"""torch.backends.mps: XLA has no such device here."""

from __future__ import annotations


def is_available() -> bool:
    """Tell that there is none."""
    return False


def is_built() -> bool:
    """Tell that there is none."""
    return False
