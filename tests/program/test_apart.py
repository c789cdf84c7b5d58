"""What prepares a step's data is a program of its own: the step is compiled once, whatever comes before it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import funcgrad as torch
from funcgrad import nn
from funcgrad._base.config import settings
from funcgrad._program import plan, stepwise
from funcgrad._program.apart import InStages
from funcgrad._program.counters import counted
from funcgrad._program.pieces import InPieces
from funcgrad._program.record import fresh_program
from funcgrad._program.trie import forest
from funcgrad._tensor.interop import to_jax


@pytest.fixture(autouse=True)
def an_empty_forest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forest, "_roots", {})
    fresh_program()  # which begins there


def trained(batches: Iterator[tuple[torch.Tensor, float]], activation: type[nn.Module] = nn.Tanh) -> list[float]:
    """Return the losses of a deep net over batches, each with its weight in the loss."""
    torch.manual_seed(0)
    model = nn.Sequential(*[part for _ in range(8) for part in (nn.Linear(4, 4), activation())])
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    losses = []
    for x, weight in batches:
        optimizer.zero_grad()
        loss = weight * (model(x) - 1).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def large() -> int:
    """Return how many long lines have executables."""
    return sum(len(key[0]) > plan.SHORT for key in plan._EXECUTABLES)


def flipped(*coins: bool) -> Iterator[tuple[torch.Tensor, float]]:
    """Yield images that are flipped, and made brighter, as coins fall."""
    x = torch.linspace(-1, 1, 12).reshape(3, 4)
    for first, second in zip(coins[::2], coins[1::2], strict=True):
        yield (x.flip(0) if first else x) * 1.5 if second else (x.flip(0) if first else x), 1.0


def set_up_late() -> Iterator[tuple[torch.Tensor, float]]:
    x = torch.sin(torch.linspace(-1, 1, 12).reshape(3, 4))  # the optimizer is made before this
    for _ in range(4):
        yield x, 1.0


def shares() -> Iterator[tuple[torch.Tensor, float]]:
    """Yield mixtures of two images by a share that is part of the loss, as whole numbers of quarters."""
    x = torch.linspace(-1, 1, 12).reshape(3, 4)
    for share, mix in ((0.25, x.roll), (0.5, lambda _: x.flip(0)), (0.75, lambda _: x.flip(1)), (0.25, x.roll)):
        yield mix(1), share


def a_share_that_was_an_input_already() -> Iterator[tuple[torch.Tensor, float]]:
    """Yield another mixture after one whose share the recorder saw change before a step was planned."""
    x = torch.linspace(-1, 1, 12).reshape(3, 4)
    yield x.roll(1), 0.25
    yield x.roll(1), 0.5
    plan.forget_executables()
    yield x.roll(1), 0.75
    yield x.flip(0), 0.1


@pytest.mark.parametrize(
    ("batches", "executables"),
    [
        (lambda: flipped(False, False, True, False, False, True, True, True), 1),
        (set_up_late, 1),
        (shares, 2),  # the share is part of the first, and an input of the second
        (a_share_that_was_an_input_already, 1),
    ],
)
def test_a_step_is_compiled_once_whatever_prepares_its_data(
    batches: Callable[[], Iterator[tuple[torch.Tensor, float]]], executables: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    losses = trained(batches())
    assert large() == executables
    monkeypatch.setattr(settings, "turns", 0)
    np.testing.assert_allclose(losses, trained(batches()), rtol=1e-5)


def test_a_long_step_is_compiled_once_whatever_prepares_its_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "piece", 30)
    losses = trained(flipped(True, True, False, True, True, False))
    assert [isinstance(made, InPieces) for made in plan._EXECUTABLES.values()].count(True) == 1
    monkeypatch.setattr(settings, "turns", 0)
    np.testing.assert_allclose(losses, trained(flipped(True, True, False, True, True, False)), rtol=1e-5)


def in_batches(learns: bool) -> list[float]:
    """Return the losses of batches whose answers are taken after the net has seen them."""
    torch.manual_seed(0)
    x, y = torch.randn(24, 4), torch.randn(24, 4)
    assert bool(x.isfinite().all() & y.isfinite().all())
    model = nn.Sequential(*[part for _ in range(14) for part in (nn.Linear(4, 4), nn.Tanh())])
    optimizer, losses = torch.optim.Adam(model.parameters(), 0.01), []
    with torch.set_grad_enabled(learns):
        for i in range(0, 24, 8):
            loss = 0.5 * (model(x[i : i + 8]) - y[i : i + 8]).square().mean()
            if learns:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            losses.append(loss.item())
    return losses


@pytest.mark.parametrize("learns", [True, False])
def test_batches_that_begin_elsewhere_share_an_executable_from_the_first_on(
    learns: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    losses = in_batches(learns)
    assert large() == 1
    monkeypatch.setattr(settings, "eager", True)
    np.testing.assert_allclose(losses, in_batches(learns), rtol=1e-4)


def test_steps_that_were_set_up_late_do_come_back() -> None:
    for activation in (nn.ReLU, nn.Sigmoid, nn.GELU, nn.ELU, nn.SiLU, nn.Softplus):
        trained(set_up_late(), activation)
    assert not stepwise.seldom_come_back(is_long=True)


def test_parameters_are_donated_to_the_second_part() -> None:
    with counted() as seen:
        trained(flipped(True, True, True, True))
    assert seen.donated >= 2 * 16  # the weights and biases; what Adam keeps of them lies in one array


def test_a_step_that_is_always_prepared_alike_is_compiled_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "CALL", 0.12)  # worth a compile after a few runs
    losses = trained(flipped(*[True, False] * 5))
    assert large() == 2
    monkeypatch.setattr(settings, "turns", 0)
    np.testing.assert_allclose(losses, trained(flipped(*[True, False] * 5)), rtol=1e-5)


def test_the_first_turn_of_a_loop_is_not_taken_off(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    cell, x, h = nn.GRUCell(3, 4), torch.randn(2, 9, 3), torch.zeros(2, 4)
    for t in range(9):
        h = cell(x[:, t], h)
    h.sum().backward()
    lengths: list[int] = []
    rolled = plan.rolled

    def watched(line: list[object], *rest: object, fold: bool = True) -> object:
        lengths.append(sum(step.op.name == "select" for step in line))  # type: ignore[attr-defined]  # all are steps
        return rolled(line, *rest, fold=fold)  # type: ignore[arg-type]  # the same line

    monkeypatch.setattr(plan, "rolled", watched)
    assert cell.weight_ih.grad is not None
    cell.weight_ih.grad.sum().item()
    assert max(lengths) == 9


@pytest.mark.parametrize("from_host", [(True, False), (False, True)])
def test_looking_at_indices_is_no_part_of_a_step(from_host: tuple[bool, bool]) -> None:
    torch.manual_seed(0)
    layers = [part for _ in range(8) for part in (nn.Linear(4, 4), nn.Tanh())]
    model = nn.Sequential(nn.Embedding(9, 4), *layers)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for is_known in from_host:  # those of the host are looked at when they are given
        words = torch.tensor([1, 2, 8]) if is_known else torch.tensor([0, 1, 7]) + 1
        optimizer.zero_grad()
        model(words).square().sum().backward()
        optimizer.step()
    assert large() == 1


def averaged(*, syncs: bool) -> list[float]:
    """Return losses of a net with a moving average of its weights, or a copy that follows it now and then."""
    torch.manual_seed(0)
    model = nn.Sequential(*[part for _ in range(8) for part in (nn.Linear(4, 4), nn.Tanh())])
    other = copy.deepcopy(model).requires_grad_(False)
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    x, losses = torch.linspace(-1, 1, 12).reshape(3, 4), []
    for step in range(6):
        optimizer.zero_grad()
        loss = (model(x) - other(x) - 1).square().mean()
        loss.backward()
        optimizer.step()
        losses += [loss.item(), other[0].weight.sum().item()]
        if not syncs:
            with torch.no_grad():
                for mine, its in zip(other.parameters(), model.parameters(), strict=True):
                    mine.lerp_(its, 0.5)
        elif step % 2:
            other.load_state_dict(model.state_dict())
    return losses


@pytest.mark.parametrize("syncs", [False, True])
def test_a_copy_of_a_model_does_not_make_its_step_another_program(syncs: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    losses = averaged(syncs=syncs)
    assert sum("adam" in {step[0][0].name for step in key[0]} for key in plan._EXECUTABLES) == 1
    monkeypatch.setattr(settings, "eager", True)
    np.testing.assert_allclose(losses, averaged(syncs=syncs), rtol=1e-4)


def test_a_copy_made_between_reading_and_changing_keeps_its_numbers() -> None:
    weight = torch.ones(64, 64)
    weight += 1
    weight.sum().item()
    total = weight.sum()  # the program that is recorded has read it
    twin, array = copy.deepcopy(weight), to_jax(weight)
    weight *= 3
    assert total.item() == 2 * 64 * 64
    assert weight.sum().item() == 6 * 64 * 64
    assert twin.sum().item() == array.sum() == 2 * 64 * 64


def test_what_depends_on_nothing_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    turns: list[int] = []
    run = InStages.run

    def counted_run(self: InStages, begun: list[Any], *rest: Any) -> Any:
        turns.extend(turn for turn in range(2) if turn or not self._constants)
        return run(self, begun, *rest)

    monkeypatch.setattr(InStages, "run", counted_run)
    x = torch.linspace(-1, 1, 12).reshape(3, 4)
    losses = trained((x + torch.ones(3, 4).cumsum(0), 1.0) for _ in range(3))
    assert turns == [0, 1, 0, 1, 0, 1]  # the sum reads x
    turns.clear()
    again = trained((torch.ones(3, 4), 1.0) for _ in range(3))
    assert turns == [0, 1, 1, 1]
    monkeypatch.setattr(settings, "turns", 0)
    np.testing.assert_allclose(again, trained((torch.ones(3, 4), 1.0) for _ in range(3)), rtol=1e-5)
    assert losses != again


def test_a_state_of_zeros_makes_no_program_of_its_own() -> None:
    """The first turn of truncated backpropagation is compiled as the next ones, so is the first word of a sample."""
    torch.manual_seed(0)
    layer, embedding, head = nn.LSTM(6, 7), nn.Embedding(9, 6), nn.Linear(7, 9)
    parameters = [*layer.parameters(), *embedding.parameters(), *head.parameters()]
    state = torch.zeros(1, 2, 7), torch.zeros(1, 2, 7)
    compiles, losses = [], []
    for turn in range(4):
        with counted() as seen:
            words = torch.from_numpy(np.arange(8).reshape(4, 2) + turn % 2)
            output, state = layer(embedding(words), tuple(x.detach() for x in state))
            loss = nn.functional.cross_entropy(head(output).flatten(0, 1), words.flatten())
            loss.backward()
            nn.utils.clip_grad_norm_(parameters, 0.25)
            for p in parameters:
                p.data.add_(p.grad, alpha=-0.5)
                p.grad = None
            losses.append(loss.item())
        compiles.append(seen.compiles)
    assert sum(compiles[1:]) == 0
    assert losses[3] < losses[1]
    with torch.no_grad():
        state, word = (torch.zeros(1, 1, 7), torch.zeros(1, 1, 7)), torch.tensor([[3]])
        for turn in range(4):
            with counted() as seen:
                output, state = layer(embedding(word), state)
                word = torch.tensor([[head(output).argmax().item()]])
            assert turn == 0 or seen.compiles == 0


def test_what_nobody_waited_for_is_apart_from_the_next_evaluation() -> None:
    net = nn.Sequential(*[nn.Sequential(nn.Linear(5, 5), nn.Tanh()) for _ in range(14)])
    means, compiles = [], []
    with torch.no_grad():
        for _ in range(3):
            losses = torch.zeros(2)
            for k in range(2):
                with counted() as seen:
                    losses[k] = net(torch.ones(3, 5)).square().mean().item()
                compiles.append(seen.compiles)
            means.append(losses.mean())
    assert compiles[0] > 0
    assert sum(compiles[3:]) == 0
    assert means[0].item() == means[2].item() > 0


def test_a_place_that_the_host_has_is_moved_there() -> None:
    text, starts = np.arange(100), torch.tensor([3, 50, 91])
    with counted() as seen:
        parts = [[*text[i : i + 4].tolist(), text[2 + i]] for i in starts]
    assert seen.runs == 0
    assert parts[1] == [50, 51, 52, 53, 52]
    place = starts[2] - 1
    starts[2] = 7
    assert (place.item(), (place * torch.ones(2)).tolist()) == (90, [90, 90])


@pytest.mark.parametrize("host", [True, False])
def test_a_mask_that_is_kept_is_one_input_from_the_first_step_on(host: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is made in the first step, and shown in another shape; where numpy has made it, numpy shows it so later."""
    monkeypatch.setattr(settings, "host", host)
    torch.manual_seed(0)
    model = nn.Sequential(*[part for _ in range(8) for part in (nn.Linear(4, 4), nn.Tanh())])
    x, mask = torch.randn(3, 4), None
    before = large()
    losses = []
    for _ in range(4):
        if mask is None:
            mask = torch.log(torch.tril(torch.ones(3, 4)) + 1)
        h = torch.tanh(model[0](x))
        h = model((h * mask.unsqueeze(0)).squeeze(0))
        loss = (h + mask.view(12).reshape(3, 4)).square().mean()
        loss.backward()
        for p in model.parameters():
            p.data.add_(p.grad, alpha=-0.1)
            p.grad = None
        losses.append(loss.item())
    assert large() == before + 1
    assert losses == sorted(losses, reverse=True)


