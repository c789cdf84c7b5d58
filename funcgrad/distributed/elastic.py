"""torch.distributed.elastic: what torchrun's scripts import, and the error of worker processes that failed."""

from __future__ import annotations

import json
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

__all__ = ["ChildFailedError", "ProcessFailure", "get_free_port", "get_socket_with_port", "record"]


def record(fn: Callable[..., Any], error_handler: Any = None) -> Callable[..., Any]:
    """Return the function itself: its errors are shown as they are."""
    return fn


def get_socket_with_port() -> socket.socket:
    """Return a socket that listens at a free port of this machine, for the caller to close."""
    return socket.create_server(("127.0.0.1", 0))


def get_free_port() -> int:
    """Return a port of this machine that nobody listens at."""
    with get_socket_with_port() as free:
        return int(free.getsockname()[1])


@dataclass
class ProcessFailure:
    """A worker process that failed, and what it wrote of that into its file of JSON, if there is one.

    exitcode: negative where a signal ended it. message: what was written there, as text or with a traceback in it, or
    else what the exit code says. timestamp: in seconds since 1970.
    """

    local_rank: int
    pid: int
    exitcode: int
    error_file: str
    error_file_data: dict[str, Any] = field(init=False)
    message: Any = field(init=False)
    timestamp: int = field(init=False)

    def __post_init__(self) -> None:
        file = Path(self.error_file)
        if file.is_file():
            self.error_file_data = json.loads(file.read_text())
            self.message = self.error_file_data["message"]
            with_time = self.error_file_data if isinstance(self.message, str) else self.message["extraInfo"]
            self.timestamp = int(with_time.get("timestamp", 0))
        else:
            self.error_file, self.error_file_data = "<N/A>", {"message": "<NONE>"}
            self.message, self.timestamp = "", int(time.time())
        if not self.message and self.exitcode < 0:
            self.message = f"Signal {-self.exitcode} ({self.signal_name()}) received by PID {self.pid}"
        elif not self.message:
            self.error_file_data["errorTraits"] = {"category": "system_terminated_error", "retryability": "False"}
            self.message = "To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html"

    def signal_name(self) -> str:
        """Return the name of the signal that ended the process, "<N/A>" where none did or it has none."""
        names = {each.value: each.name for each in signal.Signals}
        return names.get(-self.exitcode, "<N/A>")

    def timestamp_isoformat(self) -> str:
        """Return the time of the failure as YYYY-MM-DD_HH:MM:SS."""
        return datetime.fromtimestamp(self.timestamp).isoformat(sep="_")


class ChildFailedError(Exception):
    """Worker processes failed. failures: by their ranks, one at least (AssertionError)."""

    def __init__(self, name: str, failures: dict[int, ProcessFailure]) -> None:
        assert failures
        self.name, self.failures = name, failures
        super().__init__(self.format_msg())

    def get_first_failure(self) -> tuple[int, ProcessFailure]:
        """Return the rank that failed first, and its failure."""
        return min(self.failures.items(), key=lambda each: each[1].timestamp)

    def format_msg(self, boarder_delim: str = "=", section_delim: str = "-") -> str:
        """Return the report of all failures, the first one at the end."""
        title, first = f"{self.name} FAILED", self.get_first_failure()[0]
        shown = {rank: _shown(place, rank, each) for place, (rank, each) in enumerate(self.failures.items())}
        width = min(60, max(len(line) for line in (title, *"\n".join(shown.values()).split("\n"))))
        others = [text for rank, text in shown.items() if rank != first] or ["  <NO_OTHER_FAILURES>"]
        border, section = boarder_delim * width, section_delim * width
        return "\n".join(
            ("", border, title, section, "Failures:", *others, section, "Root Cause (first observed failure):",
             shown[first], border)
        )  # fmt: skip


def _shown(place: int, rank: int, failure: ProcessFailure) -> str:
    message, by = failure.message, failure.signal_name()
    if isinstance(message, dict):
        told = message.get("extraInfo", {}).get("py_callstack", message.get("message", "<N/A>"))
        message = told.replace("\n", "\n  ")
    return "\n".join((
        f"[{place}]:",
        f"  time      : {failure.timestamp_isoformat()}",
        f"  host      : {socket.getfqdn()}",
        f"  rank      : {rank} (local_rank: {failure.local_rank})",
        f"  exitcode  : {failure.exitcode} (pid: {failure.pid}) {'' if by == '<N/A>' else f' ({by})'}",
        f"  error_file: {failure.error_file}",
        f"  traceback : {message}",
    ))  # fmt: skip
