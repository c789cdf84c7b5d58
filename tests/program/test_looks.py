"""What is done at once: all that is small until something wants a gradient, then loops that look at every few ops."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import funcgrad as torch
from funcgrad import explain, nn
from funcgrad._program import at_once
from funcgrad._program.at_once import LOOKS
from funcgrad._program.record import fresh_program, record_again, stop_looking
from funcgrad._program.trie import forest
from funcgrad.utils.data import DataLoader
from tests.benchmarks.everyday import clouds

Look = Callable[[int], Any]


def largest(i: int) -> float:
    return (torch.tensor([0.3, 1.7, -0.2]) * (0.1 + i)).exp().max().item()  # type: ignore[no-any-return]


def seen(look: Look, turns: int = LOOKS + 4) -> list[Any]:
    return [look(i) for i in range(turns)]


def test_no_program_is_run_for_each_look() -> None:
    seen(largest)
    with explain.counted() as cost:
        found = seen(largest, 10)
    assert cost.runs == cost.misses == cost.inferences == 0
    assert found == pytest.approx([float(np.exp(1.7 * (0.1 + i))) for i in range(10)], rel=1e-5)


def drawn(i: int) -> tuple[int, list[int], list[float]]:
    weights = torch.tensor([0.2, 0.5, 0.3])
    several = torch.multinomial(weights, 2).tolist()
    return torch.multinomial(weights, 1).item(), several, torch.bernoulli(weights).tolist()


def test_no_program_is_run_for_each_draw() -> None:
    torch.manual_seed(0)
    seen(drawn)
    with explain.counted() as cost:
        places = seen(drawn, 10)
    assert cost.runs == cost.misses == 0
    assert {place for place, _, _ in places} <= {0, 1, 2}
    assert all(len(set(several)) == 2 for _, several, _ in places)


def test_a_few_looks_are_programs_as_ever() -> None:
    with explain.counted() as cost:
        seen(largest, LOOKS)
    assert cost.runs == LOOKS


def clusters(i: int) -> list[float]:
    points = torch.linspace(-2, 3, 24).reshape(12, 2).sin() * (i + 1)
    nearest = torch.cdist(points, points[:3]).argmin(1)
    means = [points[nearest == k].mean(0) for k in range(3) if (nearest == k).any()]
    return torch.stack(means).flatten().tolist()  # type: ignore[no-any-return]


def path(i: int) -> list[int]:
    scores = torch.arange(20.0).reshape(5, 4).cos() + i
    best = scores[0]
    moves = []
    for t in range(1, 5):
        best, before = (best.unsqueeze(1) + scores[t]).max(0)
        moves.append(int(before[best.argmax()]))
    return moves


def boxes(i: int) -> list[int]:
    corners = torch.tensor([[0, 0, 4, 4], [1, 1, 5, 5], [9, 9, 12, 12], [0.5, 0, 4, 4.5]]) + i
    kept: list[int] = []
    for k in torch.tensor([0.9, 0.8, 0.7, 0.85]).argsort(descending=True).tolist():
        top = torch.maximum(corners[kept, :2], corners[k, :2])
        bottom = torch.minimum(corners[kept, 2:], corners[k, 2:])
        if not kept or not bool(((bottom - top).clamp(min=0).prod(1) / 16 > 0.4).any()):
            kept.append(k)
    return kept


SUPPRESS = next(run for run in clouds(torch) if run.__name__ == "corners")


def overlapping(i: int) -> float:
    """Return how many of sixty boxes are left, between two looks 39 instructions."""
    torch.manual_seed(i)
    return SUPPRESS()


def test_what_comes_in_other_lengths_each_time_is_done_at_once_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forest, "_roots", {})
    fresh_program()
    SUPPRESS()  # the first time it makes a net, for which it draws numbers
    found = [overlapping(i) for i in range(6)]
    with explain.counted() as cost:
        assert overlapping(6)
    assert cost.runs == cost.compiles == 0
    monkeypatch.setattr(at_once, "LOOKS", 1 << 30)
    stop_looking()
    assert [overlapping(i) for i in range(6)] == found


def sizes(i: int) -> list[Any]:
    """Each element alone, sums and means of i + 1 rows, of which there is one at first."""
    x = torch.arange(3.0 * (i + 1)).reshape(i + 1, 3).mul(1.7).sin()
    row, column = x[0], x[:, :1]
    results = [
        x + row, x - column, 2 * x, x / (i + 1), row * column, (x > 0) & (x < column), torch.where(x > 0.3, x, row),
        *[nn.functional.prelu(x[:, :, None], torch.tensor(slopes)) for slopes in ([0.2], [0.1, 0.2, 0.3])],
        x.clamp(-0.5, 0.5), x.abs().sqrt(), torch.maximum(x, row), x.exp() ** 2, x.tanh().relu(), x.int() + 1,
        x.sum(), x.sum(0), x.prod(1), x.amax(0), *x.max(1), x.argmin(1), (x > 0).any(), x.mean(), x.mean(0),
        x.mean(-1, keepdim=True), x.double().mean((0, 1)), x[x > 0], x[-1:], x[:, 1], x[[i, 0]],
    ]  # fmt: skip
    return [(result.dtype, tuple(result.shape), result.tolist()) for result in results]


@pytest.mark.parametrize("look", [largest, clusters, path, boxes, sizes])
def test_its_numbers_are_to_the_last_digit_those_of_programs(look: Look, monkeypatch: pytest.MonkeyPatch) -> None:
    found = seen(look)
    monkeypatch.setattr(at_once, "LOOKS", 1 << 30)
    stop_looking()
    assert seen(look) == found


def net(width: int) -> tuple[Any, Any]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, width), nn.ReLU(), nn.Linear(width, 2))
    return model, torch.optim.SGD(model.parameters(), lr=0.1)


def steps(count: int, width: int = 8) -> list[float]:
    model, optimizer = net(width)
    x, y = torch.linspace(-1, 1, 24).reshape(6, 4), torch.tensor([0, 1, 1, 0, 1, 0])
    losses = []
    for _ in range(count):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x * 2 - 1), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_a_training_step_is_a_program_whatever_was_looked_at_before() -> None:
    expected = steps(3)
    seen(largest)
    steps(1)
    with explain.counted() as cost:
        assert steps(3) == pytest.approx(expected, rel=1e-6)
    assert cost.compiles == 0 and cost.runs == 3


def test_gradients_taken_after_many_looks_are_recorded() -> None:
    weight = torch.ones(3, requires_grad=True)
    loss = (weight * torch.tensor([1.0, 2.0, 3.0])).prod()
    assert loss.item() == 6
    seen(largest)
    with explain.counted() as cost:
        loss.backward()
        assert weight.grad is not None and weight.grad.tolist() == [6, 6, 6]
    assert cost.runs == 1


def test_what_is_large_is_recorded_and_ends_it() -> None:
    seen(largest)
    large = torch.rand(400, 400)
    with explain.counted() as cost:
        assert 0 < (large @ large).mean().item() < 400
        largest(0)
    assert cost.runs == 2


def test_another_thread_has_looks_of_its_own() -> None:
    seen(largest)
    assert runs_of(3) == 0 and runs_elsewhere(3) == 3


def test_errors_are_raised_at_the_line_as_ever() -> None:
    seen(largest)
    x = torch.arange(3.0)
    with pytest.raises(RuntimeError, match=r"The size of tensor a \(3\) must match the size of tensor b \(2\)"):
        x + torch.tensor([1.0, 2.0])
    with pytest.raises(RuntimeError, match="dim 0 appears multiple times in the list of dims"):
        x.mean((0, 0))
    with pytest.raises(IndexError, match="index 7 is out of bounds for dimension 0 with size 3"):
        x[torch.tensor([0, 7])]
    assert x[torch.tensor([0, -1])].tolist() == [0, 2]


def test_results_may_be_written_to_and_are_nobody_elses() -> None:
    seen(largest)
    x = torch.tensor([1.0, 2.0, 3.0])
    same, part = x + 0, x[:2]
    same[0] = 9
    part[1] = 7
    assert x.tolist() == [1, 7, 3] and same.tolist() == [9, 2, 3]


def table(i: int) -> list[float]:
    """Rewards entered in a table, some of which are looked at."""
    torch.manual_seed(i)
    values = torch.zeros(4, 3)
    state = 0
    for t in range(12):
        action = t % 3 if t % 5 else int(values[state].argmax())
        following = (state + action) % 4
        target = float(following == 3) + 0.9 * values[following].max() * (t != 7)
        values[state, action] += 0.5 * (target - values[state, action])
        state = following
    return values.flatten().tolist()  # type: ignore[no-any-return]


@pytest.mark.usefixtures("at_first")
@pytest.mark.parametrize("look", [largest, clusters, path, boxes, sizes, table])
def test_until_something_wants_a_gradient_nothing_small_is_recorded(look: Look) -> None:
    with explain.counted() as cost:
        found = look(2)
    assert cost.runs == cost.misses == 0
    record_again()
    with explain.counted() as cost:
        assert look(2) == found
    assert cost.runs > 0


@pytest.mark.usefixtures("at_first")
@pytest.mark.parametrize(
    "wants",
    [
        lambda: nn.Linear(2, 2),
        lambda: torch.ones(2, requires_grad=True),
        lambda: torch.ones(2).requires_grad_(),
        lambda: nn.Parameter(torch.ones(2)),
    ],
)
def test_the_first_gradient_that_is_wanted_ends_it_in_every_thread(wants: Callable[[], Any]) -> None:
    assert runs_of(1) == runs_elsewhere(1) == 0
    wants()
    assert runs_of(1) == runs_elsewhere(1) == 1


def runs_of(turns: int) -> int:
    with explain.counted() as cost:
        seen(largest, turns)
    return cost.runs


def runs_elsewhere(turns: int) -> int:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(runs_of, turns).result()


@pytest.mark.usefixtures("at_first")
def test_what_is_large_is_recorded_at_first_too() -> None:
    large = torch.rand(400, 400)
    with explain.counted() as cost:
        assert 0 < (large @ large).mean().item() < 400
        assert runs_of(2) == 0
    assert cost.runs == 1


@pytest.mark.usefixtures("at_first")
def test_training_steps_are_the_programs_that_they_are_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    points = torch.linspace(0, 1, 24).reshape(6, 4)
    assert points.sum().item() == pytest.approx(12)
    costs = []
    for width in (9, 10):
        monkeypatch.setattr(forest, "_roots", {})  # other tests may have taken such steps of one width
        fresh_program()
        with explain.counted() as cost:
            steps(3, width)
        costs.append((cost.runs, cost.compiles, cost.misses))
    assert costs[0] == costs[1]


def trained_on_data_of_its_own() -> list[float]:
    torch.manual_seed(0)
    x = torch.randn(100, 4)
    y = (x @ torch.linspace(-1, 1, 4)).tanh().mul(1.3).exp() + 0.1 * torch.randn(100)
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = ((model((x - x.mean(0)) / x.std(0)).squeeze(1) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@pytest.mark.usefixtures("at_first")
def test_training_again_from_the_same_seed_gives_the_same_losses_to_the_last_digit() -> None:
    assert trained_on_data_of_its_own() == trained_on_data_of_its_own()


@pytest.mark.usefixtures("at_first")
def test_an_error_at_first_is_raised_at_the_line() -> None:
    with pytest.raises(RuntimeError, match=r"The size of tensor a \(3\) must match the size of tensor b \(2\)"):
        torch.ones(3) + torch.ones(2)
    with pytest.raises(RuntimeError, match="expected m1 and m2 to have the same dtype"):
        torch.ones(2, 2) @ torch.ones(2, 2).double()


@pytest.mark.usefixtures("at_first")
def test_samples_are_made_at_once_whatever_wants_a_gradient_in_them() -> None:
    def make(i: int) -> Any:
        x = torch.full((2,), float(i), requires_grad=True)
        (x**3).sum().backward()
        return x.grad * 2  # type: ignore[operator]  # it has one

    with explain.counted() as cost:
        (batch,) = DataLoader([0] * 4, batch_size=4, collate_fn=lambda _: torch.stack([make(i) for i in range(4)]))
    assert batch[:, 0].tolist() == [6 * i**2 for i in range(4)] and cost.runs <= 1
    assert runs_of(1) == 1
