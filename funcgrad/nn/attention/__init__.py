"""torch.nn.attention: which kernel computes attention (XLA chooses; the words are accepted), masks, flex_attention."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import Any

from funcgrad.nn.attention import bias, flex_attention

__all__ = ["SDPBackend", "bias", "flex_attention", "sdpa_kernel"]


class SDPBackend(IntEnum):
    """Torch's kernels of scaled dot product attention."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4

    def __str__(self) -> str:
        return f"SDPBackend.{self.name}"

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)


@contextmanager
def sdpa_kernel(backends: Any = None, set_priority: bool = False, **old: Any) -> Iterator[None]:
    """Accepted: results are the same whichever kernel computes them."""
    yield
