"""A file from nowhere runs nothing, and what is cut off, corrupt or a bomb says so."""

from __future__ import annotations

import io
import os
import pickle
import struct
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from funcgrad import serialization
from funcgrad._tensor.interop import from_host
from funcgrad.serialization.archive import ArchiveWriter

RECORDED = Path(__file__).parent / "recorded"
STORAGE = b"((X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x04tQ"
ALLOWED_ERRORS = (RuntimeError, pickle.UnpicklingError, EOFError, ValueError)

RAN: list[str] = []


def runs(what: str = "called") -> str:
    """Note that a file has run something."""
    RAN.append(what)
    return what


class Exploit:
    """An object whose pickle calls a function."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.call = function, arguments

    def __reduce__(self) -> Any:
        return self.call


def archive(pickled: bytes, **records: bytes) -> io.BytesIO:
    """Return an archive with one storage of four float32."""
    file = io.BytesIO()
    with ArchiveWriter(file, "archive") as writer:
        for name, data in {"data.pkl": pickled, "data/0": bytes(16), "version": b"3\n", **records}.items():
            writer.write(name, data)
    file.seek(0)
    return file


def tensor_of(size: str, stride: str, offset: str = "K\x00") -> bytes:
    """Return the pickle of a tensor over that storage; numbers are written as opcodes."""
    numbers = (offset + "(" + size + "t(" + stride + "t").encode("latin1")
    return b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n" + STORAGE + numbers + b"\x89NtR."


def load(pickled: bytes) -> Any:
    return serialization.load(archive(pickled))


def test_the_pickles_written_by_hand_are_right() -> None:
    assert tuple(load(tensor_of("K\x02K\x02", "K\x02K\x01")).shape) == (2, 2)


@pytest.mark.parametrize("protocol", range(2, 6))
@pytest.mark.parametrize("function", [runs, os.system, os.remove, eval, exec, __import__, getattr, print, open])
def test_no_function_is_called(function: Callable[..., Any], protocol: int) -> None:
    RAN.clear()
    hostile = pickle.dumps({"model": Exploit(function, "name")}, protocol)
    words = r"(?s)Weights only load failed\. .*(Unsupported global|is blocked)"
    with pytest.raises(pickle.UnpicklingError, match=words):
        load(hostile)
    assert RAN == []


def test_a_blocked_module_can_not_even_be_declared_safe() -> None:
    with serialization.safe_globals([os.system]), pytest.raises(pickle.UnpicklingError, match="is blocked"):
        load(pickle.dumps(Exploit(os.system, "true"), 2))


def test_only_what_weights_only_false_allows_runs() -> None:
    RAN.clear()
    file = archive(pickle.dumps(Exploit(runs, "asked for"), 2))
    assert serialization.load(file, weights_only=False) == "asked for"
    assert RAN == ["asked for"]


@pytest.mark.parametrize(
    "pickled",
    [
        b"\x80\x02ctorch\nfloat32\n)R.",  # calls a dtype
        b"\x80\x02ctorch\nTensor\nJ\x00\x00\x00\x7f\x85R.",  # Tensor(2 ** 31)
        b"\x80\x02c__builtin__\nbytearray\nJ\x00\x00\x00\x7f\x85R.",  # bytearray(2 ** 31)
        b"\x80\x02c_codecs\nencode\nX\x01\x00\x00\x00aX\x03\x00\x00\x00zip\x86R.",
        b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n}X\x01\x00\x00\x00aK\x01sb.",  # sets an attribute of our function
        b"\x80\x02ctorch\nTensor\n}X\x01\x00\x00\x00aK\x01sb.",  # sets an attribute of the class
        b"\x80\x02ctorch.storage\nUntypedStorage\nK\x05\x85R.",
        b"\x80\x02]K\x01a}K\x01K\x02ss.",
        b"\x80\x02(K\x01K\x02u.",
        b"\x80\x02K\x01Q.",
        b"\x80\x02X\x06\x00\x00\x00module\x85Q.",
        b"\x80\x02" + STORAGE.replace(b"K\x04", b"J\xff\xff\xff\xff")[1:] + b".",
        b"\x80\x02\x82\x01.",  # copyreg's extension registry
        b"\x80\x02Pname\n.",
        b"\x80\x02h\x07.",
        b"\x80\x02r\xff\xff\xff\xff.",
        b"\x80\x02X\xff\xff\xff\x7fabc",
        b"\x80\x02\x8b\xff\xff\xff\x7fabc",
        b"\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\x7fabc",
        b"\x80\x02T\xff\xff\xff\xffabc.",
        b"\x80\x02ctorch\nfloat32",
        b"\x80\x02t.",
        b"\x80\x02e.",
        b"\x80\x02.",
        b"\x80\x02R.",
        b"\x80\x02\x86.",
    ],
)
def test_a_malformed_pickle_is_an_unpickling_error(pickled: bytes) -> None:
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        load(pickled)


def test_keys_that_would_take_for_ever_to_hash_are_refused() -> None:
    for hostile in (b")" + b"2\x86" * 60, b")" + b"\x85" * 20_000):
        for use in (b"}" + hostile + b"Ns.", b"\x8f(" + hostile + b"\x90.", b"(" + hostile + b"\x91."):
            with pytest.raises(pickle.UnpicklingError, match="nested too deeply"):
                load(b"\x80\x02" + use)


@pytest.mark.parametrize(
    ("size", "stride", "offset"),
    [
        ("K\x05", "K\x01", "K\x00"),
        ("K\x02", "K\x04", "K\x00"),
        ("K\x01", "K\x01", "K\x04"),
        ("K\x02", "J\xff\xff\xff\xff", "K\x03"),
        ("J\xff\xff\xff\xff", "K\x01", "K\x00"),
        ("K\x02", "K\x01", "J\xff\xff\xff\xff"),
        ("K\x02", "K\x01K\x01", "K\x00"),
        ("G@\x00\x00\x00\x00\x00\x00\x00", "K\x01", "K\x00"),
        ("\x88", "K\x01", "K\x00"),
    ],
)
def test_a_tensor_outside_its_storage_is_refused(size: str, stride: str, offset: str) -> None:
    with pytest.raises(RuntimeError, match=r"storage of size|strides and shape"):
        load(tensor_of(size, stride, offset))


def test_an_expanded_tensor_costs_nothing_until_it_is_used() -> None:
    huge = "J\x00\x00\x00\x40" * 3
    assert load(tensor_of(huge, "K\x00" * 3)).shape == (1 << 30,) * 3


def test_a_tensor_that_overlaps_itself_too_often_is_refused() -> None:
    size, numel = 200_000, 399_999
    pickled = tensor_of("J" + struct.pack("<i", size).decode("latin1") * 1, "K\x01").replace(
        b"K\x04t", b"J" + struct.pack("<i", numel) + b"t"
    )
    one = b"J" + struct.pack("<i", size)
    pickled = pickled.replace(b"(" + one + b"t(K\x01t", b"(" + one + one + b"t(K\x01K\x01t")
    with pytest.raises(RuntimeError, match="overlaps itself"):
        serialization.load(archive(pickled, **{"data/0": bytes(4 * numel)}))


def test_a_storage_of_another_size_than_announced_is_refused() -> None:
    with pytest.raises(RuntimeError, match="storage has wrong byte size: expected 16 got 12"):
        serialization.load(archive(tensor_of("K\x04", "K\x01"), **{"data/0": bytes(12)}))


def test_a_missing_storage_says_which() -> None:
    with pytest.raises(RuntimeError, match="failed locating file data/1"):
        load(tensor_of("K\x04", "K\x01").replace(b"\x01\x00\x00\x000", b"\x01\x00\x00\x001"))


def test_tensors_that_we_do_not_have_say_so() -> None:
    with pytest.raises(RuntimeError, match="the file holds a nested tensor"):
        load(b"\x80\x02ctorch._utils\n_rebuild_nested_tensor\nNN\x86R.")


def test_a_sparse_tensor_without_its_parts_is_refused() -> None:
    with pytest.raises(pickle.UnpicklingError, match="a sparse tensor is made of a layout and its parts"):
        load(b"\x80\x02ctorch._utils\n_rebuild_sparse_tensor\nNN\x86R.")


def test_a_compressed_bomb_is_refused() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("archive/data.pkl", pickle.dumps(1, 2))
        packed.writestr("archive/data/0", bytes(10_000_000))
    file.seek(0)
    with pytest.raises(RuntimeError, match="records are compressed"):
        serialization.load(file)


def test_records_that_overlap_are_refused() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        packed.writestr("archive/data.pkl", bytes(10_000))
        first = packed.infolist()[0]
        for n in range(50):
            again = zipfile.ZipInfo(f"archive/data/{n}")
            again.header_offset, again.file_size, again.compress_size, again.CRC = 0, 10_000, 10_000, first.CRC
            packed.filelist.append(again)
            packed.NameToInfo[again.filename] = again
    file.seek(0)
    with pytest.raises(RuntimeError, match=r"can not lie in a file of|failed"):
        serialization.load(file)


def test_a_torchscript_archive_says_what_it_is() -> None:
    with pytest.raises(RuntimeError, match="TorchScript"):
        serialization.load(archive(b"N.", **{"constants.pkl": b"N."}))


def test_a_flipped_bit_is_found() -> None:
    file = io.BytesIO()
    serialization.save(from_host(np.arange(1000)), file)
    content = bytearray(file.getvalue())
    content[content.index(np.arange(1000).tobytes()) + 77] ^= 4
    with pytest.raises(RuntimeError, match="failed reading file data/0: its checksum is wrong"):
        serialization.load(io.BytesIO(content))


@pytest.mark.parametrize("name", ["training_state.pt", "training_state.old.pt", "containers.pt", "containers.old.pt"])
def test_every_truncation_is_an_error(name: str) -> None:
    content = (RECORDED / name).read_bytes()
    for length in range(0, len(content) - 1, 7):
        with pytest.raises(ALLOWED_ERRORS):
            serialization.load(io.BytesIO(content[:length]))


@pytest.mark.parametrize("offset", [0xFFFFFFFE, 7])
def test_a_record_that_begins_nowhere_is_refused(offset: int) -> None:
    content = archive(b"N.").getvalue()
    place = content.index(b"PK\x01\x02") + 42
    with pytest.raises(RuntimeError, match="failed"):
        serialization.load(io.BytesIO(content[:place] + struct.pack("<I", offset) + content[place + 4 :]))


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(["of_every_layout.pt", "of_every_layout.old.pt"]), st.integers(0, 6000), st.integers(0, 255))
def test_any_changed_byte_loads_or_is_an_error(name: str, position: int, value: int) -> None:
    content = bytearray((RECORDED / name).read_bytes())
    content[position % len(content)] = value
    with suppress(*ALLOWED_ERRORS):
        serialization.load(io.BytesIO(content))


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_load_or_are_an_error(content: bytes) -> None:
    for file in (io.BytesIO(content), archive(content), archive(b"\x80\x02" + content)):
        with suppress(*ALLOWED_ERRORS):
            serialization.load(file)


@pytest.mark.parametrize(
    ("content", "error", "words"),
    [
        (b"", EOFError, "Ran out of input"),
        (b"PK\x03\x04 cut off", RuntimeError, "failed finding central directory"),
        (pickle.dumps({"a": 1}, 2), RuntimeError, "Invalid magic number; corrupt file?"),
        (b"version https://git-lfs", pickle.UnpicklingError, "Weights only load failed"),
        (bytes(257) + b"ustar" + bytes(300), RuntimeError, "tar file"),
    ],
)
def test_what_is_no_checkpoint_says_so(content: bytes, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        serialization.load(io.BytesIO(content))


def test_wrong_arguments_say_what_is_expected(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="f must be a file path in order to use the mmap argument"):
        serialization.load(archive(b"N."), mmap=True)
    with pytest.raises(AttributeError, match="module 'zlib' has no attribute 'Unpickler'"):
        serialization.load(archive(b"N."), pickle_module=zlib)
    with pytest.raises(AttributeError, match=r"You can only torch.load from a file that is seekable"):
        serialization.load(object())  # type: ignore[arg-type]  # that is the point
    with pytest.raises(TypeError, match="map_location is a device"):
        serialization.load(archive(b"N."), map_location=3)
    with pytest.raises(FileNotFoundError):
        serialization.load(tmp_path / "absent.pt")
    with pytest.warns(UserWarning, match="pickle_load_args only works"):
        serialization.load(archive(b"N."), encoding="ascii")


def test_the_environment_can_force_weights_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "1")
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        serialization.load(archive(pickle.dumps(Exploit(runs), 2)), weights_only=False)


def test_the_environment_may_say_that_files_are_trusted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "trusted.pt"
    serialization.save({"where": path}, path)
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    with pytest.warns(UserWarning, match="forcing weights_only=False"):
        assert serialization.load(path) == {"where": path}
    with pytest.raises(pickle.UnpicklingError):
        serialization.load(path, weights_only=True)
    monkeypatch.setenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "1")
    with pytest.raises(RuntimeError, match="both were set"):
        serialization.load(path)


def test_an_option_that_no_unpickler_knows_is_refused(tmp_path: Path) -> None:
    serialization.save([1], tmp_path / "list.pt")
    with pytest.warns(UserWarning), pytest.raises(TypeError, match="unexpected keyword argument 'strict'"):
        serialization.load(tmp_path / "list.pt", strict=True)


def test_a_page_in_place_of_a_checkpoint_is_told_as_torch_tells_it(tmp_path: Path) -> None:
    (tmp_path / "page.pt").write_text("<html>not found</html>")
    with pytest.raises(pickle.UnpicklingError, match="Please file an issue with the following") as caught:
        serialization.load(tmp_path / "page.pt")
    assert "use case: WeightsUnpickler error: \n\nUnsupported operand 60\n\n" in str(caught.value)
