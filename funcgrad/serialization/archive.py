"""The zip archive around a checkpoint: uncompressed records under one folder, payloads aligned to 64 bytes."""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from typing import Any, BinaryIO, Self

import numpy as np

from funcgrad.serialization.storages import Bytes

ALIGNMENT = 64
_CHUNK = 1 << 24
_UNREADABLE = (
    zipfile.BadZipFile, struct.error, EOFError, OSError, ValueError, NotImplementedError, OverflowError, RuntimeError,
)  # fmt: skip
_LOCAL_HEADER = 30
_ZIP64_FROM = 1 << 31
_ADVICE = (
    "The file is not complete or not what torch.save wrote: it may have been cut off, changed in transfer, or be "
    "something else. Save or fetch it again."
)


def is_archive(file: BinaryIO) -> bool:
    """Tell whether a zip archive begins at the file's position, which stays."""
    start = file.tell()
    begins = file.read(4)
    file.seek(start)
    return begins == b"PK\x03\x04"


class ArchiveReader:
    """Reads records. RuntimeError for what is truncated, corrupt or would unpack to more than the file holds."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        try:
            found = zipfile.ZipFile(file).infolist()
        except _UNREADABLE as error:
            raise RuntimeError(
                f"PytorchStreamReader failed reading zip archive: failed finding central directory ({error}). {_ADVICE}"
            ) from error
        if not found:
            raise RuntimeError(f"PytorchStreamReader failed reading zip archive: it is empty. {_ADVICE}")
        self.folder = found[0].filename.partition("/")[0]
        self.records = {info.filename.removeprefix(f"{self.folder}/"): info for info in found}
        self.length = file.seek(0, os.SEEK_END)
        self._refuse_bombs()

    def _refuse_bombs(self) -> None:
        packed = [name for name, info in self.records.items() if info.compress_type != zipfile.ZIP_STORED]
        if packed:
            raise RuntimeError(f"records are compressed, which torch.save never does: {packed[:3]}. {_ADVICE}")
        total = sum(info.file_size for info in self.records.values())
        if total > self.length:
            raise RuntimeError(f"records of {total} bytes can not lie in a file of {self.length}. {_ADVICE}")

    def __contains__(self, record: str) -> bool:
        return record in self.records

    def size(self, record: str) -> int:
        """Return the bytes of a record; RuntimeError where there is none of that name."""
        if record not in self.records:
            raise RuntimeError(
                f"PytorchStreamReader failed locating file {record}: file not found in archive. {_ADVICE}"
            )
        return self.records[record].file_size

    def offset(self, record: str) -> int:
        """Return the position of a record's first byte in the file."""
        size, start = self.size(record), self.records[record].header_offset
        start = start if 0 <= start <= self.length else self.length
        self.file.seek(start)
        header = self.file.read(_LOCAL_HEADER)
        if len(header) < _LOCAL_HEADER or not header.startswith(b"PK\x03\x04"):
            raise RuntimeError(f"PytorchStreamReader failed reading file {record}: no header. {_ADVICE}")
        name, extra = struct.unpack("<HH", header[26:])
        first = start + _LOCAL_HEADER + name + extra
        if first + size > self.length:
            raise RuntimeError(f"PytorchStreamReader failed reading file {record}: the file ends too early. {_ADVICE}")
        return first

    def array(self, record: str) -> Bytes:
        """Return a record's bytes. RuntimeError where they are not those that were written."""
        self.file.seek(self.offset(record))
        data = np.empty(self.size(record), np.uint8)
        rest = data.data
        while rest and (part := self.file.read(min(len(rest), _CHUNK))):
            rest[: len(part)] = part
            rest = rest[len(part) :]
        # torch.serialization.set_crc32_options(False) writes 0 in place of the checksum.
        expected = self.records[record].CRC
        if rest or (expected and zlib.crc32(data.data) != expected):
            raise RuntimeError(f"PytorchStreamReader failed reading file {record}: its checksum is wrong. {_ADVICE}")
        return data

    def read(self, record: str) -> bytes:
        """Return a small record."""
        return self.array(record).tobytes()


class ArchiveWriter:
    """Writes records that torch can read and map: stored as they are, each at a multiple of 64 bytes.

    Used in a `with` block, at whose end the list of records is written; after an error it is not.
    """

    def __init__(self, file: BinaryIO, folder: str) -> None:
        self.zip = zipfile.ZipFile(file, "w", zipfile.ZIP_STORED)
        self.folder = folder

    def write(self, record: str, data: bytes | memoryview[Any]) -> None:
        """Write one record; the same data give the same file."""
        size = len(data)
        info = zipfile.ZipInfo(f"{self.folder}/{record}")
        info.file_size, large = size, size >= _ZIP64_FROM
        position = self.zip.fp.tell()  # type: ignore[union-attr]  # open for as long as there are records
        unpadded = position + _LOCAL_HEADER + len(info.filename.encode()) + 20 * large + 4
        padding = -unpadded % ALIGNMENT
        info.extra = struct.pack("<2sH", b"FB", padding) + b"Z" * padding
        with self.zip.open(info, "w", force_zip64=large) as target:
            for start in range(0, size, _CHUNK):
                target.write(data[start : start + _CHUNK])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: object, *_: object) -> None:
        if error is not None:
            self.zip.fp = None  # else zipfile would end the archive, as if it were whole, when it is collected
        self.zip.close()
