"""The safetensors format: a JSON header with names, dtypes, shapes and places, then plain bytes; nothing to run."""

from __future__ import annotations

import io
import itertools
import json
import math
import os
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from funcgrad._base import dtypes
from funcgrad._base.dtypes import dtype as DType
from funcgrad._tensor.interop import from_host, to_host
from funcgrad._tensor.tensor import Tensor
from funcgrad.serialization.files import writing
from funcgrad.serialization.placing import located, shared_by
from funcgrad.serialization.storages import Bytes

_DTYPES: dict[str, DType] = {
    "F64": dtypes.float64, "F32": dtypes.float32, "F16": dtypes.float16, "BF16": dtypes.bfloat16, "I64": dtypes.int64,
    "I32": dtypes.int32, "I16": dtypes.int16, "I8": dtypes.int8, "U64": dtypes.uint64, "U32": dtypes.uint32,
    "U16": dtypes.uint16, "U8": dtypes.uint8, "BOOL": dtypes.bool_, "C64": dtypes.complex64,
    "F8_E4M3": dtypes.float8_e4m3fn, "F8_E5M2": dtypes.float8_e5m2,
}  # fmt: skip
_NAMES = {kind: name for name, kind in _DTYPES.items()}
_LONGEST_HEADER = 100_000_000


def save_file(
    tensors: Mapping[str, Tensor], filename: str | os.PathLike[str], metadata: Mapping[str, str] | None = None
) -> None:
    """Save tensors by name. RuntimeError for tensors that share memory: the format has no way to say so."""
    header = _header(tensors, metadata)
    with writing(filename) as file:
        _write(file, header, tensors)


def load_file(filename: str | os.PathLike[str], device: Any = "cpu") -> dict[str, Tensor]:
    """Load all tensors of a file. RuntimeError for a file that is truncated or corrupt."""
    with Path(filename).open("rb") as file:
        return _read(file, device)


def save(tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None = None) -> bytes:
    """Return the bytes of the file that `save_file` writes."""
    file = io.BytesIO()
    _write(file, _header(tensors, metadata), tensors)
    return file.getvalue()


def load(data: bytes) -> dict[str, Tensor]:
    """Load all tensors from the bytes of a file."""
    return _read(io.BytesIO(data), "cpu")


def save_model(model: Any, filename: str | os.PathLike[str], metadata: Mapping[str, str] | None = None) -> None:
    """Save a module's state; of tensors that share storage, the first by name stands for all."""
    first: dict[Any, str] = {}
    state = model.state_dict(keep_vars=True)
    kept = {name: t for name, t in sorted(state.items()) if first.setdefault(id(t), name) == name}
    save_file({name: tensor.detach() for name, tensor in kept.items()}, filename, metadata)


def load_model(
    model: Any, filename: str | os.PathLike[str], strict: bool = True, device: Any = "cpu"
) -> tuple[list[str], list[str]]:
    """Load a module's state; tied names may be missing in the file. Return what is missing and what is too much."""
    state = model.state_dict(keep_vars=True)
    given = load_file(filename, device)
    known = {id(state[name]) for name in given if name in state}
    result = model.load_state_dict(given, strict=False)
    missing = [name for name in result.missing_keys if id(state[name]) not in known]
    if strict and (missing or result.unexpected_keys):
        raise RuntimeError(
            f"Error(s) in loading state_dict for {type(model).__name__}: missing {missing}, "
            f"unexpected {list(result.unexpected_keys)}"
        )
    return missing, list(result.unexpected_keys)


def storage_ptr(tensor: Tensor) -> int:
    """Return what tells the tensor's storage from others."""
    return tensor.untyped_storage().data_ptr()


def storage_size(tensor: Tensor) -> int:
    """Return how many bytes the tensor's storage has."""
    return tensor.untyped_storage().nbytes()


