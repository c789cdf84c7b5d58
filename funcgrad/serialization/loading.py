"""load: reads what torch.save (or ours) wrote, and by default runs nothing that the file names."""

from __future__ import annotations

import io
import os
import pickle
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, BinaryIO

import numpy as np

from funcgrad.serialization import legacy, names, safetensors
from funcgrad.serialization.archive import ArchiveReader, is_archive
from funcgrad.serialization.byte_order import default_order
from funcgrad.serialization.checkpoint import Checkpoint
from funcgrad.serialization.locations import MAP_LOCATION, restoring
from funcgrad.serialization.storages import Bytes
from funcgrad.serialization.unpickling import LoadStorage, Scan, WeightsUnpickler, trusted_unpickler

Read = Callable[[BinaryIO, LoadStorage], Any]


def load(
    f: str | os.PathLike[str] | BinaryIO,
    map_location: MAP_LOCATION = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Load what `save` or torch.save wrote to a path or an open file that can seek.

    By default only tensors, numbers, strings, containers of them and what `add_safe_globals` allows are made, and
    UnpicklingError is raised for anything else. weights_only=False unpickles any object and thereby runs whatever the
    file says: only for files that you trust. RuntimeError for a file that is truncated or corrupt.

    map_location: the device for all tensors, or a dict or function that gives it for each location of the file.
    mmap: map a file given by its path instead of reading it first.
    pickle_module: a module whose `Unpickler` reads what is no tensor; any object, then.
    """
    weights_only = _is_weights_only(weights_only, pickle_module, pickle_load_args)
    path = os.fspath(f) if isinstance(f, (str, os.PathLike)) else None
    if path is not None and path.endswith(".safetensors"):
        return safetensors.load_file(path, device=_single_device(map_location))
    read = _reader(weights_only, pickle_module or pickle, {"encoding": "utf-8"} | pickle_load_args)
    with _opened(f) as file, _explained(weights_only):
        if not is_archive(file):
            if mmap:
                raise RuntimeError("mmap can only be used with files saved with `torch.save(...)` in its zip format")
            return legacy.load(file, read, restoring(map_location), weights_only)
        if mmap and path is None:
            raise ValueError("f must be a file path in order to use the mmap argument")
        return _load_archive(ArchiveReader(file), read, map_location, path if mmap else None)


def get_unsafe_globals_in_checkpoint(f: str | os.PathLike[str] | BinaryIO) -> list[str]:
    """Return the names in a checkpoint that a weights-only load would refuse, without loading anything."""
    with _opened(f) as file:
        if not is_archive(file):
            raise ValueError("Expected input to be a checkpoint returned by torch.save")
        scan = Scan(io.BytesIO(ArchiveReader(file).read("data.pkl")))
        scan.load()
    allowed = (names.CALLABLES, names.CONSTANTS, names.safe_by_name())
    return sorted(name for name in scan.names if not any(name in known for known in allowed))


def extra_files(f: str | os.PathLike[str] | BinaryIO, names: Iterable[str]) -> dict[str, bytes]:
    """Return the small files of these names that lie beside a checkpoint; empty ones where there are none."""
    with _opened(f) as file:
        archive = ArchiveReader(file)
        return {name: archive.read(f"extra/{name}") if f"extra/{name}" in archive else b"" for name in names}


def _is_weights_only(weights_only: bool | None, pickle_module: Any, options: dict[str, Any]) -> bool:
    chosen = pickle_module is None if weights_only is None else weights_only
    always, never = (_is_asked_for(f"TORCH_FORCE_{word}WEIGHTS_ONLY_LOAD") for word in ("", "NO_"))
    if always and never:
        raise RuntimeError(
            "Only one of `TORCH_FORCE_WEIGHTS_ONLY_LOAD` or `TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD` should be set, but both "
            "were set."
        )
    if always:
        chosen = True
    elif never and weights_only is None:
        warnings.warn(
            "Environment variable TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD detected, since the`weights_only` argument was not "
            "explicitly passed to `torch.load`, forcing weights_only=False.",
            stacklevel=3,
        )
        chosen = False
    elif chosen and pickle_module is not None:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    if options and chosen:
        warnings.warn("pickle_load_args only works if `weights_only=False`.", stacklevel=3)
    return chosen


def _is_asked_for(variable: str) -> bool:
    return os.environ.get(variable, "0").lower() in ("1", "y", "yes", "true")


def _reader(weights_only: bool, module: Any, options: dict[str, Any]) -> Read:
    if weights_only:
        for name in options:
            if name != "encoding":
                raise TypeError(f"Unpickler.__init__() got an unexpected keyword argument '{name}'")
        return lambda file, storage: WeightsUnpickler(file, storage, options["encoding"]).load()
    kind = trusted_unpickler(module)
    return lambda file, storage: kind(file, storage, **options).load()


_UNSAFE = (
    "In PyTorch 2.6, we changed the default value of the `weights_only` argument in `torch.load` from `False` to "
    "`True`. Re-running `torch.load` with `weights_only` set to `False` will likely succeed, but it can result in "
    "arbitrary code execution. Do it only if you got the file from a trusted source."
)
_TWO_WAYS = (
    "This file can still be loaded, to do so you have two options, "
    "\033[1mdo those steps only if you trust the source of the checkpoint\033[0m. "
    f"\n\t(1) {_UNSAFE}\n\t(2) Alternatively, to load with `weights_only=True` please check the recommended steps in "
    "the following error message.\n\tWeightsUnpickler error: "
)
_ONE_WAY = (
    f"{_UNSAFE}\nPlease file an issue with the following so that we can make `weights_only=True` compatible with your "
    "use case: WeightsUnpickler error: \n\n"
)
_NO_WAY = f"{_UNSAFE}\n\n"
_DOCS = (
    "\n\nCheck the documentation of torch.load to learn more about types accepted by default with weights_only "
    "https://pytorch.org/docs/stable/generated/torch.load.html."
)


@contextmanager
def _explained(weights_only: bool) -> Iterator[None]:
    try:
        yield
    except UnpicklingError as error:
        if not weights_only:
            raise
        one_way = _NO_WAY if " is blocked" in str(error) else _ONE_WAY
        words = _TWO_WAYS if "was not an allowed global by default" in str(error) else one_way
        raise UnpicklingError(f"Weights only load failed. {words}{error}{_DOCS}") from error


def _load_archive(archive: ArchiveReader, read: Read, map_location: MAP_LOCATION, mapped: str | None) -> Any:
    if "constants.pkl" in archive:
        raise RuntimeError("this is a TorchScript archive (torch.jit.save): funcgrad has no TorchScript to run it with")
    order = archive.read("byteorder").decode() if "byteorder" in archive else default_order()
    if order not in ("little", "big"):
        raise ValueError(f"Unknown endianness type: {order}")
    data = archive.read("data.pkl")
    scan = Scan(io.BytesIO(data))
    scan.load()
    fetch = partial(_fetch, archive) if mapped is None else partial(_fetch_mapped, archive, mapped)
    checkpoint = Checkpoint(scan, fetch, restoring(map_location), order)
    return read(io.BytesIO(data), checkpoint.storage)


def _fetch(archive: ArchiveReader, key: str, nbytes: int) -> Bytes:
    _check_size(archive, key, nbytes)
    return archive.array(f"data/{key}")


def _fetch_mapped(archive: ArchiveReader, path: str, key: str, nbytes: int) -> Bytes:
    _check_size(archive, key, nbytes)
    if not nbytes:
        return np.empty(0, np.uint8)
    return np.memmap(path, np.uint8, "c", archive.offset(f"data/{key}"), (nbytes,))


def _check_size(archive: ArchiveReader, key: str, nbytes: int) -> None:
    found = archive.size(f"data/{key}")
    if found != nbytes:
        raise RuntimeError(f"storage has wrong byte size: expected {nbytes} got {found} (record data/{key})")


@contextmanager
def _opened(f: Any) -> Iterator[BinaryIO]:
    if isinstance(f, (str, os.PathLike)):
        with Path(f).open("rb") as file:
            yield file
        return
    try:
        f.seek(f.tell())
    except (io.UnsupportedOperation, AttributeError) as error:
        raise type(error)(
            f"{error}. You can only torch.load from a file that is seekable. Please pre-load the data into a buffer "
            "like io.BytesIO and try to load from it instead."
        ) from error
    yield f


def _single_device(map_location: MAP_LOCATION) -> Any:
    if map_location is not None and (callable(map_location) or isinstance(map_location, dict)):
        raise RuntimeError("a safetensors file has no locations to map: give map_location as one device")
    return "cpu" if map_location is None else map_location
