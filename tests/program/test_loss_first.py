"""The loss of a training step comes from a program of its own, so that XLA computes the rest while Python goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

import funcgrad as torch
from funcgrad import nn
from funcgrad._base.config import settings
from funcgrad._base.errors import FlushError
from funcgrad._program import plan
from funcgrad._program.apart import InStages
from funcgrad._program.counters import counted
from funcgrad._program.record import fresh_program
from funcgrad._program.trie import forest


@pytest.fixture(autouse=True)
def an_empty_forest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "ahead", 1)
    monkeypatch.setattr(forest, "_roots", {})
    fresh_program()  # which begins there


def stages() -> list[InStages]:
    """Return how the programs run so far that run in stages."""
    flat = [forest.root(torch.get_default_dtype())]
    for call in flat:
        flat.extend(call.children.values())
    plans = [made for call in flat for made in call.plans.values()]
    return [made.execute for made in plans if isinstance(made.execute, InStages)]


def net() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 3))


def classified(make: Callable[[Any], torch.optim.Optimizer], steps: int = 4) -> list[float]:
    """Return the losses and the share of right answers of a few steps, and the sums of the weights after them."""
    model = net()
    optimizer = make(model.parameters())
    x, y = torch.randn(6, 4), torch.tensor([0, 1, 2, 0, 1, 2])
    seen: list[float] = []
    for _ in range(steps):
        optimizer.zero_grad()
        out = model(x)
        loss = nn.functional.cross_entropy(out, y)
        right = (out.argmax(1) == y).float().mean()
        loss.backward()
        optimizer.step()
        seen += [loss.item(), right.item()]
    return [*seen, *[p.sum().item() for p in model.parameters()]]


@pytest.mark.parametrize(
    "make",
    [
        lambda params: torch.optim.SGD(params, 0.1, momentum=0.9),
        lambda params: torch.optim.Adam(params, 0.05),
        lambda params: torch.optim.AdamW(params, 0.05),
    ],
)
def test_the_numbers_are_those_of_one_program(
    make: Callable[[Any], torch.optim.Optimizer], monkeypatch: pytest.MonkeyPatch
) -> None:
    with counted() as cost:
        apart = classified(make)
    (found,) = stages()
    assert len(found.stages) == 2
    assert cost.donated >= 3 * len(list(net().parameters()))
    with counted() as cost:
        classified(make)
    assert cost.compiles == 0
    monkeypatch.setattr(settings, "ahead", 0)
    monkeypatch.setattr(forest, "_roots", {})
    fresh_program()
    np.testing.assert_allclose(apart, classified(make), rtol=1e-5)
    assert not stages()


def test_the_first_stage_is_what_the_loss_needs() -> None:
    classified(lambda params: torch.optim.Adam(params, 0.05))
    ((first, _), (rest, _)) = stages()[0].stages
    names = [call.op.name for call in first.calls]
    assert "cross_entropy" in " ".join(names)
    assert not any("pullback" in name for name in names)
    assert sum("pullback" in call.op.name for call in rest.calls) == 5


def test_small_steps_stay_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "ahead", 50_000)
    classified(lambda params: torch.optim.Adam(params, 0.05))
    assert not stages()


def test_evaluation_and_convolutions_stay_whole() -> None:
    model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    x = torch.ones(2, 1, 4, 4)
    loss = model(x).sum()
    loss.backward()
    optimizer.step()
    loss.item()
    with torch.no_grad():
        net()(torch.ones(2, 4)).sum().item()
    assert not stages()


def test_data_the_loss_and_the_rest_are_three_stages() -> None:
    model = nn.Sequential(*[part for _ in range(8) for part in (nn.Linear(4, 4), nn.Tanh())])
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    x = torch.linspace(-1, 1, 12).reshape(3, 4)
    losses = []
    for scale in (1.0, 2.0):
        optimizer.zero_grad()
        loss = (model((x * scale).flip(0).cumsum(0)) - 1).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert {len(one.stages) for one in stages()} == {3}
    assert losses[0] != losses[1]


def test_a_step_that_nobody_reads_is_run_by_the_next_one() -> None:
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with counted() as seen:
        for count in (12, 8, 9):
            optimizer.zero_grad()
            x = torch.randn(count, 4)  # a leaf of the call that finds the weights waiting
            nn.functional.cross_entropy(model(x), torch.zeros(count, dtype=torch.long)).backward()
            optimizer.step()
    assert seen.runs == 2
    with counted() as seen:
        torch.cuda.synchronize()
    assert seen.runs == 1
    assert not stages()


def test_the_loss_comes_first_also_when_the_data_joins_the_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "CALL", 0.12)  # worth a compile after a few runs
    model = nn.Sequential(*[part for _ in range(8) for part in (nn.Linear(4, 4), nn.Tanh())])
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    x = torch.linspace(-1, 1, 12).reshape(3, 4)
    for _ in range(8):
        optimizer.zero_grad()
        loss = (model(x.flip(0).cumsum(0)) - 1).square().mean()
        loss.backward()
        optimizer.step()
        loss.item()
    assert 2 in {len(one.stages) for one in stages()}


def interrupted(error: BaseException) -> Callable[..., Any]:
    def execute(given: list[Any], kept: list[Any], numbers: Any) -> list[jax.Array]:
        raise error

    return execute


def test_ctrl_c_between_the_stages_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def sgd(params: Any) -> torch.optim.Optimizer:
        return torch.optim.SGD(params, 0.1, momentum=0.9)

    expected = classified(sgd, 1)
    rest = stages()[0].stages[1][1]
    model = net()
    optimizer = sgd(model.parameters())
    x, y = torch.randn(6, 4), torch.tensor([0, 1, 2, 0, 1, 2])
    out = model(x)
    loss = nn.functional.cross_entropy(out, y)
    right = (out.argmax(1) == y).float().mean()
    loss.backward()
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(rest, "execute", interrupted(KeyboardInterrupt()))
        optimizer.step()
    found = [loss.item(), right.item(), *[p.sum().item() for p in model.parameters()]]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_a_stage_that_fails_after_donating_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    x, y = torch.randn(6, 4), torch.tensor([0, 1, 2, 0, 1, 2])

    def step() -> torch.Tensor:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    def execute(given: list[jax.Array], kept: list[Any], numbers: Any) -> list[jax.Array]:
        for array in given:
            array.delete()
        raise RuntimeError("out of memory")

    step().item()
    step().item()
    for one in stages():
        monkeypatch.setattr(one.stages[1][1], "execute", execute)
    with pytest.raises(RuntimeError, match="out of memory"):
        step()
    with pytest.raises(FlushError):
        model[0].weight.sum().item()
