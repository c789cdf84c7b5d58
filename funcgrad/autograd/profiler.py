"""torch.autograd.profiler: the older face of torch.profiler."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from funcgrad import profiler
from funcgrad.profiler import EventList, record_function
from funcgrad.profiler.events import Recording

__all__ = ["EventList", "emit_itt", "emit_nvtx", "profile", "record_function"]


class profile(profiler.profile):  # noqa: N801 - torch's own spelling
    """Measure a block from start to end; does nothing where `enabled` is false."""

    def __init__(self, enabled: bool = True, *, use_cuda: bool = False, **options: Any) -> None:
        super().__init__()
        self.enabled = enabled

    def start(self) -> None:
        """Begin, if enabled."""
        if self.enabled:
            super().start()

    def __str__(self) -> str:
        return self.table()


@contextmanager
def emit_nvtx(enabled: bool = True, record_shapes: bool = False) -> Iterator[None]:
    """Accepted: JAX names its own ranges for NVIDIA's tools."""
    yield


emit_itt = emit_nvtx


def _profiler_enabled() -> bool:
    """Tell whether spans are recorded."""
    return Recording.spans is not None


def _disable_profiler() -> EventList:
    """Record no more; return what was recorded."""
    spans, Recording.spans = Recording.spans, None
    return EventList(spans or ())
