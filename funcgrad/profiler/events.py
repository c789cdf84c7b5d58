"""Spans of time that were measured, each with a name; and the table that adds them up."""

from __future__ import annotations

import functools
import json
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import jax


@dataclass(frozen=True)
class Span:
    """A named stretch of a thread's time, in nanoseconds of `time.perf_counter_ns`; children lie inside it."""

    name: str
    start: int
    end: int
    thread: int
    inner: int

    @property
    def self_time(self) -> int:
        """The nanoseconds that no span inside it accounts for."""
        return self.end - self.start - self.inner


class Recording:
    """Where spans go while somebody profiles; one list for all threads."""

    spans: ClassVar[list[Span] | None] = None
    open: ClassVar[threading.local] = threading.local()


class record_function:  # noqa: N801 - torch's own spelling
    """A block, or a decorator, whose time is listed under this name, in JAX's own profiler too."""

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name, self.args = name, args

    def __enter__(self) -> record_function:
        self._annotation = jax.profiler.TraceAnnotation(self.name)
        self._annotation.__enter__()
        stack = vars(Recording.open).setdefault("stack", [])
        stack.append(0)
        self._start = time.perf_counter_ns()
        return self

    def __exit__(self, *error: Any) -> None:
        end = time.perf_counter_ns()
        stack = Recording.open.stack
        inner = stack.pop()
        if stack:
            stack[-1] += end - self._start
        if Recording.spans is not None:
            Recording.spans.append(Span(self.name, self._start, end, threading.get_ident(), inner))
        self._annotation.__exit__(*error)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def measured(*args: Any, **options: Any) -> Any:
            with record_function(self.name):
                return function(*args, **options)

        return measured


@dataclass(frozen=True)
class Average:
    """All spans of one name: how many, and their time in microseconds, as torch names it."""

    key: str
    count: int
    self_cpu_time_total: float
    cpu_time_total: float

    @property
    def cpu_time(self) -> float:
        """Microseconds of one span on average."""
        return self.cpu_time_total / self.count

    name = property(lambda self: self.key)
    device_time_total = cuda_time_total = self_device_time_total = self_cuda_time_total = 0.0
    cpu_memory_usage = self_cpu_memory_usage = cuda_memory_usage = flops = 0


class EventList(list[Any]):
    """Spans, or averages of them, that can be shown as a table."""

    def key_averages(self, *_: Any, **__: Any) -> EventList:
        """Return one average for each name, and one for all steps of a schedule."""
        found: dict[str, list[Span]] = {}
        for span in self:
            name = "ProfilerStep*" if span.name.startswith("ProfilerStep#") else span.name
            found.setdefault(name, []).append(span)
        return EventList(
            Average(name, len(s), sum(x.self_time for x in s) / 1e3, sum(x.end - x.start for x in s) / 1e3)
            for name, s in found.items()
        )

    def total_average(self) -> Average:
        """Return the sum of all averages."""
        rows = self.key_averages() if self and isinstance(self[0], Span) else self
        return Average("Total", sum(r.count for r in rows), self.self_cpu_time_total, self.self_cpu_time_total)

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds in all."""
        return sum(row.self_time / 1e3 if isinstance(row, Span) else row.self_cpu_time_total for row in self)

    def table(self, sort_by: str | None = None, row_limit: int = 100, max_name_column_width: int = 55, **_: Any) -> str:
        """Return the averages as text, a row for each name."""
        rows = list(self.key_averages() if self and isinstance(self[0], Span) else self)
        if sort_by:
            rows.sort(key=lambda row: getattr(row, sort_by, 0) or 0, reverse=True)
        total = sum(row.self_cpu_time_total for row in rows) or 1.0
        titles = ("Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg", "# of Calls")
        cells = [
            (
                row.key[:max_name_column_width],
                f"{row.self_cpu_time_total / total:.2%}",
                shown_time(row.self_cpu_time_total),
                f"{row.cpu_time_total / total:.2%}",
                shown_time(row.cpu_time_total),
                shown_time(row.cpu_time),
                str(row.count),
            )
            for row in rows[: None if row_limit < 0 else row_limit]
        ]
        widths = [max(map(len, column)) for column in zip(titles, *cells, strict=True)]
        rule = "  ".join("-" * width for width in widths)
        lines = ["  ".join(c.rjust(w) for c, w in zip(row, widths, strict=True)) for row in (titles, *cells)]
        return "\n".join([rule, lines[0], rule, *lines[1:], rule, f"Self CPU time total: {shown_time(total)}"]) + "\n"

    def __str__(self) -> str:
        return self.table()

    def export_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Write the spans as a trace that chrome://tracing and Perfetto show."""
        events = [
            {
                "name": span.name,
                "ph": "X",
                "ts": span.start / 1e3,
                "dur": (span.end - span.start) / 1e3,
                "pid": os.getpid(),
                "tid": span.thread,
                "cat": "user_annotation",
            }
            for span in self
        ]
        Path(path).write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))


def shown_time(microseconds: float) -> str:
    """Return a time with the unit that suits it: 1.234ms."""
    if microseconds >= 1e6:
        return f"{microseconds / 1e6:.3f}s"
    return f"{microseconds / 1e3:.3f}ms" if microseconds >= 1e3 else f"{microseconds:.3f}us"
