"""torch.distributed with several processes: threads as `spawn` has them, and processes as torchrun starts them."""

from __future__ import annotations

import copy
import os
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import funcgrad as torch
from funcgrad import distributed as dist
from funcgrad import multiprocessing, nn
from funcgrad.distributed import fsdp
from funcgrad.distributed import nn as differentiable
from funcgrad.distributed.functional_collectives import all_gather_tensor, all_to_all_single, reduce_scatter_tensor
from funcgrad.distributed.shelves import Guest
from funcgrad.nn.parallel import DistributedDataParallel
from funcgrad.utils.data import DistributedSampler

ROOT = Path(__file__).parents[2]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def together(function: Callable[[int], Any], count: int = 2) -> list[Any]:
    """Return what a function of the rank gives in each of some processes of a group."""
    found: list[Any] = [None] * count
    where = f"tcp://localhost:{free_port()}"

    def work(rank: int) -> None:
        dist.init_process_group("gloo", init_method=where, rank=rank, world_size=count)
        found[rank] = function(rank)
        dist.barrier()
        dist.destroy_process_group()

    multiprocessing.spawn(work, nprocs=count)
    return found


def listed(tensors: Any) -> list[Any]:
    return [tensor.tolist() for tensor in tensors]


def test_a_file_that_is_there_and_empty_becomes_a_store_and_stays(tmp_path: Path) -> None:
    path, kept, found = tmp_path / "store", [], []
    path.touch()

    def work(rank: int) -> None:
        store = dist.FileStore(str(path), 2)
        kept.append(store)  # what the first of them serves must outlive the other
        store.set(str(rank), str(rank))
        found.append(store.get(str(1 - rank)))

    multiprocessing.spawn(work, nprocs=2)
    assert sorted(found) == [b"0", b"1"]
    assert [other.name for other in tmp_path.iterdir()] == ["store"]


def test_reductions() -> None:
    def work(rank: int) -> list[Any]:
        results = []
        for op in (dist.ReduceOp.SUM, dist.ReduceOp.MAX, dist.ReduceOp.MIN, dist.ReduceOp.PRODUCT, dist.ReduceOp.AVG):
            results.append(torch.tensor([1.0, 2.0]) + rank)
            dist.all_reduce(results[-1], op)
        results.append(torch.tensor([5, 6]) + rank)
        dist.all_reduce(results[-1], op=dist.ReduceOp.BAND)
        results.append(torch.tensor([1.0]) + rank)
        dist.reduce(results[-1], dst=1)
        return listed(results)

    first, second = together(work)
    assert first[:6] == second[:6] == [[3.0, 5.0], [2.0, 3.0], [1.0, 2.0], [2.0, 6.0], [1.5, 2.5], [4, 6]]
    assert (first[6], second[6]) == ([1.0], [3.0])


def test_what_one_has_for_others() -> None:
    def work(rank: int) -> list[Any]:
        own = torch.tensor([1.0, 2.0, 3.0]) * (rank + 1)
        given = own.clone()
        dist.broadcast(given, src=2)
        gathered = [torch.zeros(3) for _ in range(3)]
        dist.all_gather(gathered, own)
        joined = torch.zeros(9)
        dist.all_gather_into_tensor(joined, own)
        part = torch.zeros(1)
        dist.scatter(part, [torch.tensor([float(i)]) for i in range(3)] if rank == 1 else None, src=1)
        summed = torch.zeros(1)
        dist.reduce_scatter_tensor(summed, own)
        exchanged = torch.zeros(3)
        dist.all_to_all_single(exchanged, own)
        collected = [torch.zeros(3) for _ in range(3)] if rank == 0 else None
        dist.gather(own, collected, dst=0)
        objects: list[Any] = [{"rank": rank}, "text"]
        dist.broadcast_object_list(objects, src=1)
        everyone: list[Any] = [None] * 3
        dist.all_gather_object(everyone, (rank, own))
        return [*listed([given, torch.cat(gathered), joined, part, summed, exchanged]), collected and listed(collected),
                objects, everyone[2][1].tolist()]  # fmt: skip

    rows = [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [3.0, 6.0, 9.0]]
    found = together(work, 3)
    for rank, (given, gathered, joined, part, summed, exchanged, collected, objects, last) in enumerate(found):
        assert given == last == rows[2]
        assert gathered == joined == [x for row in rows for x in row]
        assert part == [float(rank)]
        assert summed == [6.0 * (rank + 1)]
        assert exchanged == [row[rank] for row in rows]
        assert collected == (rows if rank == 0 else None)
        assert objects == [{"rank": 1}, "text"]


