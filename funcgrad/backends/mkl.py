"""torch.backends.mkl: XLA has kernels of its own."""

from __future__ import annotations

from funcgrad.backends.switches import Verbose

VERBOSE_OFF, VERBOSE_ON = 0, 1


def is_available() -> bool:
    """Tell that it is not used."""
    return False


class verbose(Verbose):  # noqa: N801 - torch's own spelling
    """Accepted: there are no kernels of it that would tell of themselves."""
