"""Which kernel computes attention: XLA chooses; torch's words for the choice are accepted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import Any


class SDPBackend(IntEnum):
    """Torch's kernels of scaled dot product attention."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextmanager
def sdpa_kernel(backends: Any = None, set_priority: bool = False, **old: Any) -> Iterator[None]:
    """Accepted: results are the same whichever kernel computes them."""
    yield
