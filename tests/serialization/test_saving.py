"""A path that is saved to holds the old file or the new one, whole; anything that can be written to will do."""

from __future__ import annotations

import io
import marshal
import os
import pickle
import stat
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

import funcgrad
from funcgrad import nn, serialization
from funcgrad._tensor.interop import from_host, to_host
from funcgrad._tensor.storage import TypedStorage, UntypedStorage
from funcgrad._tensor.tensor import Tensor
from funcgrad.serialization import saving
from funcgrad.serialization.archive import ArchiveReader


def ones(count: int = 3) -> Tensor:
    return from_host(np.ones(count, np.float32))


def test_a_path_gets_a_file_whose_folder_has_its_name(tmp_path: Path) -> None:
    for path in (tmp_path / "model.v2.pt", str(tmp_path / "model.v2.pt")):
        serialization.save({"w": ones()}, path)
        assert to_host(serialization.load(path)["w"]).tolist() == [1.0, 1.0, 1.0]
    with (tmp_path / "model.v2.pt").open("rb") as file:
        assert ArchiveReader(file).folder == "model.v2"
    assert os.listdir(tmp_path) == ["model.v2.pt"]


def test_a_failed_save_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.pt"
    serialization.save(1, path)
    with pytest.raises((pickle.PicklingError, AttributeError)):
        serialization.save(lambda: None, path)

    def fail(tensor: Tensor) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(saving, "to_host", fail)
    with pytest.raises(KeyboardInterrupt):
        serialization.save([2, ones()], path)
    assert serialization.load(path) == 1
    assert os.listdir(tmp_path) == ["model.pt"]


def test_a_replaced_file_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    serialization.save(1, path)
    fresh = stat.S_IMODE(path.stat().st_mode)
    (tmp_path / "plain").touch()
    assert fresh == stat.S_IMODE((tmp_path / "plain").stat().st_mode)
    path.chmod(0o640)
    serialization.save(2, path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "latest.pt").symlink_to(tmp_path / "epoch3.pt")
    serialization.save(3, tmp_path / "latest.pt")
    assert (tmp_path / "latest.pt").is_symlink()
    assert serialization.load(tmp_path / "epoch3.pt") == 3


def test_what_is_no_regular_file_is_written_in_place() -> None:
    serialization.save(ones(), os.devnull)
    assert not Path(os.devnull).is_file()


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"Parent directory .*absent does not exist"):
        serialization.save(1, tmp_path / "absent" / "model.pt")


def test_what_can_not_be_written_to_is_refused() -> None:
    with pytest.raises(AttributeError, match="expected 'f' to be string, path, or a file-like object"):
        serialization.save(1, 5)  # type: ignore[arg-type]  # that is the point


class Pipe:
    """A file that can only be written, as a socket."""

    def __init__(self) -> None:
        self.content = b""

    def write(self, data: Any) -> int:
        self.content += bytes(data)
        return len(data)

    def flush(self) -> None:
        pass


@pytest.mark.parametrize("new_format", [True, False])
def test_a_pipe_will_do(new_format: bool) -> None:
    pipe: Any = Pipe()
    serialization.save({"w": ones(1000)}, pipe, _use_new_zipfile_serialization=new_format)
    assert to_host(serialization.load(io.BytesIO(pipe.content))["w"]).sum() == 1000


@pytest.mark.parametrize("new_format", [True, False])
def test_a_file_may_be_written_and_read_in_its_middle(new_format: bool) -> None:
    file = io.BytesIO(b"header")
    file.seek(6)
    serialization.save([ones()], file, _use_new_zipfile_serialization=new_format)
    file.seek(6)
    assert to_host(serialization.load(file)[0]).tolist() == [1.0, 1.0, 1.0]


def test_a_pending_value_is_computed_when_it_is_saved() -> None:
    file = io.BytesIO()
    serialization.save(ones() * 2 + 1, file)
    file.seek(0)
    assert to_host(serialization.load(file)).tolist() == [3.0, 3.0, 3.0]


def test_what_needs_gradients_is_loaded_as_a_leaf() -> None:
    file = io.BytesIO()
    serialization.save(ones().requires_grad_() * 2, file)
    file.seek(0)
    loaded = serialization.load(file)
    assert loaded.requires_grad
    assert loaded.is_leaf


def test_an_optimizers_state_comes_back(tmp_path: Path) -> None:
    state = {"state": {0: {"step": from_host(np.array(3.0, np.float32)), "exp_avg": ones()}}, "param_groups": [{
        "lr": 0.1, "betas": (0.9, 0.999), "foreach": None, "params": [0]}]}  # fmt: skip
    serialization.save(state, tmp_path / "o.pt")
    loaded = serialization.load(tmp_path / "o.pt")
    assert loaded["param_groups"] == state["param_groups"]
    assert loaded["state"][0]["step"].item() == 3.0


def test_tensors_are_loaded_without_numbers_or_by_a_function_of_their_place() -> None:
    file = io.BytesIO()
    serialization.save(from_host(np.ones(2, np.float32)), file)
    loaded = [
        serialization.load(io.BytesIO(file.getvalue()), map_location=place)
        for place in ("meta", lambda storage, location: serialization.default_restore_location(storage, "cpu"))
    ]
    assert [str(tensor.device) for tensor in loaded] == ["meta", "cpu"]


