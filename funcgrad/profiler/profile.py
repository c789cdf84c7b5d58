"""profile: records the spans of a block or of chosen steps, runs of XLA programs among them."""

from __future__ import annotations

import enum
import gzip
import os
import socket
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from funcgrad._program.counters import counters
from funcgrad._tensor.names import synchronize
from funcgrad.profiler.events import EventList, Recording, record_function


class ProfilerActivity(enum.Enum):
    """What to measure: all of them are, XLA's own devices included."""

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5


class ProfilerAction(enum.Enum):
    """What the profiler does in a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def supported_activities() -> set[ProfilerActivity]:
    """Return what can be measured."""
    return {ProfilerActivity.CPU, ProfilerActivity.CUDA}


def kineto_available() -> bool:
    """Tell that torch's own tracer is not there."""
    return False


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
) -> Callable[[int], ProfilerAction]:
    """Return what to do in each step: wait, warm up, record; `repeat` times (0: for ever), after `skip_first` steps."""
    turn = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        step -= skip_first
        if step < 0:
            return ProfilerAction.NONE
        step += wait if skip_first_wait else 0
        if repeat and step // turn >= repeat:
            return ProfilerAction.NONE
        place = step % turn
        if place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if place < turn - 1 else ProfilerAction.RECORD_AND_SAVE

    return action


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[profile], None]:
    """Return a handler that writes each trace into a folder under the name that TensorBoard's plug-in looks for."""

    def write(prof: profile) -> None:
        folder = Path(dir_name)
        folder.mkdir(parents=True, exist_ok=True)
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        file = folder / f"{worker}.{time.time_ns()}.pt.trace.json"
        prof.export_chrome_trace(file)
        if use_gzip:
            Path(f"{file}.gz").write_bytes(gzip.compress(file.read_bytes()))
            file.unlink()

    return write


class profile:  # noqa: N801 - torch's own spelling
    """Measure the spans that `record_function` names, steps, and waiting for XLA; `key_averages().table()` shows them.

    One XLA program holds forward, backward and update, so there is no row for each op: `jax.profiler.trace` shows
    what the program does inside, and names these spans too.
    """

    def __init__(
        self, activities: Iterable[ProfilerActivity] | None = None, *,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[profile], Any] | None = None, **options: Any,
    ) -> None:  # fmt: skip
        self.activities = set(activities or supported_activities())
        self._schedule, self._ready = schedule, on_trace_ready
        self.step_num = 0
        self._spans = EventList()
        self._step: AbstractContextManager[Any] | None = None
        self.current_action = ProfilerAction.NONE

    def start(self) -> None:
        """Begin with step 0."""
        self.current_action = self._schedule(0) if self._schedule else ProfilerAction.RECORD_AND_SAVE
        self._begin()

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.stop()

    def stop(self) -> None:
        """End the present step and hand what was recorded to `on_trace_ready`."""
        was_recording = Recording.spans is not None
        self._end()
        Recording.spans = None
        if was_recording and self._ready:
            self._ready(self)

    def step(self) -> None:
        """Tell that the next step of the loop begins."""
        before = self.current_action
        self._end()
        self.step_num += 1
        self.current_action = self._schedule(self.step_num) if self._schedule else before
        if before is ProfilerAction.RECORD_AND_SAVE and self._schedule:
            Recording.spans = None
            if self._ready:
                self._ready(self)
        self._begin()

    def _begin(self) -> None:
        if self.current_action not in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE):
            return
        if Recording.spans is None:
            self._spans = EventList()
            Recording.spans = self._spans
            self._before = counters.as_dict()
        self._step = record_function(f"ProfilerStep#{self.step_num}") if self._schedule else nullcontext()
        self._step.__enter__()

    def _end(self) -> None:
        if self._step is None:
            return
        with record_function("waiting for XLA"):
            synchronize()
        self._step.__exit__(None, None, None)
        self._step = None
        self._counted = {name: count - self._before[name] for name, count in counters.as_dict().items()}

    def events(self) -> EventList:
        """Return every span."""
        return self._spans

    function_events = property(events)

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0) -> EventList:
        """Return one average for each name: spans have neither shapes nor stacks to tell them apart by."""
        return self._spans.key_averages()

    def total_average(self) -> Any:
        """Return the sum of all averages."""
        return self._spans.total_average()

    def table(self, *options: Any, **named: Any) -> str:
        """Return the averages as text, and how many programs were compiled and run."""
        counts = ", ".join(f"{name} {count}" for name, count in self._counted.items())
        return f"{self._spans.table(*options, **named)}XLA programs: {counts}\n"

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds in all."""
        return self._spans.self_cpu_time_total

    def export_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Write the spans as a trace that chrome://tracing and Perfetto show."""
        self._spans.export_chrome_trace(path)

    def export_stacks(self, path: str | os.PathLike[str], metric: str = "self_cpu_time_total") -> None:
        """Write each span's time in microseconds, a line for each name."""
        rows = self._spans.key_averages()
        Path(path).write_text("".join(f"{row.key} {int(getattr(row, metric, 0))}\n" for row in rows))

    def add_metadata(self, key: str, value: str) -> None:
        """Accepted."""

    add_metadata_json = preset_metadata_json = add_metadata
