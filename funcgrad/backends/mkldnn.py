"""torch.backends.mkldnn: XLA has kernels of its own."""

from __future__ import annotations

from contextlib import AbstractContextManager

from funcgrad.backends.switches import Switches, Verbose, switched

VERBOSE_OFF, VERBOSE_ON, VERBOSE_ON_CREATION = 0, 1, 2
enabled, deterministic, allow_tf32, fp32_precision = True, False, None, "none"
matmul, conv, rnn = (Switches(fp32_precision="none") for _ in range(3))


def is_available() -> bool:
    """Tell that it is not used."""
    return False


def flags(
    enabled: bool = False, deterministic: bool = False, allow_tf32: bool | None = True, fp32_precision: str = "none"
) -> AbstractContextManager[None]:
    """Keep the switches for the length of a `with` block."""
    return switched(
        __name__, enabled=enabled, deterministic=deterministic, allow_tf32=allow_tf32, fp32_precision=fp32_precision
    )


class verbose(Verbose):  # noqa: N801 - torch's own spelling
    """Accepted: there are no kernels of it that would tell of themselves."""