def _in_file_order(tensors: Mapping[str, Tensor]) -> list[tuple[str, Tensor]]:
    """Order by falling size of elements, so that each tensor is aligned, then by name."""
    return sorted(tensors.items(), key=lambda item: (-item[1].dtype.itemsize, item[0]))


def _header(tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None) -> bytes:
    _refuse_shared(tensors)
    header: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    begin = 0
    for name, tensor in _in_file_order(tensors):
        if tensor.dtype not in _NAMES:
            raise RuntimeError(f"safetensors has no name for {tensor.dtype} (tensor '{name}')")
        end = begin + tensor.shape.numel() * tensor.dtype.itemsize
        header[name] = {"dtype": _NAMES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [begin, end]}
        begin = end
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    return text + b" " * (-len(text) % 8)


def _refuse_shared(tensors: Mapping[str, Tensor]) -> None:
    spans: dict[int, list[tuple[int, int, str]]] = {}
    for name, tensor in tensors.items():
        if not isinstance(tensor, Tensor):
            raise ValueError(f"Key `{name}` is invalid, expected torch.Tensor but received {type(tensor)}")
        root, place = located(tensor)
        first, last = place.offset * tensor.dtype.itemsize, place.needed * tensor.dtype.itemsize
        spans.setdefault(id(shared_by(root)), []).append((first, last, name))
    for parts in spans.values():
        parts.sort()
        for (_, end, one), (begin, _, other) in itertools.pairwise(parts):
            if begin < end:
                raise RuntimeError(
                    f"Some tensors share memory, this will lead to duplicate memory on disk and potential differences "
                    f"when loading them again: {one!r} and {other!r}. Save one of them only, or a clone()."
                )


def _write(file: BinaryIO, header: bytes, tensors: Mapping[str, Tensor]) -> None:
    file.write(struct.pack("<Q", len(header)) + header)
    for _, tensor in _in_file_order(tensors):
        file.write(np.ascontiguousarray(to_host(tensor)).reshape(-1).view(np.uint8).data)


def _read(file: BinaryIO, device: Any) -> dict[str, Tensor]:
    length = file.seek(0, os.SEEK_END)
    file.seek(0)
    entries = _entries(file, length)
    tensors = {}
    for name, (kind, shape, count) in entries.items():
        data: Bytes = np.frombuffer(file.read(count * kind.itemsize), np.uint8)
        elements = data != 0 if kind is dtypes.bool_ else data.view(kind.numpy)
        tensors[name] = from_host(elements.reshape(shape), dtype=kind, device=device)
    return tensors


def _entries(file: BinaryIO, length: int) -> dict[str, tuple[DType, tuple[int, ...], int]]:
    """Return dtype, shape and number of elements of each tensor, in the order of their bytes."""
    try:
        (size,) = struct.unpack("<Q", file.read(8))
        if size > min(length - 8, _LONGEST_HEADER):
            raise RuntimeError(f"Error while deserializing header: HeaderTooLarge ({size} bytes in a file of {length})")
        header = json.loads(file.read(size).decode())
        header.pop("__metadata__", None)
        found = sorted((*entry["data_offsets"], name, entry["dtype"], entry["shape"]) for name, entry in header.items())
    except (struct.error, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise RuntimeError(f"Error while deserializing header: InvalidHeader ({error})") from error
    entries, position = {}, 0
    for begin, end, name, kind, shape in found:
        if kind not in _DTYPES or not all(type(n) is int and n >= 0 for n in shape):
            raise RuntimeError(f"tensor '{name}' has an unknown dtype or shape: {kind!r}, {shape!r:.100}")
        count = math.prod(shape)
        if begin != position or end - begin != count * _DTYPES[kind].itemsize:
            raise RuntimeError(f"Error while deserializing header: InvalidOffset(tensor '{name}': {begin} to {end})")
        entries[name], position = (_DTYPES[kind], tuple(shape), count), end
    if position != length - 8 - size:
        raise RuntimeError(
            "Error while deserializing header: MetadataIncompleteBuffer: the file is cut off or too long"
        )
    return entries
