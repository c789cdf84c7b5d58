"""Backward passes through many programs of one kind: one instruction for each, the same numbers as node by node."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as torch
from funcgrad import nn
from funcgrad._base.config import settings
from funcgrad._program.record import thread
from funcgrad._tape.spans import SEEN

STEPS = 20


def recorded_by(backward: Callable[[], None]) -> int:
    """Return how many instructions a backward pass records."""
    before = thread.program.cursor.depth
    backward()
    return thread.program.cursor.depth - before


def steps(cell: Any, count: int = STEPS, *, chained: bool = False) -> list[torch.Tensor]:
    """Call a cell again and again, a number read after each."""
    generator = np.random.default_rng(0)
    found, state = [], torch.zeros(3)
    for _ in range(count):
        x = torch.from_numpy(generator.standard_normal(3).astype(np.float32))
        out = cell(x + state if chained else x)
        if chained:
            state = out
        out.sum().item()
        found.append(out.sin().sum())
    return found


def gradients(module: nn.Module) -> list[Any]:
    found = [param.grad.numpy().copy() for param in module.parameters()]
    module.zero_grad()
    return found


def both_ways(monkeypatch: pytest.MonkeyPatch, run: Callable[[], Any]) -> tuple[Any, Any]:
    """Return what comes of it, and what comes of it node by node."""
    found = run()
    monkeypatch.setattr(settings, "turns", 0)
    expected = run()
    monkeypatch.undo()
    return found, expected


def concatenated(found: list[Any]) -> Any:
    return np.concatenate([*map(np.ravel, found)])


def cell() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.LayerNorm(8), nn.Linear(8, 3))


@pytest.mark.parametrize("chained", [False, True])
def test_each_step_is_one_instruction(monkeypatch: pytest.MonkeyPatch, chained: bool) -> None:
    model, recorded = cell(), []

    def run() -> list[Any]:
        loss = torch.stack(steps(model, chained=chained)).sum()
        recorded.append(recorded_by(loss.backward))
        return gradients(model)

    found, expected = both_ways(monkeypatch, run)
    run()
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-6, atol=1e-6)  # sums of numbers up to 8
    first, one_by_one, later = recorded
    assert one_by_one > 10 * STEPS
    assert later <= first < 5 * STEPS


def test_a_step_with_a_hook_is_passed_node_by_node(monkeypatch: pytest.MonkeyPatch) -> None:
    model, seen = cell(), []

    def run() -> list[Any]:
        found, hidden = [], []
        for t in range(STEPS):
            h = model(torch.full((3,), t / 10))
            h.sum().item()
            hidden.append(h)
            found.append(h.sin().sum())
        hidden[3].register_hook(lambda gradient: seen.append(gradient.clone()) or 2 * gradient)
        torch.stack(found).sum().backward()
        return gradients(model)

    found, expected = both_ways(monkeypatch, run)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-6, atol=1e-7)
    assert len(seen) == 2
    torch.testing.assert_close(*seen)


def test_what_was_saved_is_let_go_or_kept() -> None:
    model = cell()
    loss = torch.stack(steps(model)).sum()
    loss.backward(retain_graph=True)
    once = gradients(model)
    loss.backward()
    for one, other in zip(once, gradients(model), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        loss.backward()


@pytest.mark.parametrize("kind", [float, int])
def test_numbers_are_inputs_of_the_instruction(monkeypatch: pytest.MonkeyPatch, kind: type) -> None:
    model = cell()

    def run(seed: int) -> list[Any]:
        chance, losses, state = random.Random(seed), [], torch.ones(3)
        for _ in range(STEPS):
            first, second = (kind(chance.uniform(1, 4)) for _ in range(2))
            state = model(state * first).tanh()[:2].repeat(2)[:3] ** second
            losses.append((state.sum() * second - first) ** 2 + state[first % 2 if kind is int else 0])
            losses[-1].item()
        torch.stack(losses).sum().backward()
        return gradients(model)

    def run_twice() -> list[Any]:
        return [*run(1), *run(2)]

    before = len(SEEN)
    found, expected = both_ways(monkeypatch, run_twice)
    assert len(SEEN) <= before + 2  # where the rewards arrive, and where nothing has arrived yet
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=1e-5)


def test_deep_steps_are_passed_at_once_where_there_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """The layers of such a step are a loop within its instruction."""
    model, recorded = nn.Sequential(*[nn.Sequential(nn.Linear(3, 3), nn.Tanh()) for _ in range(40)]), []

    def run(count: int) -> list[Any]:
        loss = torch.stack(steps(model, count)).sum()
        recorded.append(recorded_by(loss.backward))
        return gradients(model)

    for count in (2, 9):
        for one, other in zip(*both_ways(monkeypatch, lambda count=count: run(count)), strict=True):
            np.testing.assert_allclose(one, other, rtol=2e-5, atol=1e-6)
    few, few_one_by_one, many, many_one_by_one = recorded
    assert few == few_one_by_one
    assert many < many_one_by_one / 3


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        return gradient * 3


def test_functions_of_the_user_are_called_in_each_step(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = nn.Linear(3, 4), nn.Linear(4, 3)
    model = nn.ModuleList([first, second])

    def run() -> list[Any]:
        torch.stack(steps(lambda x: second(Doubled.apply(first(x)).tanh()) + first(x).sum())).sum().backward()
        return gradients(model)

    for one, other in zip(*both_ways(monkeypatch, run), strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-6, atol=1e-6)


def test_sparse_gradients_gather(monkeypatch: pytest.MonkeyPatch) -> None:
    table, head = nn.Embedding(5, 3, sparse=True), nn.Linear(3, 1)

    def run() -> list[Any]:
        found = []
        for t in range(STEPS):
            out = head(table(torch.tensor([t % 5])))
            out.sum().item()
            found.append(out.tanh().sum())
        torch.stack(found).sum().backward()
        found = [table.weight.grad.to_dense().numpy().copy(), head.weight.grad.numpy().copy()]
        table.weight.grad = head.weight.grad = head.bias.grad = None
        return found

    for one, other in zip(*both_ways(monkeypatch, run), strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-6)


OPS: list[Callable[[Any, Any], Any]] = [
    lambda a, b: a * b, lambda a, b: a + b.sin(), lambda a, b: (a - 0.25 * b).tanh(), lambda a, b: a.relu() + b,
    lambda a, b: torch.cat([a, b])[1:4], lambda a, b: a.softmax(0) * b.detach(), lambda a, b: torch.where(a > b, a, b),
    lambda a, b: a.chunk(3)[0] + b, lambda a, b: a.expand(2, 3).sum(0) / (1 + b * b),
]  # fmt: skip


@pytest.mark.parametrize("seed", range(12))
def test_random_steps(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    chance = random.Random(seed)
    wiring = [(chance.choice(OPS), chance.random(), chance.random()) for _ in range(chance.randint(3, 9))]
    carries, reads = chance.random() < 0.5, chance.random() < 0.7
    params = [torch.linspace(-1, 1, 3).add(i / 7).requires_grad_() for i in range(3)]

    def run() -> list[Any]:
        state, losses = params[0], []
        for t in range(chance_turns):
            known = [*params, state, torch.full((3,), t / 10)]
            for op, left, right in wiring:
                known.append(op(known[int(left * len(known))], known[int(right * len(known))]))
            if carries:
                state = known[-1]
            if reads:
                known[-2].sum().item()
            losses.append(known[-1].sum())
            if t % 3 == 0:
                known[-1].sum().item()
        torch.stack(losses).mean().backward()
        found = [None if p.grad is None else p.grad.numpy().copy() for p in params]
        for param in params:
            param.grad = None
        return found

    chance_turns = chance.randint(3, 12)
    for one, other in zip(*both_ways(monkeypatch, run), strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            np.testing.assert_allclose(one, other, rtol=3e-6, atol=1e-7)
