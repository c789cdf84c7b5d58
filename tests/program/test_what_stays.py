"""A small step too is compiled once, whatever was left in front of it: sets, averages of weights, sums of losses."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import funcgrad as torch
from funcgrad import nn
from funcgrad._base.config import settings
from funcgrad._program import plan
from funcgrad._program.record import fresh_program
from funcgrad._program.trie import forest

Batches = Iterator[tuple[torch.Tensor, torch.Tensor]]


@pytest.fixture(autouse=True)
def an_empty_forest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forest, "_roots", {})
    fresh_program()  # which begins there


def drawn() -> torch.Tensor:
    x = torch.randn(24, 4)
    assert bool(x.isfinite().all())
    return x


def slices() -> Batches:
    x, y = drawn(), drawn()
    for i in range(0, 24, 8):
        yield x[i : i + 8], y[i : i + 8]


def slices_of_what_is_computed() -> Batches:
    x = drawn()
    y = x.sin() + 1
    for i in range(0, 24, 8):
        yield x[i : i + 8], y[i : i + 8]


def slices_of_what_is_put_in_order() -> Batches:
    x, y = drawn(), drawn()
    for _ in range(2):
        order = y[:, 0].argsort()
        x, y = x[order], y[order]
        for i in range(0, 24, 8):
            yield x[i : i + 8], y[i : i + 8]


def pieces() -> Batches:
    x, y = drawn(), drawn()
    yield from zip(x.split(8), y.split(8), strict=True)


def trained(batches: Callable[[], Batches], left: str = "") -> tuple[list[float], list[float]]:
    """Return the losses, and what the steps left: an average of weights, or the sum of the losses."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4))
    average, total = copy.deepcopy(model), torch.zeros(())
    optimizer, losses = torch.optim.Adam(model.parameters(), 0.01), []
    for x, y in batches():
        optimizer.zero_grad()
        loss = (model(x) - y).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss)
        if left == "average":
            with torch.no_grad():
                for mean, parameter in zip(average.parameters(), model.parameters(), strict=True):
                    mean.mul_(0.9).add_(parameter, alpha=0.1)
        if left == "sum":
            total = total + loss.detach() * len(x)
    return [loss.item() for loss in losses], [total.item(), *[p.sum().item() for p in average.parameters()]]


def steps() -> int:
    """Return how many training steps have executables."""
    return sum("linear" in [token[0].name for token, _ in key[0]] for key in plan._EXECUTABLES)


@pytest.mark.parametrize(
    ("batches", "left"),
    [
        (slices, ""),
        (slices_of_what_is_computed, ""),
        (slices_of_what_is_put_in_order, ""),
        (pieces, ""),
        (slices, "average"),
        (slices, "sum"),
    ],
)
def test_a_small_step_is_compiled_once(
    batches: Callable[[], Batches], left: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    losses, rest = trained(batches, left)
    assert steps() == 1
    monkeypatch.setattr(settings, "eager", True)
    for one, other in zip((losses, rest), trained(batches, left), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)


def test_a_small_step_that_always_has_something_in_front_of_it_is_compiled_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(plan, "CALL", 0.12)  # worth a compile after a few runs

    def four_times() -> Batches:
        return (batch for _ in range(4) for batch in slices())

    found = trained(four_times, "average")
    assert steps() == 2
    monkeypatch.setattr(settings, "turns", 0)
    for one, other in zip(found, trained(four_times, "average"), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)


def test_data_that_the_step_reads_whole_is_compiled_with_it() -> None:
    def prepared() -> Batches:
        x, y = drawn(), drawn()
        for _ in range(3):
            yield x / 2, y + 1

    trained(prepared)
    (step,) = [key[0] for key in plan._EXECUTABLES if len(key[0]) > 2]
    assert [token[0].name for token, _ in step[:2]] == ["div", "add"]
