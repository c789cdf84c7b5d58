"""torch.backends.cudnn: accepted and kept; XLA chooses its own algorithms, the same for the same program."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from funcgrad._tensor.placement import available

enabled, deterministic, benchmark, benchmark_limit, allow_tf32 = True, False, False, 10, True


def is_available() -> bool:
    """Tell whether JAX sees a GPU."""
    return bool(available("cuda"))


def version() -> int | None:
    """Return None: which cuDNN XLA uses is not known."""
    return None


@contextmanager
def flags(**_: bool) -> Iterator[None]:
    """Accepted: there is nothing to switch."""
    yield
