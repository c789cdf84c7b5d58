"""Loops reach a steady state: after the first turns nothing is compiled, inferred or recorded anew."""

from __future__ import annotations

from collections.abc import Callable

import jax
from pytest import approx

import funcgrad as torch
from funcgrad import nn, optim
from funcgrad._program.counters import Counters, counted
from funcgrad._program.run import Finished, observed


def mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))


def batch(count: int = 6) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(count, 4), torch.randint(0, 3, (count,))


def turns(turn: Callable[[int], object], count: int) -> list[Counters]:
    """Run a loop and return what each turn cost."""
    costs = []
    for i in range(count):
        with counted() as cost:
            turn(i)
        costs.append(cost)
    return costs


def assert_settles(turn: Callable[[int], object], *, within: int = 2, count: int = 6) -> None:
    """Assert that no turn after the first `within` compiles, or sees an op at a new place."""
    costs = turns(turn, count)
    late = [(i, c.compiles, c.misses) for i, c in enumerate(costs) if i >= within and (c.compiles or c.misses)]
    assert not late, f"still compiling in turns {late}"


def test_five_identical_steps_compile_once() -> None:
    model, (x, y) = mlp(), batch()
    optimizer, criterion = optim.Adam(model.parameters(), lr=1e-2), nn.CrossEntropyLoss()

    def step(_: int) -> float:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    costs = turns(step, 5)
    assert [c.compiles for c in costs] == [1, 0, 0, 0, 0]
    assert [c.runs for c in costs] == [1, 1, 1, 1, 1]
    assert all(c.misses == 0 for c in costs[1:])


def test_parameters_and_optimizer_state_are_donated() -> None:
    model, (x, y) = mlp(), batch()
    optimizer = optim.Adam(model.parameters(), lr=1e-2)

    def step(_: int) -> None:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

    parameters = len(list(model.parameters()))
    # each parameter, what is packed of Adam's state, and the count of steps
    assert all(c.donated >= parameters + 2 for c in turns(step, 3))


def test_observers_are_told_of_each_run_and_nothing_is_donated_meanwhile() -> None:
    weight = torch.ones(64, requires_grad=True)
    optimizer = optim.SGD([weight], lr=0.5)
    told: list[Finished] = []
    with observed(told.append), counted() as cost:
        for _ in range(3):
            optimizer.zero_grad()
            (weight * weight).sum().backward()
            optimizer.step()
    assert len(told) == cost.runs == 3
    assert cost.donated == 0
    assert all(not leaf.is_deleted() for run in told for leaf in run.leaves if isinstance(leaf, jax.Array))
    weight.add(1).tolist()
    assert len(told) == 3


def test_a_learning_rate_schedule_does_not_compile() -> None:
    model, (x, y) = mlp(), batch()
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scheduler = optim.lr_scheduler.ExponentialLR(optimizer, 0.9)

    def step(_: int) -> None:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        scheduler.step()

    assert_settles(step, within=1)


def test_a_changing_number_becomes_an_input() -> None:
    x = torch.randn(5)
    results = []
    assert_settles(lambda i: results.append((x * (0.5 + i) + i).sum().item()))
    expected = [sum(v * (0.5 + i) + i for v in x.tolist()) for i in range(6)]
    assert torch.allclose(torch.tensor(results), torch.tensor(expected), rtol=1e-5)


def test_ten_changing_numbers_become_inputs_at_once() -> None:
    x = torch.randn(5)

    def turn(i: int) -> float:
        y = x
        for k in range(10):
            y = y * 0.9 + 0.1 * i * k
        return y.sum().item()

    assert_settles(turn)


def test_a_whole_number_and_fractions_after_it_are_two_programs() -> None:
    x, strengths = torch.randn(13), [0, 0.05, 0.1, 0.2]
    costs = turns(lambda i: (x * strengths[i] + (1 - strengths[i])).sum().item(), 4)
    assert [c.compiles for c in costs] == [1, 1, 0, 0]


def test_a_number_that_nobody_wrote_is_an_input_at_first_sight() -> None:
    x, shares = torch.randn(12), [0.3745401188473625, 0.9507143064099162, 0.7319939418114051]
    costs = turns(lambda i: (x * shares[i] + (1 - shares[i])).sum().item(), 3)
    assert [c.compiles for c in costs] == [1, 0, 0]


def test_a_constant_number_stays_part_of_the_program() -> None:
    x = torch.randn(11)
    costs = turns(lambda i: (x * 0.5 + i).sum().item(), 3)
    assert [c.compiles for c in costs] == [1, 1, 0]


def test_numbers_that_are_equal_but_of_another_kind_are_different() -> None:
    x = torch.tensor([1, 2])
    assert (x * 1).dtype is torch.int64
    assert (x * 1.0).dtype is torch.float32
    assert (x * True).dtype is torch.int64
    zeros = [torch.tensor([1.0]) / z for z in (0.0, -0.0)]
    assert [z.item() for z in zeros] == [float("inf"), float("-inf")]


def test_a_number_that_was_zero_and_is_minus_zero_is_another() -> None:
    x = torch.randn(7).square() + 1
    found = [(x / z).sum().item() for z in (0.5, 0.0, -0.0, 0.0, -0.0)]
    assert found[1:] == [float("inf"), float("-inf")] * 2


