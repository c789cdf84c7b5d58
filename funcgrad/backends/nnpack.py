"""torch.backends.nnpack: XLA has kernels of its own."""

from __future__ import annotations

from contextlib import AbstractContextManager

from funcgrad.backends.switches import switched

enabled = True


def is_available() -> bool:
    """Tell that it is not used."""
    return False


def flags(enabled: bool = False) -> AbstractContextManager[None]:
    """Keep the switch for the length of a `with` block."""
    return switched(__name__, enabled=enabled)
