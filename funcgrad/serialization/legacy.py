"""The format that torch wrote before 1.6: pickles one after the other, then the bytes of all storages."""

from __future__ import annotations

import os
import pickle
import struct
import sys
from collections.abc import Callable, Sequence
from pickle import UnpicklingError
from typing import Any, BinaryIO

import numpy as np

from funcgrad.serialization.checkpoint import Checkpoint
from funcgrad.serialization.locations import Restore
from funcgrad.serialization.machine import Machine
from funcgrad.serialization.storages import Bytes
from funcgrad.serialization.unpickling import LoadStorage, Scan, StorageId

MAGIC_NUMBER = 0x1950A86A20F9469CFC6C
PROTOCOL_VERSION = 1001
_TAR_MAGIC_AT = 257


def load(file: BinaryIO, read: Callable[[BinaryIO, LoadStorage], Any], restore: Restore, weights_only: bool) -> Any:
    """Load from the file's position on; `read` unpickles one object."""
    _refuse_tar(file)
    begin = file.tell()
    if _plain(file) != MAGIC_NUMBER:
        file.seek(begin + 2)
        if weights_only and file.read(1) == pickle.FRAME:  # of protocol 4 on, where torch stops reading
            raise UnpicklingError(f"Unsupported operand {pickle.FRAME[0]}")
        raise RuntimeError("Invalid magic number; corrupt file?")
    version = _plain(file)
    if version != PROTOCOL_VERSION:
        raise RuntimeError(f"Invalid protocol version: {version}")
    system = _plain(file)
    order = "little" if not isinstance(system, dict) or system.get("little_endian", True) else "big"
    begin = file.tell()
    scan = Scan(file)
    scan.load()
    keys = _plain(file)
    data = _read_storages(file, keys, scan)
    end = file.tell()
    checkpoint = Checkpoint(scan, lambda key, nbytes: data.pop(key), restore, order)
    file.seek(begin)
    loaded = read(file, checkpoint.storage)
    file.seek(end)
    return loaded


def storage_header(numel: int) -> bytes:
    """Return what stands before a storage's bytes."""
    return struct.pack("<q", numel)


def system_info() -> dict[str, Any]:
    """Return what the third pickle says of the machine that wrote the file."""
    return {
        "protocol_version": PROTOCOL_VERSION,
        "little_endian": sys.byteorder == "little",
        "type_sizes": {"short": 2, "int": 4, "long": 4},
    }


def _plain(file: BinaryIO) -> Any:
    """Read a pickle of numbers, strings and containers."""
    return Machine(file).load()


def _refuse_tar(file: BinaryIO) -> None:
    begin = file.tell()
    head = file.read(_TAR_MAGIC_AT + 5)
    file.seek(begin)
    if head[_TAR_MAGIC_AT:] == b"ustar":
        raise RuntimeError("this is a tar file of torch before 0.1.10: load and save it anew with a newer torch")


def _read_storages(file: BinaryIO, keys: Any, scan: Scan) -> dict[str, Bytes]:
    if not isinstance(keys, Sequence):
        raise UnpicklingError(f"a list of storages was expected, but got {type(keys)}")
    known = {str(key): scan.storages.get(str(key)) for key in keys}
    missing = [key for key in scan.storages if key not in known]
    if missing or None in known.values():
        raise UnpicklingError("the file's list of storages is not that of its tensors")
    begin = file.tell()
    rest = file.seek(0, os.SEEK_END) - begin
    file.seek(begin)
    needed = sum(8 + storage.nbytes for storage in known.values() if storage is not None)
    if needed > rest:
        raise RuntimeError(f"unexpected EOF, expected {needed - rest} more bytes. The file might be corrupted.")
    return {key: _read_storage(file, storage) for key, storage in known.items() if storage is not None}


def _read_storage(file: BinaryIO, storage: StorageId) -> Bytes:
    (numel,) = struct.unpack("<q", file.read(8))
    if numel != storage.numel:
        raise RuntimeError(f"storage has wrong size: expected {storage.numel} got {numel}; corrupt file?")
    return np.frombuffer(file.read(storage.nbytes), np.uint8)