def test_indices_and_slices_in_a_loop_do_not_compile_per_iteration() -> None:
    x, rows, parts = torch.randn(20, 3), [], []
    assert_settles(lambda i: rows.append(x[i].sum().item()))
    assert_settles(lambda i: parts.append(x[3 * i : 3 * i + 3].sum().item()))
    full = x.tolist()
    assert torch.allclose(torch.tensor(rows), torch.tensor([sum(r) for r in full[:6]]), atol=1e-5)
    assert torch.allclose(
        torch.tensor(parts), torch.tensor([sum(map(sum, full[3 * i : 3 * i + 3])) for i in range(6)]), atol=1e-5
    )


def test_places_counted_from_where_a_text_stands_are_one_program() -> None:
    table, cache, seen = torch.randn(40, 3), torch.zeros(40, 3), []
    layers = nn.Sequential(*[nn.Sequential(nn.Linear(3, 3), nn.Tanh()) for _ in range(8)])

    @torch.no_grad()
    def write_word(i: int) -> None:
        places = torch.arange(i + 5, i + 7)
        cache.index_copy_(0, places, layers(table[places]))
        seen.append((cache * (torch.arange(40) <= places[-1])[:, None]).sum().item())

    assert_settles(write_word, within=3, count=20)
    sums = [layers(table[5 : i + 7]).sum().item() for i in range(20)]
    assert seen == [approx(number, abs=1e-5) for number in sums]


def test_writing_at_a_changing_index_does_not_compile_per_iteration() -> None:
    x = torch.zeros(8)

    def turn(i: int) -> float:
        x[i] = float(i)
        return x.sum().item()

    # a third program: in the first turn x is a constant, in the second it is an array
    assert_settles(turn, within=3)
    assert x.tolist() == [0, 1, 2, 3, 4, 5, 0, 0]


def test_item_before_step_settles_on_two_programs() -> None:
    model, (x, y) = mlp(), batch()
    optimizer, seen = optim.SGD(model.parameters(), lr=0.1), []

    def step(_: int) -> None:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        seen.append(loss.item())
        loss.backward()
        optimizer.step()

    assert [c.runs for c in turns(step, 4)] == [2, 2, 2, 2]
    assert_settles(step)
    assert seen == sorted(seen, reverse=True)


def test_a_loop_that_keeps_its_losses_settles() -> None:
    model, (x, y) = mlp(), batch()
    optimizer, losses = optim.SGD(model.parameters(), lr=0.1), []

    def step(_: int) -> None:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())

    assert_settles(step)
    assert len({loss.item() for loss in losses}) == 6


def test_a_running_sum_settles() -> None:
    model, (x, y) = mlp(), batch()
    optimizer, running = optim.SGD(model.parameters(), lr=0.1), [0.0]

    def step(_: int) -> None:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        running[0] += loss.detach()

    assert_settles(step, within=3)


def test_the_loop_of_a_gan_settles() -> None:
    generator, critic = nn.Linear(2, 4), nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    first = optim.Adam(generator.parameters(), lr=1e-3)
    second = optim.Adam(critic.parameters(), lr=1e-3)
    criterion, real, noise = nn.BCEWithLogitsLoss(), torch.randn(6, 4), torch.randn(6, 2)

    def step(_: int) -> None:
        fake = generator(noise)
        second.zero_grad()
        loss = criterion(critic(real), torch.ones(6, 1)) + criterion(critic(fake.detach()), torch.zeros(6, 1))
        loss.backward()
        second.step()
        first.zero_grad()
        criterion(critic(fake), torch.ones(6, 1)).backward()
        first.step()

    assert_settles(step)


def test_gradient_accumulation_settles() -> None:
    model, (x, y) = mlp(), batch()
    optimizer = optim.SGD(model.parameters(), lr=0.1)

    def turn(i: int) -> None:
        (nn.functional.cross_entropy(model(x), y) / 2).backward()
        if i % 2 == 1:
            optimizer.step()
            optimizer.zero_grad()

    assert_settles(turn, within=4, count=10)


def test_gradient_clipping_settles() -> None:
    model, (x, y) = mlp(), batch()
    optimizer = optim.SGD(model.parameters(), lr=0.1)

    def step(_: int) -> None:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()

    assert_settles(step)


def test_evaluation_between_epochs_settles() -> None:
    model, (x, y) = mlp(), batch()
    optimizer = optim.SGD(model.parameters(), lr=0.1)

    def epoch(_: int) -> float:
        model.train()
        for _ in range(2):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            return (model(x).argmax(1) == y).float().mean().item()

    assert_settles(epoch)


def test_rolls_by_shifts_that_change_do_not_compile_anew() -> None:
    x = torch.randn(8, 9, requires_grad=True)

    def turn(k: int) -> None:
        x.grad = None
        torch.roll(x * 2, (k, 2 * k), (0, 1))[0, 0].backward()
        assert x.grad is not None
        assert x.grad[-k % 8, (-2 * k) % 9].item() == 2

    assert_settles(turn, within=3)
