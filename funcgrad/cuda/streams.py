"""torch.cuda.streams: XLA orders what it computes by what depends on what, and a step is one program already."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any

from funcgrad._tensor import names

__all__ = ["Event", "ExternalStream", "Stream"]


def synchronize(device: Any = None) -> None:
    """Run what is recorded and wait until the devices are idle."""
    names.synchronize()


class Stream:
    """Accepted where scripts order work by streams: XLA knows itself what depends on what."""

    def __init__(self, device: Any = None, priority: int = 0, **_: Any) -> None:
        self.device, self.priority, self.cuda_stream = device, priority, 0

    def synchronize(self) -> None:
        """Wait until the devices are idle."""
        synchronize()

    def query(self) -> bool:
        """Tell whether all work is done; it is, after waiting for it."""
        synchronize()
        return True

    def wait_stream(self, stream: Any) -> None:
        """Accepted: results are computed before they are used."""

    wait_event = wait_stream

    def record_event(self, event: Any = None) -> Any:
        """Return an event that has happened."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def __enter__(self) -> Stream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Accepted: there is no stream to go back to."""


ExternalStream = Stream
_THE_STREAM = Stream()


def current_stream(device: Any = None) -> Stream:
    """Return the one stream that there is."""
    return _THE_STREAM


default_stream = current_stream


def set_stream(stream: Any) -> None:
    """Accepted: XLA chooses its own streams."""


def stream(stream: Any) -> Any:
    """Return a block that changes nothing: XLA chooses its own streams."""
    return stream or _THE_STREAM


StreamContext = Stream  # a stream is its own block


def is_current_stream_capturing() -> bool:
    """Tell whether a CUDA graph is being captured: never, XLA programs are graphs already."""
    return False


class CUDAGraph:
    """A captured program. RuntimeError when one is made: a step is an XLA program already."""

    def __init__(self, *_: Any, **__: Any) -> None:
        raise RuntimeError(
            "CUDA graphs are not captured here: what a step does is one compiled program already; call it again instead"
        )


graph = graph_pool_handle = CUDAGraph


def make_graphed_callables(callables: Any, sample_args: Any, *_: Any, **__: Any) -> Any:
    """Return the callables themselves: what they do is compiled where they are called."""
    return callables


class Event:
    """A moment on the host's clock, after the device has finished what was recorded."""

    def __init__(self, enable_timing: bool = False, **_: Any) -> None:
        self._time, self._is_timed = 0.0, enable_timing

    def record(self, stream: Any = None) -> None:
        """Remember the present moment."""
        synchronize()
        self._time = time.perf_counter()

    def synchronize(self) -> None:
        """Wait until the moment has passed; it has."""

    def wait(self, stream: Any = None) -> None:
        """Wait until the moment has passed; it has."""

    def query(self) -> bool:
        """Tell whether the moment has passed; it has."""
        return True

    def elapsed_time(self, end_event: Event) -> float:
        """Return the milliseconds from this moment to another. RuntimeError for events made without enable_timing."""
        if not (self._is_timed and end_event._is_timed):
            raise RuntimeError("Both events must be created with argument 'enable_timing=True'.")
        return (end_event._time - self._time) * 1e3