def test_messages_come_in_order_and_from_anyone() -> None:
    def work(rank: int) -> Any:
        if rank:
            dist.send(torch.tensor([rank * 10.0]), 0)
            dist.isend(torch.tensor([rank * 10.0 + 1]), 0).wait()
            dist.send(torch.tensor([rank * 10.0 + 2]), 0, tag=7)
            dist.send_object_list([rank], 0)
            return None
        result, anyone, objects = torch.zeros(1), [], [None]
        awaited = dist.irecv(result, 2, tag=7)
        awaited.wait()
        last = awaited.source_rank(), result.item()
        for _ in range(4):
            sender = dist.recv(result)
            anyone.append((sender, result.item()))
        return anyone, last, dist.recv_object_list(objects, 2), objects

    (anyone, *others), *_ = together(work, 3)
    assert [x for x in anyone if x[0] == 1] == [(1, 10.0), (1, 11.0)]
    assert [x for x in anyone if x[0] == 2] == [(2, 20.0), (2, 21.0)]
    assert others == [(2, 22.0), 2, [2]]


def test_groups_of_some() -> None:
    def work(rank: int) -> list[Any]:
        pair, x = dist.new_group([0, 2]), torch.tensor([rank + 1.0])
        if rank == 1:
            with pytest.warns(UserWarning, match="Running all_reduce on global rank 1 which does not belong"):
                dist.all_reduce(x, group=pair)
        else:
            dist.all_reduce(x, group=pair)
        own, _ = dist.new_subgroups_by_enumeration([[0, 1]])
        both = [torch.ones(1), torch.full((2,), rank + 1.0)]
        if own is not None:
            dist.all_reduce_coalesced(both, group=own)
        return [x.item(), dist.get_rank(pair), dist.get_world_size(pair), *listed(both)]

    with pytest.raises(
        multiprocessing.ProcessRaisedException, match=r"Rank 0 has appeared in both subgroup \[0\] and \[1, 0\]"
    ):
        together(lambda _: dist.new_subgroups_by_enumeration([[0], [1, 0]]))
    assert together(work, 3) == [
        [4.0, 0, 2, [2.0], [3.0, 3.0]], [2.0, -1, -1, [2.0], [3.0, 3.0]], [4.0, 1, 2, [1.0], [3.0, 3.0]],
    ]  # fmt: skip


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.last, self.unread = nn.Linear(3, 4), nn.Linear(4, 1), nn.Linear(1, 1)
        self.register_buffer("seen", torch.zeros(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.seen += x.sum()
        return self.last(torch.tanh(self.first(x)))


def trained(net: nn.Module, inputs: torch.Tensor) -> list[list[float]]:
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in inputs.chunk(3):
        optimizer.zero_grad()
        (net(step) ** 2).mean().backward()
        optimizer.step()
    return [parameter.flatten().tolist() for parameter in net.parameters()]


def parallel(net: nn.Module) -> nn.Module:
    return DistributedDataParallel(net, find_unused_parameters=True)


@pytest.mark.parametrize("wrap", [parallel, fsdp.FullyShardedDataParallel, fsdp.fully_shard])
def test_two_halves_of_a_batch_train_as_the_whole(wrap: Callable[[nn.Module], nn.Module]) -> None:
    torch.manual_seed(0)
    inputs, alone = torch.randn(12, 3), Net()
    start = alone.state_dict()

    def work(rank: int) -> Any:
        torch.manual_seed(rank)  # what rank 1 begins with is replaced
        net = Net()
        if rank == 0:
            net.load_state_dict(start)
        return trained(wrap(net), torch.cat([step.chunk(2)[rank] for step in inputs.chunk(3)]))

    first, second = together(work)
    assert first == second
    for one, other in zip(first, trained(alone, inputs), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-7)


def test_gradients_that_add_up_are_averaged_once_and_others_stay_none() -> None:
    def work(rank: int) -> Any:
        torch.manual_seed(0)
        net = DistributedDataParallel(Net(), find_unused_parameters=True)
        x = torch.ones(1, 3) * (rank + 1)
        with net.no_sync():
            net(x).sum().backward()
        apart = net.module.last.bias.grad.item(), net.module.last.weight.grad.tolist()
        net(x).sum().backward()
        return [*apart, net.module.last.weight.grad.tolist(), net.module.unread.weight.grad, net.module.seen.item()]

    (bias, first, both, unread, seen), (_, second, same, _, seen_there) = together(work)
    assert bias == 1.0 and first != second and both == same
    np.testing.assert_allclose(both, np.add(first, second), rtol=1e-6)  # twice each, halved
    assert unread is None and seen == 6.0 and seen_there == 12.0


@pytest.mark.parametrize("wrap", [parallel, fsdp.fully_shard])
def test_a_copy_of_a_module_averages_its_own_gradients(wrap: Callable[[nn.Module], nn.Module]) -> None:
    def work(rank: int) -> Any:
        torch.manual_seed(0)
        original = wrap(Net())
        twin = copy.deepcopy(original)
        twin(torch.ones(1, 3) * (rank + 1)).sum().backward()
        inner = getattr(twin, "module", twin)
        return inner.first.bias.grad.tolist(), [p.grad for p in original.parameters()]

    (first, none), (second, _) = together(work)
    assert first == second and none == [None] * 6


def test_a_backward_pass_that_was_broken_off_is_no_end_of_averaging() -> None:
    def work(rank: int) -> Any:
        torch.manual_seed(0)
        net = parallel(Net())
        x = torch.ones(1, 3) * (rank + 1)
        handle = net.module.first.weight.register_hook(lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            net(x).sum().backward()
        handle.remove()
        net.zero_grad()
        net(x).sum().backward()
        return net.module.first.weight.grad.tolist()

    first, second = together(work)
    assert first == second


def test_gradients_go_through_collectives() -> None:
    def work(rank: int) -> list[Any]:
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        results = []
        for made in (
            lambda: differentiable.all_reduce(x),
            lambda: torch.cat(differentiable.all_gather(x)),
            lambda: differentiable.broadcast(x, 1),
            lambda: differentiable.reduce(x, 0),
            lambda: torch.cat(differentiable.gather(x, 0)),
            lambda: all_to_all_single(x),
        ):
            (made() * (rank + 1)).sum().backward()
            results.append(x.grad.tolist())
            x.grad = None
        gathered = all_gather_tensor(x.detach() + rank, 0).tolist()
        return [*results, gathered, reduce_scatter_tensor(x.detach(), "sum", 0).tolist()]

    first, second = together(work)
    assert first[:6] == [[3.0, 3.0], [3.0, 3.0], [0.0, 0.0], [1.0, 1.0], [1.0, 1.0], [1.0, 2.0]]
    assert second[:6] == [[3.0, 3.0], [3.0, 3.0], [3.0, 3.0], [1.0, 1.0], [1.0, 1.0], [1.0, 2.0]]
    assert first[6] == second[6] == [1.0, 2.0, 2.0, 3.0]
    assert (first[7], second[7]) == ([2.0], [4.0])


def test_each_process_has_its_part_of_the_data_and_its_own_random_numbers() -> None:
    def work(rank: int) -> list[Any]:
        torch.manual_seed(0)
        drawn = torch.rand(2).tolist()
        return [drawn, list(DistributedSampler(range(6), shuffle=False)), torch.rand(1).item()]

    torch.manual_seed(0)
    alone = torch.rand(2).tolist()
    (first, even, third), (second, odd, same) = together(work)
    assert first == second == alone and third == same
    assert (even, odd) == ([0, 2, 4], [1, 3, 5])


def test_a_mesh_has_a_group_for_each_of_its_lines() -> None:
    def work(rank: int) -> list[Any]:
        mesh = dist.init_device_mesh("cpu", (2, 2), mesh_dim_names=("rows", "columns"))
        x = torch.tensor([float(rank)])
        dist.all_reduce(x, group=mesh.get_group("columns"))
        return [x.item(), mesh.get_coordinate(), mesh["rows"].get_group().ranks, repr(mesh)]

    found = together(work, 4)
    assert [sums for sums, *_ in found] == [1.0, 1.0, 5.0, 5.0]
    assert found[3][1:] == [[1, 1], [1, 3], "DeviceMesh((rows=2, columns=2), 'cpu', stride=(2, 1))"]


def test_who_waits_for_a_process_that_failed_is_told() -> None:
    def work(rank: int) -> Any:
        if rank == 1:
            raise KeyError("broken")
        return dist.all_reduce(torch.ones(1))

    with pytest.raises(multiprocessing.ProcessRaisedException, match=r"(?s)Process 1 terminated .*KeyError: 'broken'"):
        together(work)


def test_a_store_is_reached_by_its_port() -> None:
    server = dist.TCPStore("localhost", 0, 1, True)
    client = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(f"""
            from funcgrad.distributed import TCPStore
            store = TCPStore("localhost", {server.port})
            store.set("key", "value")
            found = store.get("key"), store.check(["no"]), store.compare_set("key", "value", "new")
            print(store.add("count", 2), *found)
        """)],
        env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert client.stdout == "2 b'value' False b'new'\n"
    assert server.get("key") == b"new" and server.add("count", 1) == 3
    with pytest.raises(dist.DistNetworkError, match="has failed to listen"):
        dist.TCPStore("localhost", server.port, 1, True)
    server.set_timeout(torch_timeout := dist.default_pg_timeout / 1e5)
    start = time.monotonic()
    with pytest.raises(dist.DistStoreError, match="wait timeout after 18ms, keys: missing"):
        server.get("missing")
    assert time.monotonic() - start >= torch_timeout.total_seconds()


def test_processes_meet_by_a_file(tmp_path: Path) -> None:
    path = tmp_path / "meeting"
    other = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(f"""
            import funcgrad as torch
            from funcgrad import distributed as dist
            dist.init_process_group("gloo", init_method="file://{path}", rank=1, world_size=2)
            dist.all_reduce(torch.ones(1))
            dist.destroy_process_group()
        """)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    dist.init_process_group("gloo", init_method=f"file://{path}", rank=0, world_size=2)
    x = torch.ones(1)
    dist.all_reduce(x)
    dist.destroy_process_group()
    assert x.item() == 2 and other.wait(60) == 0
    assert not path.exists()


def test_whoever_only_knocks_harms_nobody() -> None:
    server = dist.TCPStore("localhost", 0, 1, True)
    for said in (b"", b"GET / HTTP/1.1\r\n\r\n", b"s" + bytes(8)):
        with socket.create_connection(("localhost", server.port)) as line:
            line.sendall(said)
    server.set_timeout(dist.default_pg_timeout / 1e5)
    with pytest.raises(dist.DistStoreError, match="wait timeout"):
        server.get("missing")
    asking = Guest("localhost", server.port, 1.0)
    with pytest.raises(dist.DistStoreError, match="a store has no '__init__'"):
        asking._ask("__init__")
    asking.close()


SCRIPT = """
import os, sys, torch, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
if "fail" in sys.argv and rank == 1:
    raise SystemExit(3)
torch.manual_seed(rank)
net = DistributedDataParallel(torch.nn.Linear(2, 1))
loss = net(torch.ones(1, 2) * (rank + 1)).sum()
loss.backward()
seen = [None] * dist.get_world_size()
dist.all_gather_object(seen, (os.environ["LOCAL_RANK"], net.module.weight.grad.tolist()))
if rank == 0:
    print(seen)
dist.destroy_process_group()
"""


def launched(path: Path, *arguments: str, by: str = "run") -> subprocess.CompletedProcess[str]:
    words = ["-m", "funcgrad", "-m", f"torch.distributed.{by}", "--standalone", "--nproc_per_node=2", str(path)]
    return subprocess.run(
        [sys.executable, *words, *arguments],
        env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_torchrun_starts_processes(tmp_path: Path) -> None:
    (path := tmp_path / "script.py").write_text(SCRIPT)
    run = launched(path)
    assert run.stdout == "[('0', [[1.5, 1.5]]), ('1', [[1.5, 1.5]])]\n", run.stderr
    failed = launched(path, "fail")
    assert failed.returncode == 1
    assert "script.py FAILED" in failed.stderr and "exitcode  : 3" in failed.stderr


def test_the_older_launcher_tells_ranks_by_an_argument(tmp_path: Path) -> None:
    (path := tmp_path / "script.py").write_text("import sys; sys.stdout.write(f'{sys.argv[1:]}\\n')")
    run = launched(path, "--epochs", "2", by="launch")
    told = sorted(run.stdout.splitlines())
    assert told == [f"['--local-rank={rank}', '--epochs', '2']" for rank in range(2)], run.stderr
