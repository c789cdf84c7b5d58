"""torch.distributed with one process: every collective has one member, and more are refused."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import funcgrad as torch
from funcgrad import distributed as dist
from funcgrad import nn
from funcgrad.distributed import fsdp
from funcgrad.distributed.fsdp import FullyShardedDataParallel, fully_shard
from funcgrad.distributed.optim import ZeroRedundancyOptimizer
from funcgrad.nn.parallel import DataParallel, DistributedDataParallel
from funcgrad.utils.data import DistributedSampler


def test_without_a_group_torchs_error_comes() -> None:
    assert dist.is_available()
    assert not dist.is_initialized()
    for ask in (dist.get_rank, dist.get_world_size, dist.barrier, lambda: dist.all_reduce(torch.ones(1))):
        with pytest.raises(ValueError, match="Default process group has not been initialized"):
            ask()
    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        DistributedSampler([1, 2])


def test_more_processes_have_to_know_where_they_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MASTER_ADDR", raising=False)
    with pytest.raises(ValueError, match="environment variable MASTER_ADDR expected, but not set"):
        dist.init_process_group("nccl", rank=0, world_size=2)
    monkeypatch.setenv("WORLD_SIZE", "4")
    with pytest.raises(ValueError, match="environment variable RANK expected, but not set"):
        dist.init_process_group("nccl")
    with pytest.raises(ValueError, match="there is no rank 4 in a world of 4 processes"):
        dist.init_process_group("gloo", rank=4)
    assert not dist.is_initialized()


@pytest.mark.usefixtures("group")
def test_a_group_of_one() -> None:
    assert (dist.get_rank(), dist.get_world_size(), dist.get_backend()) == (0, 1, "gloo")
    with pytest.raises(ValueError, match="twice"):
        dist.init_process_group("gloo")
    assert list(DistributedSampler([1, 2, 3], shuffle=False)) == [0, 1, 2]
    assert dist.get_world_size(dist.new_group([0])) == 1
    groups = None, dist.new_group([0]), dist.GroupMember.NON_GROUP_MEMBER
    assert [dist._rank_not_in_group(group) for group in groups] == [False, False, True]


@pytest.mark.usefixtures("group")
def test_collectives_of_one_keep_or_copy() -> None:
    x = torch.tensor([1.0, 2.0])
    assert dist.all_reduce(x, op=dist.ReduceOp.AVG) is None
    assert dist.all_reduce(x, async_op=True).wait()
    dist.broadcast(x, src=0)
    assert x.tolist() == [1.0, 2.0]
    gathered = [torch.zeros(2)]
    dist.all_gather(gathered, x)
    assert gathered[0].tolist() == [1.0, 2.0]
    for collect in (dist.all_gather_into_tensor, dist.reduce_scatter_tensor, dist.all_to_all_single):
        result = torch.zeros(2)
        collect(result, x)
        assert result.tolist() == [1.0, 2.0]
    objects: list[Any] = [None]
    dist.all_gather_object(objects, {"a": 1})
    assert objects == [{"a": 1}]
    with pytest.raises(RuntimeError, match="no other process"):
        dist.send(x, 1)
    with pytest.raises(ValueError, match="should not be the same as the rank of the current process"):
        dist.send(x, 0)
    with pytest.raises(RuntimeError, match="no other process"):
        dist.send_object_list([1], 1)
    with pytest.raises(ValueError, match="source rank should not be the same as the rank of the current process"):
        dist.recv_object_list([None], src=0)
    with pytest.raises(TypeError, match="but got <class 'list'> instead"):
        dist.all_reduce([1])
    with pytest.raises(TypeError, match="incompatible function arguments"):
        dist.all_reduce(x, op="sum")
    with pytest.raises(RuntimeError, match=r"invalid tensor size at index 0 \(expected \(2\), got \(3\)\)"):
        dist.all_gather([torch.zeros(3)], x)
    with pytest.raises(RuntimeError, match="ProcessGroupGloo::broadcast: invalid root rank: 3"):
        dist.broadcast(x, 3)


def test_kinds_of_reductions_print_as_torchs() -> None:
    assert (str(dist.ReduceOp.SUM), repr(dist.ReduceOp.MAX)) == ("RedOpType.SUM", "<RedOpType.MAX: 4>")
    assert isinstance(dist.ReduceOp.SUM, dist.ReduceOp) and dist.ReduceOp(dist.ReduceOp.MIN) is dist.ReduceOp.MIN


def test_no_group_cannot_be_destroyed() -> None:
    with pytest.raises(AssertionError, match="Process group cannot be None"):
        dist.destroy_process_group()


@pytest.mark.usefixtures("group")
def test_an_optimizer_of_one_process_is_of_both_classes() -> None:
    weights = [nn.Linear(2, 1), nn.Linear(2, 1)]
    weights[1].load_state_dict(weights[0].state_dict())
    spread = ZeroRedundancyOptimizer(weights[0].parameters(), torch.optim.Adam, lr=0.1)
    alone = torch.optim.Adam(weights[1].parameters(), lr=0.1)
    for layer, optimizer in zip(weights, (spread, alone), strict=True):
        layer(torch.ones(1, 2)).sum().backward()
        optimizer.step()
    assert isinstance(spread, ZeroRedundancyOptimizer) and isinstance(spread.optim, torch.optim.Adam)
    assert repr(spread) == repr(alone).replace("Adam", "ZeroRedundancyOptimizer")
    assert weights[0].weight.tolist() == weights[1].weight.tolist()
    with pytest.raises(RuntimeError, match="Optimizer state has not been consolidated on this rank"):
        spread.state_dict()
    spread.consolidate_state_dict(to=0)
    assert spread.state_dict().keys() == {"state", "param_groups"}
    with pytest.raises(ValueError, match="ZeroRedundancyOptimizer got an empty parameter list"):
        ZeroRedundancyOptimizer([], torch.optim.Adam)


@pytest.mark.usefixtures("group")
def test_a_distributed_module_trains_as_the_module_itself() -> None:
    plain = nn.Linear(2, 1)
    wrapped = DistributedDataParallel(plain, find_unused_parameters=True)
    x = torch.ones(1, 2)
    with wrapped.no_sync():
        wrapped(x).sum().backward()
    assert wrapped.device_ids is None
    assert DistributedDataParallel(plain).device_ids is None
    assert plain.weight.grad.tolist() == [[1.0, 1.0]]
    assert list(wrapped.state_dict()) == ["module.weight", "module.bias"]
    assert list(DataParallel(plain).state_dict()) == ["module.weight", "module.bias"]
    with pytest.raises(RuntimeError, match="any parameter that requires a gradient"):
        DistributedDataParallel(nn.ReLU())


def test_a_distributed_module_needs_a_group() -> None:
    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        DistributedDataParallel(nn.Linear(1, 1))


def test_a_shard_of_one_is_the_whole() -> None:
    plain = nn.Linear(2, 1)
    sharded = FullyShardedDataParallel(plain)
    assert list(sharded.state_dict()) == ["weight", "bias"]
    assert fully_shard(plain) is plain
    sharded(torch.ones(1, 2)).sum().backward()
    assert sharded.clip_grad_norm_(1.0).item() == pytest.approx(3**0.5)
    with pytest.raises(RuntimeError, match="4 processes"):
        dist.init_device_mesh("cuda", (2, 2))


@pytest.mark.usefixtures("group")
def test_what_is_sent_from_one_process_to_another_has_nobody_to_go_to() -> None:
    x = torch.ones(2)
    sent = dist.P2POp(dist.isend, x, 1)
    assert repr(sent) == "P2POp(isend pg=0, group_src=0, group_dst=1,  torch.Size([2]), torch.float32)"
    with pytest.raises(RuntimeError, match="no other process"):
        dist.batch_isend_irecv([sent, dist.P2POp(dist.irecv, x, 1)])
    with pytest.raises(ValueError, match="to be of type ``torch"):
        dist.P2POp(dist.all_reduce, x, 1)
    with pytest.raises(ValueError, match="Each op is expected to to be"):
        dist.batch_isend_irecv([x])  # type: ignore[list-item]  # it must be refused


def test_stores_of_one_place_share_what_is_set() -> None:
    first, second = dist.FileStore("a file", 1), dist.FileStore("a file", 1)
    first.set("key", "first")
    assert second.compare_set("key", "first", "second") == first.get("key") == b"second"
    assert second.compare_set("other", "expected", "new") == b"expected"
    assert not first.check(["key", "other"])
    first.append("key", " more")
    assert dist.PrefixStore("k", second).check(["ey"]) is False
    dist.PrefixStore("k", second).set("ey", b"1")
    assert second.multi_get(["key", "k/ey"]) == [b"second more", b"1"]
    assert second.delete_key("key") and not second.delete_key("key")
    with pytest.raises(dist.DistStoreError, match="nobody set key"):
        second.wait(["k/ey", "key"])


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_store_is_not_copied(copied: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError, match=r"cannot pickle 'torch._C._distributed_c10d.HashStore' object"):
        copied(dist.HashStore())


def test_the_rank_on_this_machine_is_what_the_launcher_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOCAL_RANK", raising=False)
    assert dist.get_node_local_rank(fallback_rank=0) == 0
    with pytest.raises(RuntimeError, match="LOCAL_RANK is not in the environment"):
        dist.get_node_local_rank()
    monkeypatch.setenv("LOCAL_RANK", "3")
    assert dist.get_node_local_rank(fallback_rank=0) == 3


def test_the_kinds_of_states_of_optimizers_are_named() -> None:
    kind, options = fsdp.StateDictType.FULL_STATE_DICT, fsdp.LocalOptimStateDictConfig(offload_to_cpu=True)
    settings = fsdp.StateDictSettings(kind, fsdp.FullStateDictConfig(), options)
    assert isinstance(options, fsdp.OptimStateDictConfig) and settings.optim_state_dict_config.offload_to_cpu
