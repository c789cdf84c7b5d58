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


_allowed = {  # in the order in which torch lists them
    SDPBackend.CUDNN_ATTENTION: True,
    SDPBackend.FLASH_ATTENTION: True,
    SDPBackend.EFFICIENT_ATTENTION: True,
    SDPBackend.MATH: True,
    SDPBackend.OVERRIDEABLE: True,
}


@contextmanager
def sdpa_kernel(backends: list[SDPBackend] | SDPBackend, set_priority: bool = False) -> Iterator[dict[str, Any]]:
    """Allow these kernels only. Results are the same whichever computes them; `torch.backends.cuda` tells of it."""
    if not isinstance(backends, (list, SDPBackend)):
        raise AssertionError(
            "Backend must be an instance of SDPBackend or a list of SDPBackend instances, got "
            f"{type(backends).__name__}"
        )
    named, before = [backends] if isinstance(backends, SDPBackend) else backends, dict(_allowed)
    try:
        for backend in _allowed:
            allow(backend, backend in named)
        yield {}
    finally:
        _allowed.update(before)


def is_allowed(backend: SDPBackend) -> bool:
    """Tell whether a kernel may compute attention."""
    return _allowed[backend]


def allow(backend: SDPBackend, enabled: bool) -> None:
    """Let a kernel compute attention, or not."""
    _allowed[backend] = bool(enabled)


def _cur_sdpa_kernel_backends(with_priority: bool = False) -> list[SDPBackend]:
    """Return the kernels that may compute attention, by number where their priority counts."""
    found = [backend for backend, enabled in _allowed.items() if enabled]
    return sorted(found) if with_priority else found
