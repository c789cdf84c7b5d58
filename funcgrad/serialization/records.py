"""PyTorchFileReader: the records of a saved file, each as its bytes, for code that reads part of one."""

from __future__ import annotations

from os import PathLike
from typing import BinaryIO, cast
from weakref import finalize

from funcgrad.serialization.archive import ArchiveReader


class PyTorchFileReader:
    """Read records of a file that `save` wrote.

    RuntimeError where the file is not such an archive, and where a record is asked for that it has not.
    """

    def __init__(self, file: str | PathLike[str] | BinaryIO) -> None:
        opened = open(file, "rb") if isinstance(file, (str, PathLike)) else None  # noqa: SIM115 - as long as the reader
        if opened is not None:
            finalize(self, opened.close)
        self._reader = ArchiveReader(opened or cast(BinaryIO, file))

    def get_all_records(self) -> list[str]:
        """Return the names of all records, as `data.pkl` and `data/0`."""
        return list(self._reader.records)

    def has_record(self, name: str) -> bool:
        """Tell whether there is a record of this name."""
        return name in self._reader

    def get_record(self, name: str) -> bytes:
        """Return a record's bytes."""
        return self._reader.read(name)

    def get_record_size(self, name: str) -> int:
        """Return how many bytes a record has."""
        return self._reader.size(name)

    def get_record_offset(self, name: str) -> int:
        """Return where a record's first byte lies in the file."""
        return self._reader.offset(name)
