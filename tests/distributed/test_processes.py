"""multiprocessing: processes are threads that share parameters, and have gradients and random numbers of their own."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator

import numpy as np
import pytest

import funcgrad as torch
from funcgrad import multiprocessing as mp
from funcgrad import nn


@pytest.fixture
def often() -> Iterator[None]:
    """Let threads take turns often."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


def run(*processes: mp.Process) -> None:
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * len(processes)


@pytest.mark.usefixtures("often")
def test_processes_train_one_model_without_locks() -> None:
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
    model.share_memory()
    inputs = torch.randn(64, 4)
    before = ((model(inputs) - inputs.sum(1, keepdim=True)) ** 2).mean().item()

    def train(rank: int) -> None:
        torch.manual_seed(rank)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
        for _ in range(50):
            x = torch.randn(16, 4)
            optimizer.zero_grad()
            ((model(x) - x.sum(1, keepdim=True)) ** 2).mean().backward()
            optimizer.step()

    run(*[mp.Process(target=train, args=(rank,)) for rank in range(3)])
    assert ((model(inputs) - inputs.sum(1, keepdim=True)) ** 2).mean().item() < before / 3
    assert all(parameter.grad is None for parameter in model.parameters())


def test_each_process_hands_over_its_own_gradients() -> None:
    shared, lock = nn.Linear(1, 1, bias=False), mp.Lock()
    nn.init.zeros_(shared.weight)
    optimizer = torch.optim.SGD(shared.parameters(), lr=1.0)

    def actor(rank: int) -> None:
        local = nn.Linear(1, 1, bias=False)
        (local.weight * 10.0**rank).sum().backward()
        with lock:
            for own, parameter in zip(local.parameters(), shared.parameters(), strict=True):
                if parameter.grad is None:  # as asynchronous actors do, which are processes
                    parameter._grad = own.grad
            optimizer.step()

    run(*[mp.Process(target=actor, args=(rank,)) for rank in range(3)])
    assert shared.weight.item() == -111.0


def test_a_forked_process_goes_on_with_the_random_numbers_of_its_parent() -> None:
    seen: list[list[float]] = []

    def draw() -> None:
        seen.append([torch.rand(1).item(), random.random(), float(np.random.rand())])

    torch.manual_seed(5)
    random.seed(5)
    np.random.seed(5)
    run(mp.Process(target=draw))
    run(mp.Process(target=draw))
    draw()
    assert seen[0] == seen[1] == seen[2]
