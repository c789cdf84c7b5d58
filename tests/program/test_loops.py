"""What repeats in a program runs as loops: compiled once for all turns, with the numbers of the unrolled program."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

import funcgrad as torch
from funcgrad import nn
from funcgrad._base.config import settings
from funcgrad._program import parts, rolling
from funcgrad._program import plan as planning
from funcgrad._program.counters import counted
from funcgrad._program.pieces import InPieces
from funcgrad._program.trie import forest


class Lines:
    """How long the lines were that were planned: before and after rolling."""

    def __init__(self) -> None:
        self.lengths: list[tuple[int, int]] = []

    def rolled(self, line: Any, *rest: Any, fold: bool = True) -> Any:
        """Roll as the planner does, and keep the lengths."""
        result = Lines.plainly(line, *rest, fold=fold)
        if fold:  # else it only asks whether the numbers of turns vary
            self.lengths.append((len(line), len(result[0])))
        return result

    @property
    def longest(self) -> tuple[int, int]:
        """Of the longest line. What a test sets up is a line of its own."""
        return max(self.lengths)

    plainly = staticmethod(planning.rolled)


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Iterator[Lines]:
    """Roll from three turns on, in a forest without programs planned before."""
    watched = Lines()
    monkeypatch.setattr(planning, "rolled", watched.rolled)
    monkeypatch.setattr(forest, "_roots", {})
    monkeypatch.setattr(settings, "turns", 3)
    torch.manual_seed(0)
    yield watched


def both(monkeypatch: pytest.MonkeyPatch, run: Callable[[], list[Any]], rtol: float = 1e-5) -> None:
    """Compare what `run` returns with loops, and without."""
    found = [x.detach().numpy().copy() for x in run()]
    monkeypatch.setattr(settings, "turns", 0)
    monkeypatch.setattr(forest, "_roots", {})
    torch.manual_seed(0)
    for one, other in zip(found, run(), strict=True):
        np.testing.assert_allclose(one, other.detach().numpy(), rtol=rtol, atol=1e-6)


def gradients(module: nn.Module) -> list[Any]:
    return [param.grad for param in module.parameters()]


def test_a_recurrent_cell_in_a_python_loop(lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    def run() -> list[Any]:
        cell, x, h = nn.GRUCell(3, 4), torch.randn(2, 9, 3), torch.zeros(2, 4)
        for t in range(9):
            h = cell(x[:, t], h)
        (h * h).sum().backward()
        return [h, *gradients(cell)]

    both(monkeypatch, run)
    before, after = lines.longest
    assert before > 60
    assert after < before / 2


def test_results_of_each_turn_are_stacked(lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    def run() -> list[Any]:
        layer, x = nn.Linear(4, 4), torch.randn(8, 2, 4)
        h, outputs = torch.zeros(2, 4), []
        for t in range(8):
            h = torch.tanh(layer(h) + x[t])
            outputs.append(h)
        loss = (torch.stack(outputs) ** 2).sum() + outputs[3].sum()
        loss.backward()
        return [outputs[0], outputs[5], h, loss, *gradients(layer)]

    both(monkeypatch, run)
    assert lines.longest[1] < lines.longest[0]


@pytest.fixture
def slices(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many slices the programs take that are compiled as a whole."""
    counts = list[int]()
    plainly = planning._plan_of_whole

    def counting(*given: Any, rents: bool = False) -> planning.Plan:
        made = plainly(*given, rents=rents)
        execute: Any = made.execute

        def run(*arrays: Any) -> Any:
            counts.append(len(re.findall(r"= (?:dynamic_)?slice\[", str(execute.trace(*arrays).jaxpr))))
            return execute(*arrays)

        made.execute = run
        return made

    monkeypatch.setattr(planning, "_plan_of_whole", counting)
    return counts


