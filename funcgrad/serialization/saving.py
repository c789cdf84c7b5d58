"""save: writes the file that torch.save would write, whole or not at all."""

from __future__ import annotations

import io
import os
import pickle
import sys
from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Any, BinaryIO

import numpy as np

from funcgrad._tensor.interop import to_host
from funcgrad.serialization import legacy
from funcgrad.serialization.archive import ALIGNMENT, ArchiveWriter
from funcgrad.serialization.files import writing
from funcgrad.serialization.pickling import StoredTensor, checkpoint_pickler

DEFAULT_PROTOCOL = 2


def save(
    obj: Any,
    f: str | os.PathLike[str] | BinaryIO,
    pickle_module: Any = pickle,
    pickle_protocol: int = DEFAULT_PROTOCOL,
    _use_new_zipfile_serialization: bool = True,
) -> None:
    """Save tensors, state_dicts or any picklable object to a path or an open file; torch.load reads it.

    Tensors that share storage are written once and share it again when loaded. A path is replaced only when all is
    written. Other protocols than 2 need torch.load(weights_only=False).

    pickle_module: a module whose `Pickler` writes what is no tensor, like dill or cloudpickle.
    """
    pickled, storages = _pickled(obj, pickle_protocol, not _use_new_zipfile_serialization, pickle_module)
    with writing(f) as file:
        if _use_new_zipfile_serialization:
            _write_archive(file, _folder(f), pickled, storages, {})
        else:
            _write_legacy(file, pickled, storages, pickle_protocol)


def save_with_files(obj: Any, f: str | os.PathLike[str] | BinaryIO, files: Mapping[str, str | bytes]) -> None:
    """Save as `save` does, and beside it small files, which `extra_files` reads: those of torch.jit.save."""
    pickled, storages = _pickled(obj, DEFAULT_PROTOCOL, view_metadata=False)
    with writing(f) as file:
        _write_archive(file, _folder(f), pickled, storages, files)


def _pickled(obj: Any, protocol: int, view_metadata: bool, module: Any = pickle) -> tuple[bytes, list[StoredTensor]]:
    pickled = io.BytesIO()
    pickler = checkpoint_pickler(module, pickled, protocol, view_metadata)
    pickler.dump(obj)
    return pickled.getvalue(), list(pickler.storages.values())


def _folder(f: Any) -> str:
    return (isinstance(f, (str, os.PathLike)) and PurePath(f).stem) or "archive"


def _write_archive(
    file: BinaryIO, folder: str, pickled: bytes, storages: Iterable[StoredTensor], files: Mapping[str, str | bytes]
) -> None:
    with ArchiveWriter(file, folder) as archive:
        archive.write("data.pkl", pickled)
        # No .format_version: with it torch may compute where records lie instead of looking them up.
        archive.write(".storage_alignment", str(ALIGNMENT).encode())
        archive.write("byteorder", sys.byteorder.encode())
        for storage in storages:
            archive.write(f"data/{storage.key}", _content(storage))
        for name, content in files.items():
            archive.write(f"extra/{name}", content.encode() if isinstance(content, str) else content)
        archive.write("version", b"3\n")


def _write_legacy(file: BinaryIO, pickled: bytes, storages: Iterable[StoredTensor], protocol: int) -> None:
    for part in (legacy.MAGIC_NUMBER, legacy.PROTOCOL_VERSION, legacy.system_info()):
        file.write(pickle.dumps(part, protocol))
    file.write(pickled)
    ordered = sorted(storages, key=lambda storage: storage.key)
    file.write(pickle.dumps([storage.key for storage in ordered], protocol))
    for storage in ordered:
        file.write(legacy.storage_header(storage.numel))
        file.write(_content(storage))


def _content(storage: StoredTensor) -> memoryview[Any]:
    return np.ascontiguousarray(to_host(storage.tensor)).reshape(-1).view(np.uint8).data
