"""Programs that hardly ever come back are run an instruction at a time, by executables that serve all of them."""

from __future__ import annotations

import random
from typing import Any

import pytest

import funcgrad as torch
from funcgrad import nn
from funcgrad._base.config import settings
from funcgrad._program import plan, stepwise
from funcgrad._program.counters import counted
from funcgrad._program.journal import Journal

Tree = Any  # a pair of trees, or a number


def grown(depth: int, chance: random.Random) -> Tree:
    """Return a random tree."""
    if depth == 0 or chance.random() < 0.2:
        return chance.randint(0, 4)
    return grown(depth - 1, chance), grown(depth - 1, chance)


def trained(trees: list[Tree]) -> list[tuple[float, int]]:
    """Train a recursive net, a tree at a time; return the losses and how many parts each step compiled."""
    torch.manual_seed(0)
    leaf, joint, head = nn.Embedding(5, 4), nn.Linear(8, 4), nn.Linear(4, 1)
    optimizer = torch.optim.SGD([*leaf.parameters(), *joint.parameters(), *head.parameters()], lr=0.1)

    def meaning(tree: Tree) -> torch.Tensor:
        if isinstance(tree, int):
            return leaf(torch.tensor(tree))
        return torch.tanh(joint(torch.cat([meaning(tree[0]), meaning(tree[1])])))

    found = []
    for tree in trees:
        with counted() as seen:
            optimizer.zero_grad()
            loss = (head(meaning(tree)) - 0.5).square().sum()
            loss.backward()
            optimizer.step()
            found.append((loss.item(), seen.parts))
    return found


def test_trees_of_many_shapes(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(3)
    trees = [(grown(2, chance), (grown(2, chance), (i % 5, grown(1, chance)))) for i in range(20)]
    found = trained(trees)
    assert sum(parts for _, parts in found[-4:]) <= 4  # an odd shape here and there
    monkeypatch.setattr(settings, "eager", True)
    expected = trained(trees)
    assert [loss for loss, _ in found] == pytest.approx([loss for loss, _ in expected], rel=1e-4, abs=1e-6)


@pytest.mark.parametrize(
    ("lengths", "runs", "seldom"),
    [
        ([30] * 4, 1, False),
        ([30] * 5, 2, True),
        ([30] * 5, 3, False),
        ([600, 30, 30, 400], 1, True),
        ([900] * 3, 1, False),
    ],
)
def test_how_many_programs_are_looked_back_at(lengths: list[int], runs: int, seldom: bool) -> None:
    stepwise.forget_plans()
    for length in lengths:
        made = plan.Plan(lambda *given: [], (), (), ())
        made.spare -= runs
        stepwise.note_plan(made, length)
    assert stepwise.seldom_come_back() is seldom
    stepwise.forget_plans()


def test_a_program_that_does_come_back_is_compiled_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "seldom_come_back", lambda: True)
    weights = torch.randn(30)

    def steps() -> float:
        x = torch.ones(3)
        for i in (7, 3, 11, 2, 5, 13, 8, 1, 4, 6, 9, 10, 12):
            x = torch.tanh(x * weights[i]) + x
        return x.sum().item()

    monkeypatch.setattr(stepwise, "_COMPILE", 20 * stepwise._CALL)  # worth it after 20 runs
    values, compiles = [], []
    for _ in range(23):
        with counted() as seen:
            values.append(steps())
        compiles.append(seen.compiles)
    assert values == pytest.approx([values[0]] * len(values))
    assert compiles == [1] + [0] * 19 + [1, 0, 0]


def test_what_needs_no_compile_an_instruction_at_a_time_is_run_so_at_first_sight(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def steps(seed: int) -> float:
        x = torch.ones(3)
        for name in random.Random(seed).choices(["sin", "tanh", "cos", "atan"], k=30):
            x = getattr(torch, name)(x)
        return x.sum().item()

    with monkeypatch.context() as patched:
        patched.setattr(plan, "seldom_come_back", lambda: True)
        steps(0)
    with counted() as seen:
        found = steps(1)
    assert seen.parts == 0 and "an instruction at a time" in Journal.compiles[-1].reason
    monkeypatch.setattr(settings, "eager", True)
    assert found == pytest.approx(steps(1))
