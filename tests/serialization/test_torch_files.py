"""Files that torch wrote load here with the same numbers, ties and types; ours load here again."""

from __future__ import annotations

import io
import json
import pickle
from collections import Counter, OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import funcgrad as torch
from funcgrad import nn, serialization
from funcgrad._base import dtypes
from funcgrad._tensor.interop import from_host, to_host
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn.parameter import Parameter
from funcgrad.serialization.archive import ArchiveReader, ArchiveWriter
from tests.serialization.described import described

RECORDED = Path(__file__).parent / "recorded"
EXPECTED = json.loads((RECORDED / "expected.json").read_text())
CASES = sorted(EXPECTED)
serialization.register_parameter(Parameter)


def saved(obj: Any, **options: Any) -> io.BytesIO:
    file = io.BytesIO()
    serialization.save(obj, file, **options)
    file.seek(0)
    return file


def numbers(tensor: Tensor) -> list[Any]:
    return to_host(tensor).tolist()


def rewritten(file: io.BytesIO, changes: dict[str, bytes | None]) -> io.BytesIO:
    """Return the archive with the content of some records changed; None: without them."""
    old, new = ArchiveReader(file), io.BytesIO()
    with ArchiveWriter(new, "archive") as writer:
        for record in old.records:
            content = changes.get(record, old.read(record))
            if content is not None:
                writer.write(record, content)
    new.seek(0)
    return new


def changed(tensor: Tensor) -> Tensor:
    """Set the first element to 100 in place."""
    tensor.view(-1)[0] = 100.0
    return tensor


@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("case", CASES)
def test_a_file_of_torch_holds_what_torch_put_in(case: str, weights_only: bool) -> None:
    assert described(serialization.load(RECORDED / f"{case}.pt", weights_only=weights_only)) == EXPECTED[case]


@pytest.mark.parametrize("case", CASES)
def test_a_file_in_the_old_format_holds_it_too(case: str) -> None:
    loaded = described(serialization.load(RECORDED / f"{case}.old.pt"))
    assert loaded == {key: EXPECTED[case][key] for key in loaded}


@pytest.mark.parametrize("old", [True, False])
@pytest.mark.parametrize("case", CASES)
def test_what_we_save_loads_as_it_was(case: str, old: bool) -> None:
    loaded = serialization.load(RECORDED / f"{case}.pt")
    again = serialization.load(saved(loaded, _use_new_zipfile_serialization=not old))
    assert described(again) == EXPECTED[case]


def test_mapped_files_hold_the_same() -> None:
    loaded = serialization.load(RECORDED / "of_every_layout.pt", mmap=True)
    assert described(loaded) == EXPECTED["of_every_layout"]


def test_a_file_may_be_a_path_a_string_or_open() -> None:
    path = RECORDED / "containers.pt"
    with path.open("rb") as file:
        assert described(serialization.load(str(path))) == described(serialization.load(file))


def test_plain_objects_have_their_own_types() -> None:
    loaded = serialization.load(RECORDED / "containers.pt")
    assert loaded["ordered"] == OrderedDict([("z", 1), ("a", 2)])
    assert type(loaded["ordered"]) is OrderedDict
    assert loaded["counter"] == Counter("abca")
    assert loaded["bytes"] == b"\x00\xff"
    assert loaded["bytearray"] == bytearray(b"ab")
    assert loaded["complex"] == 1 - 2j
    assert loaded["dtype"] is dtypes.bfloat16
    assert loaded[(1, "x")] == "tuple key"


def test_a_state_dict_keeps_the_versions_of_its_modules() -> None:
    metadata = serialization.load(RECORDED / "training_state.pt")["model"]._metadata
    assert metadata["1"] == {"version": 2}


def test_the_same_object_is_loaded_once() -> None:
    loaded = serialization.load(RECORDED / "of_every_layout.pt")
    assert loaded["base"] is loaded["same"]
    assert loaded["base"] is not loaded["again"]


def test_tensors_of_one_storage_stay_tied() -> None:
    loaded = serialization.load(RECORDED / "of_every_layout.pt")
    changed(loaded["base"])
    assert numbers(loaded["again"])[0][0][0] == 100.0
    assert numbers(loaded["flipped"])[0][0][0] == 100.0
    loaded["part"][0, 0, 0] = -1.0
    assert numbers(loaded["base"])[1][0][0] == -1.0


def test_ties_survive_saving() -> None:
    base = from_host(np.arange(6.0, dtype=np.float32).reshape(2, 3))
    tied = {"base": base, "same": base, "data": base.detach(), "row": base[1], "turned": base.t(), "last": base[:, 2]}
    file = saved(tied)
    assert file.getvalue().count(b"data/0") == 2  # header and list of records: one storage
    assert b"data/1" not in file.getvalue()
    loaded = serialization.load(file)
    assert loaded["base"] is loaded["same"]
    loaded["row"][2] = 50.0
    assert [numbers(loaded[name]) for name in ("base", "data", "turned", "last")] == [
        [[0.0, 1.0, 2.0], [3.0, 4.0, 50.0]], [[0.0, 1.0, 2.0], [3.0, 4.0, 50.0]],
        [[0.0, 3.0], [1.0, 4.0], [2.0, 50.0]], [2.0, 50.0],
    ]  # fmt: skip