def test_records_of_a_file_are_read_one_by_one(tmp_path: Path) -> None:
    serialization.save({"w": ones()}, tmp_path / "model.pt")
    reader = funcgrad.PyTorchFileReader(tmp_path / "model.pt")
    assert {"data.pkl", "data/0", "version"} <= set(reader.get_all_records())
    assert reader.get_record("version") == b"3\n" and reader.get_record_size("data/0") == 12
    assert np.frombuffer(reader.get_record("data/0"), np.float32).tolist() == [1.0, 1.0, 1.0]
    assert reader.get_record_offset("data/0") % 64 == 0 and not reader.has_record("data/1")
    with pytest.raises(RuntimeError, match="failed locating file data/1"):
        reader.get_record("data/1")


def test_what_has_no_name_of_its_own_is_refused_as_pythons_pickler_in_c_does() -> None:
    class Local:
        pass

    with pytest.raises(AttributeError, match=r"^Can't pickle local object 'test_what_has_no_.*\.<locals>\.Local'$"):
        serialization.save(Local(), io.BytesIO())
    nameless = eval("lambda x: x", {"__name__": __name__})
    with pytest.raises(pickle.PicklingError, match=f"<lambda> at .*>: attribute lookup <lambda> on {__name__} failed$"):
        serialization.save(nameless, io.BytesIO())


@pytest.mark.parametrize("zipped", [True, False])
def test_storages_are_saved_beside_tensors(zipped: bool) -> None:
    x = from_host(np.arange(4, dtype=np.float32))
    file = io.BytesIO()
    serialization.save((x, TypedStorage(x)), file, _use_new_zipfile_serialization=zipped)
    tensor, storage = serialization.load(io.BytesIO(file.getvalue()))
    storage[0] = 9.0
    assert storage.dtype is x.dtype and storage.tolist() == tensor.tolist() == [9.0, 1.0, 2.0, 3.0]


@pytest.mark.parametrize("zipped", [True, False])
def test_a_storage_of_bytes_comes_back_as_one_of_uint8(zipped: bool) -> None:
    file = io.BytesIO()
    bytes_of_one = UntypedStorage(from_host(np.ones(1, np.float32)))
    serialization.save({"bytes": bytes_of_one}, file, _use_new_zipfile_serialization=zipped)
    loaded = serialization.load(io.BytesIO(file.getvalue()))["bytes"]
    assert isinstance(loaded, TypedStorage) and loaded.tolist() == [0, 0, 128, 63]
    assert repr(loaded).endswith("[torch.storage.TypedStorage(dtype=torch.uint8, device=cpu) of size 4]")


def test_one_storage_is_not_saved_as_two_types() -> None:
    x = from_host(np.ones(2, np.float32))
    with pytest.raises(RuntimeError, match="Cannot save multiple tensors or storages that view the same data as diff"):
        serialization.save((x, UntypedStorage(x)), io.BytesIO())


PicklerInPython: Any = pickle._Pickler  # type: ignore[attr-defined]  # typeshed leaves it out


class _InPython(PicklerInPython):
    """As dill does, has functions of its own for kinds of objects."""

    dispatch: ClassVar[dict[type, Any]] = dict(PicklerInPython.dispatch)

    def save_function(self, function: FunctionType) -> None:
        if function.__name__ != "<lambda>":
            return self.save_global(function)
        return self.save_reduce(_again, (marshal.dumps(function.__code__),), obj=function)

    def save_type(self, kind: type) -> None:
        PicklerInPython.save_global(self, kind)

    dispatch[FunctionType] = save_function
    dispatch[type] = save_type


class _InC(pickle.Pickler):
    """As cloudpickle does, says how functions and classes that are not found by name are made."""

    def reducer_override(self, obj: Any) -> Any:
        is_mine = isinstance(obj, (type, FunctionType)) and obj.__module__.partition(".")[0] not in (
            "builtins",
            "tests",
        )
        return (_again, (marshal.dumps((lambda: None).__code__),)) if is_mine else NotImplemented

    dispatch_table: ClassVar[Any] = {range: lambda numbers: (list, (list(numbers),))}


def _again(code: bytes) -> FunctionType:
    return FunctionType(marshal.loads(code), globals())


class _Undone(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        return "mine" if name == "Path" else super().find_class(module, name)


def test_another_pickler_with_functions_for_kinds_writes_what_is_no_tensor() -> None:
    module, file = SimpleNamespace(Pickler=_InPython, Unpickler=_Undone), io.BytesIO()
    saved = {"w": ones(), "twice": lambda x: x + x, "layer": nn.Linear, "path": Path}
    serialization.save(saved, file, pickle_module=module)
    assert b"ctorch.nn.modules.linear\nLinear\n" in file.getvalue()
    file.seek(0)
    loaded = serialization.load(file, pickle_module=module)
    assert to_host(loaded["twice"](loaded["w"])).tolist() == [2.0] * 3
    assert loaded["layer"] is nn.Linear and loaded["path"] == "mine"


@pytest.mark.parametrize("zipped", [True, False])
def test_another_pickler_that_reduces_writes_what_is_no_tensor(zipped: bool) -> None:
    module, file = SimpleNamespace(Pickler=_InC), io.BytesIO()
    saved = {"w": ones(), "layer": nn.Linear, "numbers": range(3), "mine": Path}
    serialization.save(saved, file, pickle_module=module, _use_new_zipfile_serialization=zipped)
    file.seek(0)
    loaded = serialization.load(file, weights_only=False)
    assert loaded["w"].tolist() == [1.0] * 3 and loaded["layer"] is nn.Linear
    assert loaded["numbers"] == [0, 1, 2] and loaded["mine"]() is None