@pytest.mark.parametrize(
    "join",
    [torch.stack, lambda many: torch.stack(many, 1), lambda many: torch.stack(many, -1), torch.cat,
     lambda many: torch.cat(many, -1)],
)  # fmt: skip
def test_what_turns_gave_is_joined_and_taken_apart_as_one_array(
    join: Callable[[list[torch.Tensor]], torch.Tensor],
    lines: Lines,
    slices: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def run() -> list[Any]:
        layer, h, outputs = nn.Linear(4, 4), torch.randn(2, 4), []
        for _ in range(24):
            h = torch.tanh(layer(h))
            outputs.append(h)
        joined = join([torch.ones(2, 4), *outputs])
        (joined * torch.arange(200.0).reshape(joined.shape)).square().sum().backward()
        return [joined, *gradients(layer)]

    both(monkeypatch, run)
    assert max(slices[: len(lines.lengths)]) < 12


def test_numbers_that_alternate_are_two_arrays(
    lines: Lines, slices: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def run() -> list[Any]:
        weight = torch.tensor([0.5, 0.2], requires_grad=True)
        for rate in (0.01, 0.02, 0.03):
            fast, slow = torch.zeros(2), torch.zeros(2)
            for i in range(24):
                fast, slow = (0.3 + rate * i) * fast + weight, (0.9 - rate * i) * slow + torch.sin(fast)
            slow.sum().backward()
            found = slow.tolist()
        return [torch.tensor(found), weight.grad]

    both(monkeypatch, run)
    assert max(slices[: len(lines.lengths)]) < 24


def test_a_value_from_two_turns_ago(lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    def run() -> list[Any]:
        a, b = torch.tensor([0.5, 0.2], requires_grad=True), torch.tensor([0.1, 0.3], requires_grad=True)
        before, now = a, b
        for _ in range(12):
            before, now = now, torch.sin(now) + 0.5 * before
        now.sum().backward()
        return [now, a.grad, b.grad]

    both(monkeypatch, run)
    assert lines.longest[1] < lines.longest[0] / 2


def test_loops_in_loops(lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    def run() -> list[Any]:
        w = torch.tensor([0.5, -0.25, 0.125], requires_grad=True)
        x = torch.linspace(-1, 1, 3)
        for _ in range(4):
            for _ in range(5):
                x = torch.tanh(x * w + 0.1)
            x = x - x.mean()
        x.pow(2).sum().backward()
        return [x, w.grad]

    both(monkeypatch, run)
    assert lines.longest[1] < 40


def test_where_a_turn_with_many_skips_begins_is_soon_found(lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    looked = [0]
    plainly = rolling._Candidate._class

    def counted_class(self: Any, column: Any) -> Any:
        looked[0] += 1
        return plainly(self, column)

    monkeypatch.setattr(rolling._Candidate, "_class", counted_class)

    def run() -> list[Any]:
        x, functions = torch.randn(4), (torch.sin, torch.tanh, torch.sigmoid, torch.atan, torch.erf, torch.square)
        for turn in range(5):
            kept = [x := function(x) for function in functions]
            for function in functions if turn < 4 else ():  # so that a turn may begin at any of the first half
                x = x + function(kept.pop())
        return [x]

    both(monkeypatch, run)
    before, after = lines.longest
    assert after < before / 4
    assert looked[0] < 2 * before  # not each argument again for each instruction that a turn may begin at


def test_numbers_that_differ_from_turn_to_turn(lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    def run() -> list[Any]:
        x = torch.ones(3, requires_grad=True)
        y = x
        for t in range(10):
            y = torch.sin(y * (0.5 + 0.01 * t)) + t
        y.sum().backward()
        return [y, x.grad]

    both(monkeypatch, run)
    assert lines.longest[1] < lines.longest[0] / 2
    again = lambda factor: run() if factor is None else None  # noqa: E731 - the same loop once more
    with counted() as seen:
        again(None)
    assert seen.compiles <= 1


def test_layers_of_a_deep_stack_share_one_body(lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    def run() -> list[Any]:
        blocks = nn.Sequential(*[nn.Sequential(nn.LayerNorm(4), nn.Linear(4, 4), nn.GELU()) for _ in range(6)])
        x = torch.randn(3, 4)
        loss = blocks(x).square().mean()
        loss.backward()
        return [loss, *gradients(blocks)]

    both(monkeypatch, run)
    assert lines.longest[1] < lines.longest[0] / 2


@pytest.mark.parametrize(("turns", "is_loop"), [(20, True), (10, False)])
def test_what_a_loss_that_was_read_left_for_each_turn_may_be_heavy_where_turns_share_more(
    turns: int, is_loop: bool, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run() -> list[Any]:
        cell, x, h = nn.LSTMCell(8, 64), torch.randn(32, turns, 8), None
        for t in range(turns):
            h = cell(x[:, t], h)
        loss = h[0].square().mean()
        loss.item()
        loss.backward()
        return gradients(cell)

    both(monkeypatch, run)
    assert lines.longest[0] > 4 * turns
    assert (lines.longest[1] < lines.longest[0] / 2) is is_loop


def test_gradients_gathered_over_micro_batches(lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    def run() -> list[Any]:
        model, data = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)), torch.randn(8, 5, 3)
        total = torch.zeros(())
        for batch in data:
            loss = model(batch).pow(2).mean() / 8
            loss.backward()
            total += loss.detach()
        return [total, *gradients(model)]

    both(monkeypatch, run)
    assert lines.longest[1] < lines.longest[0] / 2


def test_steps_of_gradient_descent_inside_one_program(lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    def run() -> list[Any]:
        w = torch.tensor([1.0, -2.0], requires_grad=True)
        fast = w
        for _ in range(6):
            loss = ((fast - 0.5) ** 2).sum() + (fast[0] * fast[1]).tanh()
            (slope,) = torch.autograd.grad(loss, fast, create_graph=True)
            fast = fast - 0.1 * slope
        fast.sum().backward()
        return [fast, w.grad]

    both(monkeypatch, run)
    assert lines.longest[1] < lines.longest[0]


def test_what_grows_is_left_as_it_is(lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    def run() -> list[Any]:
        x = torch.ones(1, 2, requires_grad=True)
        beam = x
        for _ in range(6):
            beam = torch.cat([beam, beam[-1:] * 0.5])
        beam.sum().backward()
        return [beam, x.grad]

    both(monkeypatch, run)
    before, after = lines.longest
    assert after == before


def test_turns_that_are_no_loop_are_tried_once(lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[tuple[int, int, int]] = []

    def noted(line: Any, start: int, end: int, period: int, *rest: Any) -> Any:
        tried.append((start, end, period))
        return aligned(line, start, end, period, *rest)

    aligned = rolling._aligned
    monkeypatch.setattr(rolling, "_aligned", noted)
    found = [torch.ones(30)]
    for turn in range(9):
        x = found[turn * 5 % len(found)]  # now of one turn before, now of several
        for name in ("sin", "cos", "tanh", "atan", "sigmoid", "square", "erf", "relu", "neg", "exp", "sinh"):
            x = getattr(x, name)()
        found.append(x)
    torch.stack(found).sum().item()
    assert tried == [(0, 99, 11)] * 2, "once with numbers that are part of the body, once without"
    assert lines.longest[0] == lines.longest[1]


def test_long_lines_go_to_xla_in_pieces(lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    cut: list[int] = []

    class Noted(InPieces):
        def __init__(self, *line: Any) -> None:
            super().__init__(*line)
            cut.append(len(self.pieces))

    monkeypatch.setattr(settings, "piece", 7)
    monkeypatch.setattr(planning, "InPieces", Noted)

    def run() -> list[Any]:
        x = torch.linspace(0, 1, 4, requires_grad=True)
        y, seen = x, []
        for t in range(6):
            y = torch.sin(y) if t % 2 else torch.tanh(y) * y
            seen.append(y)
        for _ in range(5):
            y = y * 0.5 + seen[1]
        (y + seen[2]).sum().backward()
        return [y, seen[3], x.grad]

    both(monkeypatch, run)
    assert min(cut) > 1


def test_another_number_of_turns_is_another_program_only() -> None:
    cell = nn.Linear(2, 2)

    def run(turns: int) -> float:
        x = torch.ones(2)
        for _ in range(turns):
            x = torch.tanh(cell(x))
        return x.sum().item()

    parts._TURNS.clear()  # other tests may have turned such a loop
    run(20)
    with counted() as seen:
        run(40)
    assert seen.compiles == 1


@st.composite
def bodies(draw: st.DrawFn) -> list[tuple[int, int, int]]:
    count = draw(st.integers(1, 6))
    return [(draw(st.integers(0, 6)), draw(st.integers(0, 7)), draw(st.integers(0, 7))) for _ in range(count)]


def interpreted(prelude: Any, body: Any, turns: int, inner: int) -> list[Any]:
    """Run a random body so many times over a few names, which it binds anew; then send gradients back."""
    w = torch.tensor([0.3, -0.7, 0.2], requires_grad=True)
    names = [w, torch.tensor([0.5, 0.1, -0.4]), w * 0.5, torch.ones(3), w + 1]
    history: list[Any] = []

    def act(step: tuple[int, int, int], turn: int) -> None:
        what, one, other = step
        x, y = names[one % len(names)], names[other % len(names)]
        made = (
            lambda: torch.tanh(x + y), lambda: x * y * 0.5, lambda: x - 0.3 * y, lambda: torch.sin(x) * (turn + 1) / 8,
            lambda: torch.where(x > y, x, y * 0.5), lambda: x.sum() * 0.1 + y, lambda: (x[1:].mean() + y) / 2,
        )[what]()  # fmt: skip
        names[1 + (one + other) % (len(names) - 1)] = torch.clamp(made, -2, 2)

    for step in prelude:
        act(step, 0)
    for turn in range(turns):
        for step in body:
            act(step, turn)
        for _ in range(inner):
            act(body[0], 2)
        history.append(names[1])
    loss = sum((name * name).sum() for name in names) + torch.stack(history).sum()
    loss.backward()
    return [*names[1:], *history, w.grad]


@examples(max_examples=25, deadline=None)
@given(prelude=bodies(), body=bodies(), turns=st.integers(3, 7), inner=st.sampled_from((0, 0, 3)))
def test_random_loops(prelude: Any, body: Any, turns: int, inner: int) -> None:
    kept = settings.turns, forest._roots
    found = []
    try:
        for least in (3, 0):
            settings.turns, forest._roots = least, {}
            found.append([x.detach().numpy().copy() for x in interpreted(prelude, body, turns, inner)])
    finally:
        settings.turns, forest._roots = kept
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("turns", "is_loop"), [(10, True), (6, False)])
def test_somewhat_many_turns_of_somewhat_many_instructions_are_a_loop(
    turns: int, is_loop: bool, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "turns", 16)
    names = random.Random(turns).choices(["sin", "cos", "tanh", "atan", "erf", "sigmoid"], k=26)
    x = torch.linspace(-1, 1, 3)
    for _ in range(turns):
        for name in names:
            x = getattr(torch, name)(x)
    x.sum().item()
    before, after = lines.lengths[-1]
    assert (after < before / 5) is is_loop