def test_a_part_that_is_saved_alone_brings_its_whole_storage() -> None:
    base = torch.arange(100)
    part = serialization.load(saved(base[5:10]))
    assert (part.tolist(), part.untyped_storage().nbytes(), part.storage_offset()) == ([5, 6, 7, 8, 9], 800, 5)
    column = serialization.load(saved(base.view(10, 10)[:, ::3]))
    assert (column.stride(), column.is_contiguous(), column[1].tolist()) == ((10, 3), False, [10, 13, 16, 19])
    weight = serialization.load(saved(Parameter(torch.ones(8)[:2])))
    assert (type(weight), weight.is_leaf, weight.untyped_storage().nbytes()) == (Parameter, True, 32)
    assert serialization.load(saved(base[:5].clone())).untyped_storage().nbytes() == 40


def test_a_view_that_strides_can_not_tell_is_saved_alone() -> None:
    base = from_host(np.arange(6.0, dtype=np.float32).reshape(2, 3))
    joined = base.t().reshape(6)
    assert numbers(serialization.load(saved([base, joined]))[1]) == [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]


def test_parameters_load_as_parameters_that_know_their_marks() -> None:
    loaded = serialization.load(RECORDED / "of_every_layout.pt")
    assert type(loaded["parameter"]) is Parameter
    assert loaded["parameter"].requires_grad
    assert type(loaded["frozen"]) is Parameter
    assert not loaded["frozen"].requires_grad
    assert loaded["marked"].no_decay is True
    assert serialization.load(saved(loaded["marked"])).no_decay is True


def test_a_loaded_leaf_takes_gradients() -> None:
    leaf = serialization.load(RECORDED / "of_every_layout.pt")["leaf"]
    (leaf * 3).sum().backward()
    assert numbers(leaf.grad) == [3.0, 3.0]


def test_saving_leaves_the_tensor_as_it_was() -> None:
    parameter = Parameter(from_host(np.ones(2, np.float32)))
    saved({"p": parameter, "view": parameter.detach()[0]})
    assert parameter.requires_grad
    assert parameter.is_leaf


def test_the_same_object_gives_the_same_file() -> None:
    loaded = serialization.load(RECORDED / "training_state.pt")
    assert saved(loaded).getvalue() == saved(loaded).getvalue()


def test_each_storage_begins_at_a_multiple_of_64() -> None:
    content = saved({str(n): from_host(np.full(n, n, np.uint8)) for n in range(1, 9)}).getvalue()
    for n in range(2, 9):
        assert content.index(bytes([n]) * n + b"PK") % 64 == 0


def test_a_storage_itself_can_be_loaded() -> None:
    storages: list[Any] = []
    serialization.load(RECORDED / "of_every_dtype.pt", map_location=lambda storage, _: storages.append(storage))
    assert sum(storage.nbytes() for storage in storages) == sum(
        len(tensor[4]) // 2 for tensor in EXPECTED["of_every_dtype"].values()
    )


@pytest.mark.parametrize(
    "map_location", ["cpu", b"cpu", {"cpu": "cpu"}, lambda storage, location: storage, lambda storage, location: None]
)
def test_map_location_takes_every_form(map_location: Any) -> None:
    loaded = serialization.load(RECORDED / "of_every_dtype.pt", map_location=map_location)
    assert described(loaded) == EXPECTED["of_every_dtype"]


def test_a_device_that_is_not_here_says_what_to_do() -> None:
    with pytest.raises(RuntimeError, match=r"map_location=torch.device\('cpu'\)"):
        serialization.load(RECORDED / "of_every_dtype.pt", map_location="mps:0")


def test_a_file_from_another_device_loads_where_map_location_says() -> None:
    content = (RECORDED / "of_every_layout.old.pt").read_bytes()
    elsewhere = content.replace(b"X\x03\x00\x00\x00cpu", b"X\x05\x00\x00\x00mps:0")
    with pytest.raises(RuntimeError, match="Attempting to deserialize object on a MPS device"):
        serialization.load(io.BytesIO(elsewhere))
    loaded = serialization.load(io.BytesIO(elsewhere), map_location="cpu")
    assert described(loaded) == EXPECTED["of_every_layout"]


def test_big_endian_bytes_are_turned_around() -> None:
    file = saved([from_host(np.array([1.5, -2.0], np.float32)), from_host(np.array([1 - 2j], np.complex128))])
    big = {
        "byteorder": b"big",
        "data/0": np.array([1.5, -2.0], ">f4").tobytes(),
        "data/1": np.array([1 - 2j], ">c16").tobytes(),
    }
    assert [numbers(tensor) for tensor in serialization.load(rewritten(file, big))] == [[1.5, -2.0], [1 - 2j]]