def projected() -> Iterator[tuple[torch.Tensor, float]]:
    """Yield batches whose rows a loop has put together, as a distributional agent does with the returns it expects."""
    generator = torch.Generator().manual_seed(0)
    for _ in range(24):
        masses, places = torch.rand(32, 4, generator=generator), torch.randint(4, (32, 4), generator=generator)
        rows = torch.zeros_like(masses)
        for i in range(len(rows)):
            rows[i].index_add_(0, places[i], masses[i])
            rows[i].index_add_(0, 3 - places[i], masses[i])
        yield rows, 1.0


def test_data_that_a_loop_prepares_for_each_step_is_compiled_once_it_cost_enough(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran = list[int]()
    one_at_a_time = stepwise.InSteps.__call__

    def counting(self: stepwise.InSteps, *given: Any) -> list[Any]:
        ran.append(len(self.turns))
        return one_at_a_time(self, *given)

    monkeypatch.setattr(settings, "host", True)
    monkeypatch.setattr(stepwise.InSteps, "__call__", counting)
    losses = trained(projected())
    assert 0 < len(ran) < 16
    assert all(turns > 200 for turns in ran)
    monkeypatch.setattr(settings, "turns", 0)
    np.testing.assert_allclose(losses, trained(projected()), rtol=1e-5)
