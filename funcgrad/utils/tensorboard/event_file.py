"""The event file: records with checksums, and the few protocol-buffer messages that TensorBoard reads in them.

Sources: tensorflow/core/lib/io/record_writer.h, core/util/event.proto, core/framework/summary.proto and tensor.proto.
"""

from __future__ import annotations

import os
import socket
import struct
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_CASTAGNOLI = 0x82F63B78


def _table() -> tuple[int, ...]:
    rows = []
    for row in range(256):
        for _ in range(8):
            row = row >> 1 ^ (_CASTAGNOLI if row & 1 else 0)
        rows.append(row)
    return tuple(rows)


_TABLE = _table()


def masked_checksum(data: bytes) -> int:
    """Return the CRC-32C, rotated and shifted as the record format has it."""
    check = 0xFFFFFFFF
    for byte in data:
        check = check >> 8 ^ _TABLE[(check ^ byte) & 0xFF]
    check ^= 0xFFFFFFFF
    return ((check >> 15 | check << 17) + 0xA282EAD8) & 0xFFFFFFFF


def _varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    parts = bytearray()
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    parts.append(number)
    return bytes(parts)


def integer(field: int, value: int) -> bytes:
    """Return an integer (or enumeration, or truth value) field."""
    return _varint(field << 3) + _varint(value)


def single(field: int, value: float) -> bytes:
    """Return a field of 32-bit floating point."""
    return _varint(field << 3 | 5) + struct.pack("<f", value)


def double(field: int, value: float) -> bytes:
    """Return a field of 64-bit floating point."""
    return _varint(field << 3 | 1) + struct.pack("<d", value)


def content(field: int, value: bytes | str) -> bytes:
    """Return a field that holds a text, bytes or another message."""
    data = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def doubles(field: int, values: Iterable[float]) -> bytes:
    """Return a packed field of 64-bit floating point numbers."""
    listed = list(values)
    return content(field, struct.pack(f"<{len(listed)}d", *listed))


def varints(field: int, values: Iterable[int]) -> bytes:
    """Return a packed field of integers (or truth values)."""
    return content(field, b"".join(map(_varint, values)))


def plugin(name: str, data: bytes = b"") -> bytes:
    """Return the field of a summary's value that says which part of TensorBoard shows it."""
    return content(9, content(1, content(1, name) + content(2, data)))


class Summary:
    """What one event tells, encoded: TensorBoard's message of this name, as far as a file needs it."""

    __slots__ = ("_data",)

    def __init__(self, *values: bytes) -> None:
        self._data = b"".join(content(1, value) for value in values)

    def SerializeToString(self) -> bytes:  # noqa: N802 - protocol buffers' name
        """Return the encoded message."""
        return self._data


class EventFile:
    """A file of events in a folder. Events are written out when ten wait or two minutes have passed."""

    count = 0

    def __init__(
        self, folder: str | os.PathLike[str], max_queue: int = 10, flush_secs: float = 120, suffix: str = ""
    ) -> None:
        Path(folder).mkdir(parents=True, exist_ok=True)
        self._folder = os.fspath(folder)
        parts = (f"{int(time.time()):010d}", socket.gethostname(), os.getpid(), f"{EventFile.count}{suffix}")
        name = f"events.out.tfevents.{'.'.join(map(str, parts))}"
        EventFile.count += 1
        self._file = (Path(folder) / name).open("wb")
        self._waiting, self._most, self._seconds, self._flushed = 0, max_queue, flush_secs, time.monotonic()
        self._record(double(1, time.time()) + content(3, "brain.Event:2"))
        self.flush()

    def get_logdir(self) -> str:
        """Return the folder."""
        return self._folder

    def add(self, value: bytes, step: int | None = None, walltime: float | None = None) -> None:
        """Write one summary value (its fields) at a step."""
        self.add_summary(Summary(value), step, walltime)

    def add_several(self, values: Iterable[bytes], step: int | None = None, walltime: float | None = None) -> None:
        """Write several summary values (their fields) at a step, as one event."""
        self.add_summary(Summary(*values), step, walltime)

    def add_summary(self, summary: Any, global_step: int | None = None, walltime: float | None = None) -> None:
        """Write a summary at a step: a `Summary`, or TensorBoard's own message."""
        event = double(1, time.time() if walltime is None else walltime)
        if global_step is not None:
            event += integer(2, int(global_step))
        self._record(event + content(5, summary.SerializeToString()))
        self._waiting += 1
        if self._waiting >= self._most or time.monotonic() - self._flushed > self._seconds:
            self.flush()

    def _record(self, data: bytes) -> None:
        length = struct.pack("<Q", len(data))
        checks = (struct.pack("<I", masked_checksum(part)) for part in (length, data))
        self._file.write(length + next(checks) + data + next(checks))

    def flush(self) -> None:
        """Write out what waits."""
        self._file.flush()
        self._waiting, self._flushed = 0, time.monotonic()

    def close(self) -> None:
        """Write out what waits and close the file."""
        self._file.close()
