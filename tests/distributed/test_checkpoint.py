"""Checkpoints of large models in folders, over orbax: shard by shard, in the background, replaced as a whole."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import funcgrad as torch
from funcgrad import nn
from funcgrad.distributed import checkpoint as dcp
from funcgrad.distributed.checkpoint.format_utils import dcp_to_torch_save, torch_save_to_dcp
from funcgrad.distributed.checkpoint.hf_storage import HuggingFaceStorageReader, HuggingFaceStorageWriter
from funcgrad.distributed.checkpoint.naming import filled, flattened, outline
from funcgrad.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_model_state_dict,
    get_state_dict,
    set_state_dict,
)
from funcgrad.nn.parallel import DataParallel

HAS_ORBAX = dcp.folder.HAS_ORBAX
with_orbax = pytest.mark.skipif(not HAS_ORBAX, reason="orbax-checkpoint is not installed")

SHARDED = """
import sys
import jax, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
import funcgrad as torch
from funcgrad.distributed import checkpoint

rows = NamedSharding(Mesh(np.array(jax.devices()), ("rows",)), PartitionSpec("rows"))
with jax.enable_x64(True):
    numbers = [jax.device_put(np.arange(16, dtype=np.int64) + start, rows) for start in (2**40, 0)]
saved, target = map(torch.from_jax, numbers)
checkpoint.save({"ids": saved, "scale": torch.tensor(2.0)}, checkpoint_id=sys.argv[1])
state = {"ids": target, "scale": torch.zeros(())}
checkpoint.load(state, checkpoint_id=sys.argv[1])
assert state["ids"] is target and target.tolist() == saved.tolist()
assert len(target._current().value.array.sharding.device_set) == 4
print("sharded", (target + 1)[0].item() - 2**40)
"""


def trained() -> tuple[nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    for _ in range(2):
        optimizer.zero_grad()
        model(torch.randn(5, 3)).square().mean().backward()
        optimizer.step()
    return model, optimizer


def as_lists(state: Any) -> Any:
    if isinstance(state, dict):
        return {key: as_lists(value) for key, value in state.items()}
    if isinstance(state, (list, tuple)):
        return [as_lists(value) for value in state]
    return state.tolist() if isinstance(state, torch.Tensor) else state


def test_a_flat_state_has_dotted_names_and_becomes_the_nested_one_again() -> None:
    state = {"model": {"w": torch.ones(2)}, "list": [torch.zeros(1), {"n": 3}], "betas": [0.9, 0.99], 5: {0: "x"}}
    leaves = {name: leaf for name, (_, leaf) in flattened(state).items()}
    assert list(leaves) == ["model.w", "list.0", "list.1.n", "betas", "5.0"]
    assert as_lists(filled(outline(state), leaves)) == as_lists(state)
    with pytest.raises(ValueError, match=r"two entries of the state have the name 'a\.b'"):
        flattened({"a": {"b": 1}, "a.b": 2})


def test_an_optimizers_state_goes_by_parameter_names() -> None:
    model, optimizer = trained()
    weights, states = get_state_dict(DataParallel(model), optimizer)
    assert list(weights) == list(model.state_dict())
    assert (
        list(states["state"]) == [name for name, _ in model.named_parameters()] == states["param_groups"][0]["params"]
    )
    flat = get_state_dict(model, optimizer, options=StateDictOptions(flatten_optimizer_state_dict=True))[1]
    assert flat["param_groups.0.weight.lr"] == 0.01
    for given in (states, flat):
        fresh = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
        other = torch.optim.AdamW(fresh.parameters(), lr=1.0)
        result = set_state_dict(fresh, other, model_state_dict=weights, optim_state_dict=given)
        assert not result.missing_keys and not result.unexpected_keys
        assert as_lists(other.state_dict()) == as_lists(optimizer.state_dict())
    model[0].requires_grad_(False)
    assert "0.weight" not in get_model_state_dict(model, options=StateDictOptions(ignore_frozen_params=True))


def test_a_first_state_changes_nothing() -> None:
    model = nn.Linear(2, 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.5)
    before = as_lists(model.state_dict())
    state = get_state_dict(model, optimizer)[1]["state"]
    assert state["weight"]["exp_avg"].tolist() == [[0, 0], [0, 0]]
    assert as_lists(model.state_dict()) == before and optimizer.param_groups[0]["lr"] == 0.5


@pytest.mark.skipif(HAS_ORBAX, reason="orbax-checkpoint is installed")
def test_without_orbax_the_error_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(ImportError, match=r"pip install 'funcgrad\[checkpoint\]'"):
        dcp.save({"x": torch.ones(1)}, checkpoint_id=tmp_path / "one")


@with_orbax
def test_modules_and_optimizers_come_back_in_place(tmp_path: Path) -> None:
    model, optimizer = trained()
    dcp.save({"model": model, "optim": optimizer, "epoch": 3, "shape": (1, 2)}, checkpoint_id=tmp_path / "one")
    other, optim = trained()
    for parameter in other.parameters():
        parameter.data.zero_()
    kept, seen = dict(other.named_parameters()), {"model": other, "optim": optim, "epoch": 0, "shape": None}
    dcp.load(seen, checkpoint_id=tmp_path / "one")
    assert seen["epoch"] == 3 and seen["shape"] == (1, 2)
    assert as_lists(other.state_dict()) == as_lists(model.state_dict())
    assert as_lists(optim.state_dict()) == as_lists(optimizer.state_dict())
    assert all(parameter is kept[name] for name, parameter in other.named_parameters())


@with_orbax
def test_writing_in_the_background_takes_the_numbers_of_the_call(tmp_path: Path) -> None:
    model, optimizer = trained()
    before = as_lists(model.state_dict())
    future = dcp.async_save({"model": model.state_dict()}, checkpoint_id=tmp_path / "one")
    for _ in range(3):
        model(torch.ones(5, 3)).sum().backward()
        optimizer.step()
    assert future.result() is None and as_lists(model.state_dict()) != before
    dcp_to_torch_save(tmp_path / "one", tmp_path / "one.pt")
    assert as_lists(torch.load(tmp_path / "one.pt")["model"]) == before


@with_orbax
def test_an_earlier_checkpoint_is_replaced_and_every_dtype_comes_back(tmp_path: Path) -> None:
    folder = tmp_path / "one"
    dcp.save({"old": torch.ones(1)}, checkpoint_id=folder)
    kinds = (torch.bfloat16, torch.float16, torch.float64, torch.int64, torch.uint8, torch.bool, torch.complex64)
    state = {str(kind): torch.tensor([0, 1, 1], dtype=kind) for kind in kinds} | {"none": torch.zeros(0, 3)}
    torch.save(state, tmp_path / "one.pt")
    torch_save_to_dcp(tmp_path / "one.pt", folder)
    assert sorted(os.listdir(tmp_path)) == ["one", "one.pt"]
    seen: dict[str, Any] = {name: torch.zeros_like(tensor) for name, tensor in state.items()}
    dcp.load(seen, checkpoint_id=folder)
    assert as_lists(seen) == as_lists(state) and all(seen[name].dtype is t.dtype for name, t in state.items())
    with pytest.raises(dcp.CheckpointException, match="overwrite=False"):
        dcp.save(state, storage_writer=dcp.FileSystemWriter(folder, overwrite=False))


@with_orbax
def test_what_is_not_there_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "one"
    dcp.save({"w": torch.ones(2, 2)}, checkpoint_id=folder)
    with pytest.raises(dcp.CheckpointException, match="Missing key in checkpoint state_dict: v"):
        dcp.load({"v": torch.ones(1)}, checkpoint_id=folder)
    with pytest.raises(dcp.CheckpointException, match=r"Size mismatch between saved \[2, 2\] and current: \[3\] for w"):
        dcp.load({"w": torch.ones(3)}, checkpoint_id=folder)
    with pytest.raises(dcp.CheckpointException, match="no such folder"):
        dcp.load({"w": torch.ones(3)}, checkpoint_id=tmp_path / "two")
    (tmp_path / "two").mkdir()
    with pytest.raises(dcp.CheckpointException, match="holds no checkpoint that is whole"):
        dcp.load({"w": torch.ones(3)}, checkpoint_id=tmp_path / "two")


@with_orbax
def test_shards_are_written_and_read_where_they_are(tmp_path: Path) -> None:
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=4"}
    run = subprocess.run(
        [sys.executable, "-c", SHARDED, tmp_path / "one"], env=os.environ | flags, capture_output=True, text=True
    )
    assert run.stdout.split() == ["sharded", "1"], run.stderr


def test_a_state_of_tensors_goes_to_safetensors_files_and_back(tmp_path: Path) -> None:
    state = {"a": torch.arange(6.0).reshape(2, 3), "b.c": torch.ones(4, dtype=torch.float16)}
    dcp.save(state, storage_writer=HuggingFaceStorageWriter(tmp_path, {"a": 1, "b.c": 2}))
    assert sorted(os.listdir(tmp_path)) == [
        "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors", "model.safetensors.index.json",
    ]  # fmt: skip
    assert json.loads((tmp_path / "model.safetensors.index.json").read_text())["metadata"] == {"total_size": 32}
    seen: dict[str, Any] = {name: torch.zeros_like(tensor) for name, tensor in state.items()}
    reader = HuggingFaceStorageReader(tmp_path)
    dcp.load(seen, storage_reader=reader)
    assert {name: tensor.tolist() for name, tensor in seen.items()} == {n: t.tolist() for n, t in state.items()}
    assert reader.read_metadata().state_dict_metadata == {"a": (2, 3), "b.c": (4,)}
    with pytest.raises(dcp.CheckpointException, match="Missing key"):
        dcp.load({"other": torch.ones(1)}, storage_reader=reader)
    with pytest.raises(ValueError, match="hold tensors alone"):
        dcp.save({"step": 3}, storage_writer=HuggingFaceStorageWriter(tmp_path))


def test_files_of_shards_have_no_index(tmp_path: Path) -> None:
    dcp.save({"a": torch.ones(2)}, storage_writer=HuggingFaceStorageWriter(tmp_path, save_distributed=True))
    assert os.listdir(tmp_path) == ["shard-00001-model-00001-of-00001.safetensors"]
    with pytest.raises(dcp.CheckpointException, match="no safetensors file"):
        HuggingFaceStorageReader(tmp_path / "other").open()
