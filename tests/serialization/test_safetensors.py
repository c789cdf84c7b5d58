"""safetensors files: read and written as the format's own library does, and refused when they are not right."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import funcgrad as torch
from funcgrad import serialization
from funcgrad._base import dtypes
from funcgrad._tensor.interop import from_host, to_host
from funcgrad.serialization import safetensors

NAMELESS = ("complex128", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu")  # the format has no name for them
KINDS = [kind for kind in dtypes.ALL if kind.name not in NAMELESS]


def tensors() -> dict[str, Any]:
    values = np.array([[0, 1, 2], [3, 96, 0]])
    made: dict[str, Any] = {kind.name: from_host(values.astype(kind.numpy)) for kind in KINDS}
    return made | {"scalar": from_host(np.array(2.5)), "empty": from_host(np.zeros((0, 4), np.float32))}


def described(found: dict[str, Any]) -> dict[str, Any]:
    return {name: (t.dtype, tuple(t.shape), to_host(t).tobytes()) for name, t in found.items()}


def with_header(header: Any, data: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def test_all_dtypes_come_back(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    serialization.save_file(tensors(), path, metadata={"format": "pt"})
    assert described(serialization.load_file(path)) == described(tensors())
    assert described(serialization.load(path)) == described(tensors())
    assert safetensors.save(tensors(), {"format": "pt"}) == path.read_bytes()
    assert described(safetensors.load(path.read_bytes())) == described(tensors())


def test_the_library_reads_and_writes_the_same(tmp_path: Path) -> None:
    library = pytest.importorskip("safetensors")
    ours = tmp_path / "ours.safetensors"
    plain = {name: t for name, t in tensors().items() if not t.dtype.name.startswith("float8")}
    serialization.save_file(plain, ours, metadata={"format": "pt"})
    with library.safe_open(str(ours), "np") as file:
        assert file.metadata() == {"format": "pt"}
        assert set(file.keys()) == set(plain)
        for name in file.keys():  # noqa: SIM118 - no mapping
            if name != "bfloat16":
                assert np.array_equal(file.get_tensor(name), to_host(plain[name]))
    numpy_file = pytest.importorskip("safetensors.numpy")
    theirs = numpy_file.save({name: to_host(t) for name, t in plain.items() if name != "bfloat16"})
    del plain["bfloat16"]
    assert described(safetensors.load(theirs)) == described(plain)


def test_tied_tensors_are_refused() -> None:
    base = from_host(np.ones((2, 2)))
    with pytest.raises(RuntimeError, match="Some tensors share memory"):
        safetensors.save({"a": base, "b": base[0]})
    assert safetensors.save({"a": base, "b": base[0].clone()})


def test_parts_of_one_tensor_that_do_not_overlap_are_saved() -> None:
    base = torch.arange(12.0).reshape(3, 4)
    parts = dict(zip("abc", base.unbind(0), strict=True))
    assert safetensors.load(safetensors.save(parts))["b"].tolist() == [4.0, 5.0, 6.0, 7.0]
    assert len(safetensors.load(safetensors.save({"a": base[:2], "b": base[2:], "empty": base[3:]}))) == 3
    with pytest.raises(RuntimeError, match="'a' and 'b'"):
        safetensors.save({"b": base[1:], "c": torch.ones(1), "a": base[:2]})


def test_what_is_no_tensor_or_has_no_name_is_refused() -> None:
    with pytest.raises(ValueError, match="Key `a` is invalid"):
        safetensors.save({"a": 1})  # type: ignore[dict-item]  # that is the point
    with pytest.raises(RuntimeError, match=r"no name for torch.complex128"):
        safetensors.save({"a": from_host(np.ones(1, np.complex128))})


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00" * 7,
        with_header(b"not json"),
        with_header([]),
        with_header({"a": 1}),
        with_header(b"[" * 100_000),
        struct.pack("<Q", 1 << 60) + b"{}",
        with_header({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}),
        with_header({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}}, bytes(4)),
        with_header({"a": {"dtype": "F32", "shape": [-1, -1], "data_offsets": [0, 4]}}, bytes(4)),
        with_header({"a": {"dtype": "F32", "shape": [1.0], "data_offsets": [0, 4]}}, bytes(4)),
        with_header({"a": {"dtype": "F32", "shape": [1], "data_offsets": ["0", 4]}}, bytes(4)),
        with_header({"a": {"dtype": "X9", "shape": [1], "data_offsets": [0, 4]}}, bytes(4)),
        with_header({"a": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}}, bytes(8)),
        with_header({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}, bytes(8)),
        with_header({n: {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]} for n in "ab"}, bytes(4)),
    ],
)
def test_a_malformed_file_is_refused(content: bytes) -> None:
    with pytest.raises(RuntimeError):
        safetensors.load(content)


def test_every_truncation_is_refused() -> None:
    content = safetensors.save(tensors())
    for length in range(len(content)):
        with pytest.raises(RuntimeError):
            safetensors.load(content[:length])


def test_a_file_that_can_not_be_mapped_to_many_devices_says_so(tmp_path: Path) -> None:
    serialization.save_file(tensors(), tmp_path / "m.safetensors")
    with pytest.raises(RuntimeError, match="map_location as one device"):
        serialization.load(tmp_path / "m.safetensors", map_location={"cpu": "cpu"})
    assert serialization.load(tmp_path / "m.safetensors", map_location="cpu")["scalar"].item() == 2.5
