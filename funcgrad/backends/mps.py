"""torch.backends.mps: XLA has no such device here."""

from __future__ import annotations


def is_available() -> bool:
    """Tell that there is none."""
    return False


def is_built() -> bool:
    """Tell that there is none."""
    return False


def is_macos_or_newer(major: int, minor: int) -> bool:
    """Raise RuntimeError, as torch does on other systems."""
    raise RuntimeError("Cannot execute isOnMacOSorNewer() without MPS backend.")


def is_macos13_or_newer(minor: int = 0) -> bool:
    """Raise RuntimeError, as torch does on other systems."""
    return is_macos_or_newer(13, minor)