def test_a_file_that_does_not_say_has_the_default_order_of_bytes() -> None:
    file = saved([from_host(np.array([1.5, -2.0], np.float32))])
    big = rewritten(file, {"byteorder": None, "data/0": np.array([1.5, -2.0], ">f4").tobytes()})
    assert serialization.get_default_load_endianness() is None
    try:
        serialization.set_default_load_endianness(serialization.LoadEndianness.BIG)
        assert numbers(serialization.load(big)[0]) == [1.5, -2.0]
        serialization.set_default_load_endianness(serialization.LoadEndianness.LITTLE)
        assert numbers(serialization.load(big)[0]) != [1.5, -2.0]
    finally:
        serialization.set_default_load_endianness(None)
    wrong: Any = "big"
    with pytest.raises(TypeError, match="Invalid argument type in function set_default_load_endianness"):
        serialization.set_default_load_endianness(wrong)


def test_a_file_written_without_checksums_loads() -> None:
    assert numbers(serialization.load(RECORDED / "unchecked.pt")) == [1.0, 2.0]


def test_a_whole_module_needs_weights_only_false_and_a_counterpart() -> None:
    with pytest.raises(
        pickle.UnpicklingError, match=r"GLOBAL torch\.nn\.modules\.container\.Sequential was not an allowed"
    ):
        serialization.load(RECORDED / "module.pt")
    unsafe = serialization.get_unsafe_globals_in_checkpoint(RECORDED / "module.pt")
    assert unsafe == [
        "torch.nn.modules.activation.ReLU", "torch.nn.modules.container.Sequential", "torch.nn.modules.linear.Linear",
    ]  # fmt: skip


def test_a_whole_module_of_torch_loads_as_ours_and_computes() -> None:
    loaded = serialization.load(RECORDED / "module.pt", weights_only=False)
    assert type(loaded) is nn.Sequential
    (result,) = numbers(loaded(from_host(np.ones((1, 2), np.float32))))
    weight, bias = numbers(loaded[0].weight), numbers(loaded[0].bias)
    assert result == pytest.approx([max(sum(row) + b, 0.0) for row, b in zip(weight, bias, strict=True)], abs=1e-6)


class Point:
    """A class of the user's."""

    def __init__(self, x: int, where: Tensor) -> None:
        self.x, self.where = x, where


def test_objects_of_ones_own_load_where_they_are_trusted() -> None:
    file = saved(Point(3, from_host(np.ones(2))))
    with pytest.raises(pickle.UnpicklingError, match="add_safe_globals"):
        serialization.load(file)
    for options, safe in (({"weights_only": False}, []), ({}, [Point]), ({}, [(Point, f"{__name__}.Point")])):
        file.seek(0)
        with serialization.safe_globals(safe):
            loaded = serialization.load(file, **options)
        assert loaded.x == 3
        assert numbers(loaded.where) == [1.0, 1.0]
    assert serialization.get_safe_globals() == []


def test_registered_classes_go_by_the_name_torch_gives_them() -> None:
    serialization.register_globals({"torch.nn.modules.test_only.Point": Point})
    file = saved(Point(4, from_host(np.ones(1))))
    assert b"ctorch.nn.modules.test_only\nPoint\n" in file.getvalue()
    assert serialization.load(file, weights_only=False).x == 4


def test_other_pickle_protocols_load_too() -> None:
    loaded = serialization.load(RECORDED / "containers.pt")
    for protocol in (3, 4, 5):
        again = serialization.load(saved(loaded, pickle_protocol=protocol))
        assert described(again) == EXPECTED["containers"]


@pytest.mark.parametrize("weights_only", [True, False])
def test_sparse_tensors_of_torch_keep_their_layouts(weights_only: bool) -> None:
    loaded = serialization.load(RECORDED / "sparse.pt", weights_only=weights_only)
    again = serialization.load(saved(loaded), weights_only=weights_only)
    for found in (loaded, again):
        assert [str(x.layout) for x in found.values()] == [
            "torch.sparse_coo", "torch.sparse_coo", "torch.sparse_csr", "torch.sparse_csc", "torch.sparse_bsr",
            "torch.sparse_bsc",
        ]  # fmt: skip
        assert [found[name].is_coalesced() for name in ("meeting", "coalesced")] == [False, True]
        assert all(x.to_dense().tolist() == [[0.0, 0.0, 4.0], [4.0, 0.0, 5.0]] for x in found.values())


def test_a_tensor_keeps_its_order_in_memory() -> None:
    pictures = torch.arange(48.0).reshape(2, 3, 4, 2).to(memory_format=torch.channels_last)
    turned = torch.arange(6.0).reshape(2, 3).t() * 2
    buffer = io.BytesIO()
    torch.save({"pictures": pictures, "turned": turned, "row": turned[1], "complex": (turned + 1j).real}, buffer)
    buffer.seek(0)
    found = torch.load(buffer)
    assert found["pictures"].is_contiguous(memory_format=torch.channels_last)
    assert found["turned"].stride() == (1, 3) and found["row"].stride() == (3,)
    for name, wanted in {"pictures": pictures, "turned": turned, "row": turned[1], "complex": turned}.items():
        assert torch.equal(found[name], wanted)
    found["turned"][1, 0] = 7
    assert found["row"][0] == 7
