"""Many instructions on small arrays are numpy's until a compile is worth it, and XLA's from then on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import funcgrad as torch
from funcgrad import nn
from funcgrad._base.config import settings
from funcgrad._program import renting
from funcgrad._program.counters import counted
from funcgrad._program.journal import Journal
from funcgrad._program.record import fresh_program
from funcgrad._program.trie import forest
from funcgrad.random import generator
from tests.program.test_small_programs import xla_compiles

RUNS = 4  # that numpy is given in these tests


@pytest.fixture(autouse=True)
def few_runs(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the runs of each program add up to its compile soon, whatever was run before."""
    begun = renting.Rented.__init__

    def begins(self: renting.Rented, hosted: Any, jitted: Any, runs: int, *size: int) -> None:
        assert runs > RUNS
        begun(self, hosted, jitted, RUNS, *size)

    monkeypatch.setattr(renting.Rented, "__init__", begins)
    monkeypatch.setattr(settings, "host", True)
    monkeypatch.setattr(forest, "_roots", {})
    monkeypatch.setattr(generator, "_seeds", set())
    fresh_program()  # which begins in the empty forest
    yield
    torch.use_deterministic_algorithms(False)


def deep(width: int = 6, depth: int = 8) -> nn.Module:
    torch.manual_seed(3)
    return nn.Sequential(*[nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Dropout(0.1)) for _ in range(depth)])


def trained(net: nn.Module, steps: int, rows: int = 4) -> list[float]:
    """Return the losses, the first of them read before the step, the others after it."""
    optimizer, width = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9), net[0][0].in_features
    x, losses = torch.randn(rows, width), []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = (net(x) - 1).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_nothing_is_compiled_for_a_few_steps_and_one_program_once_there_were_more() -> None:
    net = deep()
    with xla_compiles() as few:
        trained(net, RUNS)
    assert Journal.compiles[-1].reason.endswith("run by numpy until it has run often")
    with xla_compiles() as more, counted() as seen:
        trained(net, 2 * RUNS)
    assert (few.count, more.count, seen.compiles, seen.misses) == (0, 1, 1, 0)
    last = Journal.compiles[-1]
    assert last.reason == "it is run often"
    assert last.seconds > 0


def test_each_loop_of_a_recurrent_layer_takes_xla_as_long_as_many_instructions() -> None:
    torch.manual_seed(0)
    lstm, head = nn.LSTM(32, 32, 2, bidirectional=True), nn.Linear(64, 3)
    with xla_compiles() as seen:
        head(lstm(torch.randn(20, 16, 32))[0]).square().mean().backward()
        assert lstm.weight_hh_l0.grad is not None
        lstm.weight_hh_l0.grad.sum().item()
    assert seen.count == 0
    assert Journal.compiles[-1].reason.endswith("run by numpy until it has run often")


def test_a_recurrent_layer_takes_xla_as_long_as_many_instructions() -> None:
    torch.manual_seed(0)
    layer, head = nn.GRU(3, 4, 2), nn.Linear(4, 1)
    optimizer = torch.optim.SGD([*layer.parameters(), *head.parameters()], lr=0.1)
    with xla_compiles() as seen:
        for _ in range(RUNS):
            optimizer.zero_grad()
            head(layer(torch.randn(5, 2, 3))[0]).square().mean().backward()
            optimizer.step()
            head.bias.item()
    assert seen.count == 0


def test_losses_go_on_as_if_xla_had_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    rented = trained(deep(), 3 * RUNS)
    monkeypatch.setattr(settings, "host", False)
    torch.use_deterministic_algorithms(True)
    assert rented == pytest.approx(trained(deep(), 3 * RUNS), rel=1e-5)


def test_what_is_repeated_with_its_seed_repeats_its_losses_to_the_last_digit() -> None:
    first = trained(deep(), 3 * RUNS)
    assert [trained(deep(), 3 * RUNS) for _ in range(3)] == [first] * 3


def test_a_script_that_seeds_in_each_step_is_compiled_all_the_same() -> None:
    net = deep()
    for _ in range(12):
        trained(net, 1)
        torch.manual_seed(0)
    for _ in range(2 + RUNS):
        trained(net, RUNS)
        torch.manual_seed(0)
    with xla_compiles() as seen, counted() as counts:
        trained(net, 2 * RUNS)
    assert (seen.count, counts.misses) == (0, 0)
    assert not renting.Rented.began()


def test_who_wants_the_same_digits_always_has_the_program_compiled_at_once() -> None:
    torch.use_deterministic_algorithms(True)
    with xla_compiles() as seen:
        trained(deep(), 1)
    assert seen.count == 1


@pytest.mark.parametrize(("depth", "width", "rows"), [(3, 6, 4), (8, 256, 256)])
def test_what_is_short_or_has_much_to_compute_is_compiled_at_first_sight(depth: int, width: int, rows: int) -> None:
    net = deep(width, depth)
    with xla_compiles() as seen:
        trained(net, 1, rows)
    with xla_compiles() as later:
        trained(net, RUNS, rows)
    assert seen.count > 0
    assert later.count == 0


def test_a_step_whose_data_is_prepared_anew_each_time_has_a_stage_that_is_compiled_once() -> None:
    net = deep()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

    def step() -> None:
        x = torch.randn(4, 6)
        if len(seen) % 2:
            x = x.flip(0).abs() + x.mean()
        optimizer.zero_grad()
        net(x).square().mean().backward()
        optimizer.step()

    seen: list[int] = []
    for _ in range(4 * RUNS):
        with xla_compiles() as found:
            step()
            assert np.isfinite(net[0][0].bias.sum().item())
        seen.append(found.count)
    assert not any(seen[:RUNS])
    assert sum(seen) <= 2
    assert not any(seen[-RUNS:])


def test_what_goes_from_step_to_step_makes_no_other_program_once_xla_gives_it() -> None:
    net, head = deep(), nn.Linear(6, 3)
    optimizer = torch.optim.Adam([*net.parameters(), *head.parameters()], lr=0.01)
    state, counts = torch.zeros(2, 6), torch.zeros(3, dtype=torch.int64)
    seen = []
    for _ in range(4 * RUNS):
        with counted() as counters, xla_compiles() as found:
            optimizer.zero_grad()
            state = net(state + torch.ones(2, 6))
            scores = head(state)
            scores.square().mean().backward()
            optimizer.step()
            state = torch.cat([state.detach()[1:], state.detach()[:1]]).view(2, 6)
            counts = counts + torch.bincount(scores.argmax(-1), minlength=3)
            assert counts.sum().item() > 0
        seen.append((counters.misses, found.count))
    assert [compiles for _, compiles in seen] == [0] * RUNS + [1] + [0] * (3 * RUNS - 1)
    assert not any(misses for misses, _ in seen[3:])
    assert counts.sum() == 4 * RUNS * 2


def test_lengths_that_share_a_program_share_numpys_too() -> None:
    net = deep()
    lengths = [5, 7, 9, 6, 8, 10, 11, 12, 5, 6]
    with xla_compiles() as seen:
        found = [net(torch.ones(n, 6)).sum().item() for n in lengths]
    assert seen.count <= 1
    assert np.isfinite(found).all()
