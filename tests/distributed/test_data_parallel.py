"""DistributedDataParallel and its kin: uneven inputs, hooks, unused parameters, statistics of all, spread state."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import funcgrad as torch
from funcgrad import distributed as dist
from funcgrad import multiprocessing, nn
from funcgrad.distributed.algorithms.ddp_comm_hooks import (
    DDPCommHookType,
    debugging_hooks,
    default_hooks,
    post_localSGD_hook,
    powerSGD_hook,
    register_ddp_comm_hook,
)
from funcgrad.distributed.algorithms.join import Join, Joinable, JoinHook
from funcgrad.distributed.algorithms.model_averaging.averagers import PeriodicModelAverager
from funcgrad.distributed.optim import ZeroRedundancyOptimizer
from funcgrad.nn.parallel import DistributedDataParallel
from funcgrad.nn.synchronized import synchronized_batch_norm
from tests.distributed.test_several_processes import together


@contextmanager
def one_process() -> Iterator[None]:
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        yield
    finally:
        dist.destroy_process_group()


def net(normed: bool = False) -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4) if normed else nn.Tanh(), nn.Linear(4, 2))


def batches(rank: int, count: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(100 + rank)
    return [torch.randn(3, 3, generator=generator) for _ in range(count)]


def loss_of(module: nn.Module, x: torch.Tensor) -> torch.Tensor:
    return module(x).pow(2).mean()


def train(module: nn.Module, optimizer: torch.optim.Optimizer, inputs: list[torch.Tensor]) -> None:
    for x in inputs:
        optimizer.zero_grad()
        loss_of(module, x).backward()
        optimizer.step()


def flat(module: nn.Module) -> Any:
    return np.concatenate([parameter.detach().numpy().ravel() for parameter in module.parameters()])


@pytest.mark.parametrize("by_all", [True, False])
def test_processes_with_other_numbers_of_batches_end_with_one_model(by_all: bool) -> None:
    def work(rank: int) -> Any:
        module = DistributedDataParallel(net())
        with module.join(divide_by_initial_world_size=by_all):
            train(module, torch.optim.SGD(module.parameters(), lr=0.1), batches(rank, 2 + 2 * rank))
        return flat(module)

    alone = net()
    optimizer = torch.optim.SGD(alone.parameters(), lr=0.1)
    for step in range(4):
        optimizer.zero_grad()
        going_on = [rank for rank in range(2) if step < 2 + 2 * rank]
        for rank in going_on:
            (loss_of(alone, batches(rank, 4)[step]) / (2 if by_all else len(going_on))).backward()
        optimizer.step()
    for found in together(work):
        np.testing.assert_allclose(found, flat(alone), rtol=1e-5, atol=1e-6)


def test_buffers_are_those_of_a_process_that_goes_on() -> None:
    def work(rank: int) -> Any:
        module = DistributedDataParallel(net(normed=True))
        with module.join():
            train(module, torch.optim.SGD(module.parameters(), lr=0.1), batches(rank, 1 + rank))
        return module.module[1].running_mean.tolist(), module.module[1].num_batches_tracked.item()

    first, second = together(work)
    assert first == second and first[1] == 2


def test_all_stop_with_the_first_that_has_no_batch() -> None:
    def work(rank: int) -> Any:
        module = DistributedDataParallel(net())
        with pytest.raises(RuntimeError) as error, module.join(throw_on_early_termination=True):
            train(module, torch.optim.SGD(module.parameters(), lr=0.1), batches(rank, 1 + rank))
        return str(error.value)

    assert together(work) == [
        "Rank 0 exhausted all inputs.",
        "Detected at least one rank that exhausted inputs. Throwing across all ranks.",
    ]


class Counting(JoinHook):
    def __init__(self, counter: Counter) -> None:
        self.counter = counter

    def main_hook(self) -> None:
        dist.all_reduce(torch.zeros(1))

    def post_hook(self, is_last_joiner: bool) -> None:
        self.counter.was_last = is_last_joiner


class Counter(Joinable):
    def __init__(self) -> None:
        super().__init__()
        self.count, self.was_last = torch.zeros(1), None

    def __call__(self) -> None:
        Join.notify_join_context(self)
        one = torch.ones(1)
        dist.all_reduce(one)
        self.count += one

    def join_hook(self, **kwargs: Any) -> JoinHook:
        return Counting(self)

    @property
    def join_device(self) -> torch.device:
        return torch.device("cpu")

    @property
    def join_process_group(self) -> Any:
        return dist.group.WORLD


def test_whatever_communicates_can_be_joined() -> None:
    def work(rank: int) -> Any:
        counter = Counter()
        with Join([counter]):
            for _ in range(3 + rank):
                counter()
        return counter.count.item(), counter.was_last

    assert together(work) == [(6.0, False), (7.0, True)]
    with pytest.raises(ValueError, match="requires at least one joinable"):
        Join([])


class Branches(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.a, self.b, self.c = nn.Linear(3, 2), nn.Linear(3, 2), nn.Linear(3, 2)

    def forward(self, x: torch.Tensor, which: int) -> torch.Tensor:
        return (self.a, self.b)[which](x)


def test_parameters_without_gradients_are_an_error_of_the_next_forward_unless_they_are_looked_for() -> None:
    def work(rank: int) -> Any:
        x = torch.ones(1, 3)
        module = DistributedDataParallel(Branches())
        module(x, 0).sum().backward()
        with pytest.raises(RuntimeError, match="Expected to have finished reduction in the prior iteration") as error:
            module(x, 0)
        assert f"did not receive grad for rank {rank}: 2 3 4 5\n" in str(error.value)
        found = []
        for options in ({"find_unused_parameters": True}, {"static_graph": True}):
            module = DistributedDataParallel(Branches(), **options)
            module(x * (rank + 1), rank).sum().backward()
            found.append([None if p.grad is None else p.grad.flatten().tolist() for p in module.parameters()])
        return found

    halves = [[0.5] * 6, [0.5] * 2, [1.0] * 6, [0.5] * 2, None, None]
    assert together(work) == [[halves, halves]] * 2


def test_gradients_that_come_in_two_passes_are_averaged_after_the_second() -> None:
    def work(rank: int) -> Any:
        module = DistributedDataParallel(nn.ModuleList([nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False)]))
        module.module.forward = lambda x: [part(x) for part in module.module]
        first, second = module(torch.ones(1, 1) * (rank + 1))
        first.sum().backward()
        before = module.module[0].weight.grad.item()
        second.sum().backward()
        return before, [p.grad.item() for p in module.parameters()]

    assert together(work) == [(1.0, [1.5, 1.5]), (2.0, [1.5, 1.5])]


def test_models_that_are_not_alike_are_refused() -> None:
    def work(rank: int) -> Any:
        with pytest.raises(RuntimeError) as error:
            DistributedDataParallel(nn.Linear(3, 2 + rank) if rank < 2 else nn.Linear(3, 2, bias=False))
        return str(error.value)

    assert together(work, 3)[2] == (
        "DDP expects same model across all ranks, but Rank 2 has 1 params, while rank 0 has inconsistent 2 params."
    )


def test_hooks_get_gradients_in_buckets_and_give_what_takes_their_place() -> None:
    def work(rank: int) -> Any:
        module, seen = DistributedDataParallel(net()), []

        def hook(state: str, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
            shapes = [tuple(x.shape) for x in bucket.gradients()]
            assert shapes == [tuple(x.shape) for x in bucket.parameters()]
            seen.append((state, bucket.index(), bucket.is_last(), shapes))
            asked = dist.all_reduce(bucket.buffer(), async_op=True)
            return asked.get_future().then(lambda found: found.value()[0] / 7)

        module.register_comm_hook("state", hook)
        with pytest.raises(RuntimeError, match="can only be called once"):
            module.register_comm_hook(None, hook)
        for x in batches(rank, 2):
            module.zero_grad()
            module(x).sum().backward()
        return seen, module.module[2].bias.grad.tolist()

    (seen, first), (_, second) = together(work)
    shapes = [(4, 3), (4,), (2, 4), (2,)]
    assert seen == [("state", 0, True, shapes), ("state", 0, True, shapes[::-1])]
    assert first == second == pytest.approx([6 / 7, 6 / 7])


def test_buckets_are_full_at_a_limit() -> None:
    def work(rank: int) -> Any:
        seen: list[Any] = []

        def hook(_: Any, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
            seen.append((bucket.index(), bucket.is_last(), bucket.buffer().numel()))
            return debugging_hooks.noop_hook(None, bucket)

        layers = nn.Sequential(nn.Linear(600, 600), nn.Linear(600, 600), nn.Linear(600, 4))
        for options in ({}, {"find_unused_parameters": True}):
            module = DistributedDataParallel(copy.deepcopy(layers), bucket_cap_mb=1, **options)
            module.register_comm_hook(None, hook)
            for _ in range(2):
                module(torch.ones(2, 600)).sum().backward()
        return seen

    always = [(0, False, 3004), (1, False, 360600), (2, True, 360000)]
    assert together(work)[0] == [(0, True, 723604), (0, False, 363004), (1, True, 360600), *always, *always]


@pytest.mark.parametrize(
    ("state", "hook", "tolerance"),
    [
        (None, default_hooks.allreduce_hook, 1e-6),
        (None, default_hooks.fp16_compress_hook, 1e-3),
        (None, default_hooks.fp16_compress_wrapper(default_hooks.allreduce_hook), 1e-3),
        ({}, powerSGD_hook.powerSGD_hook, 1e-4),
        ({"batch_tensors_with_same_shape": True, "warm_start": False}, powerSGD_hook.powerSGD_hook, 1e-4),
    ],
)
def test_hooks_train_as_without_them(state: Any, hook: Any, tolerance: float) -> None:
    """Gradients of one sample are matrices of rank 1, their mean over two is one of rank 2: then nothing is lost."""

    def work(rank: int) -> Any:
        found = []
        for given in (hook, None):
            module = DistributedDataParallel(net())
            if given is not None:
                kept = state
                if kept is not None:
                    kept = powerSGD_hook.PowerSGDState(
                        None, matrix_approximation_rank=2, start_powerSGD_iter=2, min_compression_rate=0.1, **state
                    )
                module.register_comm_hook(kept, given)
            train(module, torch.optim.SGD(module.parameters(), lr=0.1), [x[:1] for x in batches(rank, 4)])
            found.append(flat(module))
        return found

    for hooked, plain in together(work):
        np.testing.assert_allclose(hooked, plain, rtol=tolerance, atol=tolerance)


def test_hooks_are_registered_by_name_and_leave_gradients_local() -> None:
    def work(rank: int) -> Any:
        found = []
        for given in (None, post_localSGD_hook.PostLocalSGDState(None, None, 1, post_local_gradient_allreduce=False)):
            module = DistributedDataParallel(nn.Linear(1, 1, bias=False))
            if given is None:
                register_ddp_comm_hook(DDPCommHookType.NOOP, module)
            else:
                module.register_comm_hook(given, post_localSGD_hook.post_localSGD_hook)
            for _ in range(2):
                module.zero_grad()
                module(torch.ones(1, 1) * (rank + 1)).sum().backward()
                found.append(module.module.weight.grad.item())
        averager = PeriodicModelAverager(period=2, warmup_steps=1)
        weight = nn.Parameter(torch.full((2,), float(rank)))
        weight.grad = torch.zeros(2)
        for _ in range(2):
            averager.average_parameters([weight])
            found.append(weight.tolist())
        return found

    assert together(work) == [
        [1.0, 1.0, 1.5, 1.0, [0.0, 0.0], [0.5, 0.5]],
        [2.0, 2.0, 1.5, 2.0, [1.0, 1.0], [0.5, 0.5]],
    ]


def test_what_is_no_hook_is_refused() -> None:
    def work(rank: int) -> None:
        module = DistributedDataParallel(net())
        with pytest.raises(TypeError, match="Communication hook must be callable"):
            module.register_comm_hook(None, 3)
        with pytest.raises(TypeError, match="BF16 all reduce communication hook required"):
            module.register_comm_hook(None, default_hooks.bf16_compress_hook)

    together(work, 1)


def test_statistics_of_a_batch_are_those_of_all_processes() -> None:
    torch.manual_seed(0)
    whole = torch.randn(7, 3, 2, 2, requires_grad=True)
    weight, bias = torch.randn(3, requires_grad=True), torch.randn(3, requires_grad=True)
    given = torch.randn(7, 3, 2, 2)
    running = torch.zeros(3), torch.ones(3)
    expected = nn.functional.batch_norm(whole, *running, weight, bias, True, 0.1)
    expected.backward(given)
    parts = [slice(0, 5), slice(5, 7), slice(7, 7)]

    def work(rank: int) -> Any:
        x = whole.detach()[parts[rank]].clone().requires_grad_()
        scale, shift = (p.detach().clone().requires_grad_() for p in (weight, bias))
        means, spreads = torch.zeros(3), torch.ones(3)
        found = synchronized_batch_norm(x, scale, shift, means, spreads, 1e-5, 0.1, dist.group.WORLD)
        found.backward(given[parts[rank]])
        return [t.detach().numpy() for t in (found, x.grad, scale.grad, shift.grad, means, spreads)]

    found = together(work, 3)
    for i, reference in ((0, expected.detach()), (1, whole.grad)):
        np.testing.assert_allclose(np.concatenate([each[i] for each in found]), reference.numpy(), 1e-4, 1e-5)
    for i, reference in ((2, weight.grad), (3, bias.grad)):
        np.testing.assert_allclose(sum(each[i] for each in found), reference.numpy(), 1e-4, 1e-5)
    for each in found:
        for mine, reference in zip(each[4:], running, strict=True):
            np.testing.assert_allclose(mine, reference.numpy(), 1e-5)


class AnywhereSynchronized(nn.SyncBatchNorm):
    """As on an accelerator."""

    def _check_device(self, input: torch.Tensor) -> None:
        pass


@pytest.mark.parametrize("momentum", [0.1, None])
def test_a_layer_normalizes_with_all_processes_in_training_and_alone_in_evaluation(momentum: float | None) -> None:
    torch.manual_seed(0)
    whole, alone = torch.randn(4, 3), nn.BatchNorm1d(3, momentum=momentum)
    expected = [alone(whole), alone(whole * 2), alone.eval()(whole)]

    def work(rank: int) -> Any:
        layer, own = AnywhereSynchronized(3, momentum=momentum), whole.chunk(2)[rank]
        found = [layer(own), layer(own * 2), layer.eval()(own)]
        return [x.detach().numpy() for x in (*found, layer.running_mean, layer.running_var)]

    first, second = together(work)
    for one, other, reference in zip(first, second, expected, strict=False):
        np.testing.assert_allclose(np.concatenate([one, other]), reference.detach().numpy(), 1e-4, 1e-5)
    for mine, reference in zip(first[3:], (alone.running_mean, alone.running_var), strict=True):
        np.testing.assert_allclose(mine, reference.numpy(), 1e-4, 1e-6)


def test_statistics_are_synchronized_on_accelerators_alone() -> None:
    def work(rank: int) -> None:
        layer = nn.SyncBatchNorm(3)
        with pytest.raises(ValueError, match="SyncBatchNorm expected input tensor to be on GPU or XPU"):
            layer(torch.ones(2, 3))
        assert layer.eval()(torch.ones(2, 3)).shape == (2, 3)
        with pytest.raises(ValueError, match="SyncBatchNorm layers only work with GPU modules"):
            DistributedDataParallel(nn.Sequential(nn.SyncBatchNorm(3)))

    together(work, 1)
    assert nn.SyncBatchNorm(3)(torch.randn(4, 3)).shape == (4, 3)
    with pytest.raises(ValueError, match="number of input channels should be non-zero"):
        nn.SyncBatchNorm(0)(torch.ones(2, 0))
    plain = nn.BatchNorm2d(4, momentum=None, bias=False).half()
    converted = nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(plain))[0]
    assert isinstance(converted, nn.SyncBatchNorm) and converted.bias is None and converted.weight is plain.weight


def test_each_process_keeps_the_state_of_its_share_alone() -> None:
    def work(rank: int) -> Any:
        module = DistributedDataParallel(net())
        optimizer = ZeroRedundancyOptimizer(module.parameters(), torch.optim.Adam, lr=0.1)
        optimizer.param_groups[0]["lr"] = 0.05
        train(module, optimizer, [torch.cat([batches(r, 3)[i] for r in range(2)]) for i in range(3)])
        share = sum(p.numel() for group in optimizer.optim.param_groups for p in group["params"])
        optimizer.consolidate_state_dict(to=1)
        if rank == 0:
            with pytest.raises(RuntimeError, match=r"call `consolidate_state_dict\(to=0\)` on all ranks"):
                optimizer.state_dict()
        return share, flat(module), optimizer.state_dict() if rank else None

    alone = net()
    adam = torch.optim.Adam(alone.parameters(), lr=0.05)
    train(alone, adam, [torch.cat([batches(r, 3)[i] for r in range(2)]) for i in range(3)])
    (share, first, _), (other, second, saved) = together(work)
    assert (share, other) == (14, 12)
    np.testing.assert_allclose(first, second)
    np.testing.assert_allclose(first, flat(alone), rtol=1e-5, atol=1e-6)
    for i, kept in adam.state_dict()["state"].items():
        np.testing.assert_allclose(saved["state"][i]["exp_avg"].numpy(), kept["exp_avg"].numpy(), 1e-4, 1e-6)


def test_a_share_is_loaded_and_a_group_added() -> None:
    def work(rank: int) -> Any:
        module = net()
        optimizer = ZeroRedundancyOptimizer(module[0].parameters(), torch.optim.SGD, lr=0.1, momentum=0.9)
        optimizer.add_param_group({"params": list(module[2].parameters()), "lr": 0.2})
        with Join([optimizer]):
            for x in batches(0, 2 + rank):
                optimizer.zero_grad()
                loss_of(module, x).backward()
                optimizer.step()
        optimizer.consolidate_state_dict(to=rank)
        for place in range(2):
            optimizer.consolidate_state_dict(to=place)
            if place == rank:
                saved = optimizer.state_dict()
        twin = net()
        other = ZeroRedundancyOptimizer(twin[0].parameters(), torch.optim.SGD, lr=0.3, momentum=0.9)
        other.add_param_group({"params": list(twin[2].parameters())})
        other.load_state_dict(saved)
        held = [[p in other.optim.state for p in group["params"]] for group in other.optim.param_groups]
        return flat(module).tolist(), [group["lr"] for group in other.param_groups], all(map(all, held))

    first, second = together(work)
    assert first == second and first[1:] == ([0.1, 0.2], True)


def test_what_is_asked_for_is_a_future() -> None:
    def work(rank: int) -> Any:
        asked = dist.all_reduce(torch.ones(2) * rank, async_op=True)
        assert asked is not None
        doubled = asked.get_future().then(lambda found: found.value()[0] * 2)
        failing = dist.all_reduce(torch.ones(1), async_op=True).get_future().then(lambda found: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            failing.wait()
        assert type(doubled).__name__ == "Future"
        return doubled.wait().tolist(), doubled.done(), asked.result()[0].tolist()

    assert together(work) == [([2.0, 2.0], True, [1.0, 1.0])] * 2


def test_what_collectives_refuse() -> None:
    def work(rank: int) -> None:
        with pytest.raises(TypeError, match="Expected parameter `tensor_list` of type List"):
            dist.all_gather(torch.zeros(2), torch.ones(2))
        with pytest.raises(ValueError, match="Invalid usage of tensors with different dtypes"):
            dist.all_gather([torch.zeros(2, dtype=torch.float64)] * 2, torch.ones(2))
        with pytest.raises(RuntimeError, match="Number of tensor splits not equal to group size"):
            dist.all_to_all_single(torch.zeros(4), torch.zeros(4), [1], [4])
        with pytest.raises(ValueError, match="scatter_object_output_list to be a list of size at least 1"):
            dist.scatter_object_list([], [1, 2])
        with pytest.raises(ValueError, match=r"must be specified on destination rank|must NOT be specified"):
            dist.gather_object(1, None if rank == 0 else [None, None], dst=0)

    together(work)


def test_a_failed_process_is_no_reason_to_wait() -> None:
    def work(rank: int) -> None:
        module = DistributedDataParallel(net())
        with module.join():
            if rank == 1:
                raise KeyError("broken")

    with pytest.raises(multiprocessing.ProcessRaisedException, match="KeyError: 'broken'"):
        together(work)


@pytest.mark.xfail(raises=NotImplementedError, strict=True, reason="a module's parameters have one precision here")
def test_a_module_computes_in_a_precision_of_its_own() -> None:
    with one_process():
        DistributedDataParallel(net(), mixed_precision=object())


@pytest.mark.xfail(raises=NotImplementedError, strict=True, reason="gradients are communicated when a pass ends")
@pytest.mark.parametrize("overlaps", ["a step", "what is delayed"])
def test_what_is_communicated_overlaps_with_the_backward_pass(overlaps: str) -> None:
    module = net()
    with one_process():
        if overlaps == "a step":
            ZeroRedundancyOptimizer(module.parameters(), torch.optim.SGD, overlap_with_ddp=True, lr=0.1)
        else:
            delayed, read_last = [("0.weight", module[0].weight)], module[2].weight
            DistributedDataParallel(module, delay_all_reduce_named_params=delayed, param_to_hook_all_reduce=read_last)
