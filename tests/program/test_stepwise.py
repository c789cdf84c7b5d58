"""Programs that hardly ever come back are run an instruction at a time, by executables that serve all of them."""

from __future__ import annotations

import random
from typing import Any

import jax
import numpy as np
import pytest

import funcgrad as torch
from funcgrad import nn
from funcgrad._base.bounded import Bounded
from funcgrad._base.config import settings
from funcgrad._program import parts, plan, stepwise
from funcgrad._program.compiling import QUICKLY
from funcgrad._program.counters import counted
from funcgrad._program.journal import Journal
from funcgrad._program.lengths.family import forget_lengths
from funcgrad._program.primitives import products_in
from funcgrad._program.record import fresh_program
from funcgrad._program.trie import forest
from tests.program.trainings import losses_of, recorded
from tests.program.varying import RecursiveNet
from tests.program.varying import forest as forest_of_trees


def test_trees_of_many_shapes() -> None:
    net, losses, parts = RecursiveNet(torch), [], []
    for tree in forest_of_trees(20):
        with counted() as seen:
            losses.append(net.step(tree))
        parts.append(seen.parts)
    assert sum(parts[-4:]) <= 4  # an odd shape here and there
    assert losses == pytest.approx(recorded("trees"), rel=1e-5)


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
        stepwise.note_plan(made, length, is_long=True)
    assert stepwise.seldom_come_back(is_long=True) is seldom
    stepwise.forget_plans()


def test_kinds_that_no_program_had_are_compiled_with_their_program(monkeypatch: pytest.MonkeyPatch) -> None:
    stepwise.forget_plans()
    monkeypatch.setattr(plan, "seldom_come_back", lambda *, is_long: True)
    functions = torch.sin, torch.cos, torch.tanh, torch.exp, torch.sigmoid, torch.relu, torch.abs, torch.neg

    def parts_of(size: int, order: int) -> int:
        x = torch.ones(size)
        with counted() as seen:
            for function in functions[order:] + functions[:order]:
                x = function(x)
            x.tolist()
        return seen.parts

    assert parts_of(11, 0) == 0
    assert parts_of(11, 3) == 9  # another order of the same kinds; and the ones that they begin with
    assert parts_of(13, 0) == 0
    stepwise.forget_plans()


def test_a_default_dtype_is_part_of_a_kind() -> None:
    def root(dtype: torch.dtype) -> Any:
        torch.set_default_dtype(dtype)
        try:
            return torch.sqrt(torch.arange(1, 4)).numpy().dtype
        finally:
            torch.set_default_dtype(torch.float32)

    assert [root(torch.float32), root(torch.float64)] == ["float32", "float64"]


def turned(turns: int) -> float:
    """Take a step of a small recurrent net over so many turns; return the loss."""
    torch.manual_seed(0)
    inward, onward = nn.Linear(3, 4), nn.Linear(4, 4)
    optimizer = torch.optim.SGD([*inward.parameters(), *onward.parameters()], lr=0.1)
    x, h = torch.ones(2, 3), torch.zeros(2, 4)
    for turn in range(turns):
        h = torch.tanh(inward(x * turn) + onward(h)) + h
    loss = h.square().mean()
    loss.backward()
    optimizer.step()
    return (loss.detach() + onward.weight.detach().sum()).item()


def worth_after(runs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a compile of the whole worth it after so many runs, where nothing has much to compute."""
    monkeypatch.setattr(stepwise, "COMPILE", (runs - 0.5) * stepwise.PAID * stepwise._CALL)


def test_a_few_turns_of_a_loop_are_compiled_whole_once_they_cost_what_that_costs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    worth_after(3, monkeypatch)
    found, counts = [], []
    for _ in range(6):
        with counted() as seen:
            found.append(turned(11))
        counts.append((seen.compiles, seen.parts > 0))
    assert found == pytest.approx([found[0]] * 6)
    assert counts[0][1] and counts[1:] == [(0, False), (0, False), (1, False), (0, False), (0, False)]


def test_a_few_turns_of_a_loop_are_not_compiled_whole_while_others_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "_TURNS", Bounded(512))  # an earlier test turned as well
    turns = [5, 7, 6, 9, 8, 10, 4]
    for count in turns:
        turned(count)
    with counted() as seen:
        found = [turned(count) for count in turns * 4]
    assert seen.parts == seen.compiles == 0
    monkeypatch.setattr(settings, "turns", 0)
    monkeypatch.setattr(forest, "_roots", {})
    assert found == pytest.approx([turned(count) for count in turns] * 4, rel=1e-5)


@pytest.mark.usefixtures("hosted")
def test_long_turns_of_a_loop_are_turns_too_if_they_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    inward, onward = nn.Linear(3, 4), nn.Linear(4, 4)
    monkeypatch.setattr(plan, "LONG", 64)  # as if these turns of a dozen instructions were long

    def written_out(turns: int) -> float:
        """Run two loops, of which one turns as often and one less often, with other things in between."""
        h, x = torch.zeros(2, 4), torch.ones(2, 3)
        for turn in range(turns):
            h = torch.tanh(inward(x * turn) + onward(h)).sigmoid().exp().sin() + h
        for row in range(2):
            for name in ("sin", "cos", "tanh", "sigmoid", "exp", "neg", "abs", "relu", "erf", "atan", "sinh", "cosh"):
                h = getattr(h.roll(row, 1), name)() + h.flip(0) / (2 + row)
        for turn in range(turns - 1):
            h = onward(h).cos().tanh().square().neg() - inward(x / (1 + turn)).relu().exp().log1p()
        return h.square().mean().item()

    Journal.compiles.clear()
    found = [written_out(turns) for turns in (5, 7, 6, 5, 7)]
    whys = [compile.reason for compile in Journal.compiles]
    assert all("it is a few turns of a loop" in why for why in whys), whys
    monkeypatch.setattr(settings, "eager", True)
    assert found == pytest.approx([written_out(turns) for turns in (5, 7, 6, 5, 7)], rel=1e-5)


@pytest.mark.usefixtures("hosted")
def test_whole_numbers_of_a_step_are_where_its_compiled_program_will_have_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stepwise, "COMPILE", 2.5 * stepwise.PAID * stepwise._CALL)
    torch.manual_seed(0)
    lookup, text = nn.Embedding(9, 4), torch.randint(0, 9, (27000,))
    optimizer = torch.optim.SGD(lookup.parameters(), lr=0.1)
    words = torch.stack([text[i : i + 3] for i in range(8)])
    compiles = []
    for _ in range(32):
        for _ in range(4):
            mean = lookup(words.view(-1)).sigmoid().mean().exp()
            out = lookup(words).sum(1).tanh().cos().sin().exp().sigmoid() + mean
            words = torch.stack([text[i : i + 3] for i in torch.randint(0, 27000 - 3, (8,))])
            out.square().mean().backward()
        with counted() as seen:
            optimizer.step()
            optimizer.zero_grad()
        compiles.append(seen.compiles)
    assert sum(compiles[1:]) == 1, compiles  # once it was run often; not again for words that XLA gave


@pytest.mark.usefixtures("hosted")
def test_a_solver_that_takes_some_steps_anew_is_a_loop_backwards_too() -> None:
    rate = torch.tensor(2.0, requires_grad=True)

    def field(y: torch.Tensor) -> torch.Tensor:
        return torch.stack([y[1], rate * (1 - y[0] ** 2) * y[1] - y[0]])

    def solved(size: float) -> torch.Tensor:
        y, time = torch.tensor([2.0, 0.0]), 0.0
        while time < 2:
            stages = [field(y)]
            for _ in range(5):
                stages.append(field(y + size * sum(stages) / len(stages)))
            error = (stages[-1] - stages[-2]).abs().max().item() * size
            if error < 0.02:
                time, y = time + size, y + size * sum(stages) / len(stages)
            size *= min(2, max(0.5, 0.8 * (0.02 / (error + 1e-9)) ** 0.5))
        return y[0]

    end = solved(0.4)
    Journal.compiles.clear()
    end.backward()
    assert rate.grad is not None and rate.grad.isfinite().item()
    assert not Journal.compiles, Journal.compiles  # numpy ran it an instruction at a time


def test_the_layers_of_a_deep_net_are_no_turns() -> None:
    layers = nn.Sequential(*[nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.LayerNorm(4)) for _ in range(12)])
    with counted() as seen:
        layers(torch.ones(2, 4)).sum().backward()
        layers[0][0].weight.grad.sum().item()
    assert (seen.compiles, seen.parts) == (1, 0)


def steps(weights: torch.Tensor) -> float:
    """Return what thirteen turns give, at another number each."""
    x = torch.ones(3)
    for i in (7, 3, 11, 2, 5, 13, 8, 1, 4, 6, 9, 10, 12):
        x = torch.tanh(x * weights[i]) + x
    return x.sum().item()


def test_a_program_that_does_come_back_is_compiled_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "seldom_come_back", lambda **_: True)
    monkeypatch.setattr(forest, "_roots", {})
    worth_after(20, monkeypatch)
    weights = torch.arange(30.0).sin()
    weights.sum().item()
    values, compiles = [], []
    for _ in range(26):
        with counted() as seen:
            values.append(steps(weights))
        compiles.append(seen.compiles)
    assert values == pytest.approx([values[0]] * len(values))
    assert [i for i, count in enumerate(compiles) if count] == [0, 20]


@pytest.fixture
def hosted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let numpy run what it may; no length was seen before."""
    monkeypatch.setattr(settings, "host", True)
    monkeypatch.setattr(forest, "_roots", {})
    forget_lengths()


def trained_on(name: str) -> tuple[list[float], list[str]]:
    """Train a net on batches of other sizes; return the losses, which are torch's, and why programs were planned."""
    Journal.compiles.clear()
    losses = losses_of(torch, name)
    assert losses == pytest.approx(recorded(name), rel=1e-5)
    return losses, [made.reason for made in Journal.compiles]


@pytest.mark.usefixtures("hosted")
def test_a_ragged_batch_is_run_by_numpy_an_instruction_at_a_time() -> None:
    with counted() as seen:
        losses, reasons = trained_on("ragged_now_and_then")
    assert len(reasons) == 2 and "came at another length" in reasons[1]
    assert seen.parts == 0
    assert trained_on("ragged_now_and_then")[0] == losses  # to the last digit


@pytest.mark.usefixtures("hosted")
def test_a_third_length_has_an_executable_that_serves_many() -> None:
    _, reasons = trained_on("ragged_each_time")
    assert len(reasons) == 3 and "compiled for lengths up to 32" in reasons[2]


@pytest.mark.usefixtures("hosted")
def test_numbers_that_change_are_no_lengths() -> None:
    net = nn.Sequential(*[nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4), nn.Tanh()) for _ in range(4)])
    optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
    Journal.compiles.clear()
    for scale in (1.0, 2.0, 3.0, 4.0):
        (net(torch.ones(16, 4)) * scale).square().mean().backward()
        optimizer.step()
        net[0][0].weight.sum().item()
    whole = [made for made in Journal.compiles if made.instructions > 40]
    assert len(whole) >= 2 and not any("an instruction at a time" in made.reason for made in whole)


@pytest.mark.usefixtures("hosted")
def test_a_length_that_comes_often_is_compiled_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stepwise, "_worth", lambda steps, size: stepwise._RUNS)
    _, reasons = trained_on("ragged_often")
    assert len(reasons) == 3 and "came at another length" in reasons[1] and reasons[2] == "it is run often"


def test_what_needs_no_compile_an_instruction_at_a_time_is_run_so_at_first_sight(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def steps(seed: int) -> float:
        x = torch.ones(3)
        for name in random.Random(seed).choices(["sin", "tanh", "cos", "atan"], k=30):
            x = getattr(torch, name)(x)
        return x.sum().item()

    with monkeypatch.context() as patched:
        patched.setattr(plan, "seldom_come_back", lambda **_: True)
        steps(0)
    with counted() as seen:
        found = steps(1)
    assert seen.parts == 0 and "an instruction at a time" in Journal.compiles[-1].reason
    monkeypatch.setattr(settings, "eager", True)
    assert found == pytest.approx(steps(1))


def test_a_long_program_of_which_hardly_an_instruction_is_new_is_run_so_at_first_sight(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def steps(seed: int, last: str) -> float:
        x = torch.ones(3, requires_grad=True)
        for name in random.Random(seed).choices(["sin", "tanh", "cos", "atan"], k=130):
            x = getattr(torch, name)(x)
        return getattr(torch, last)(x).sum().item()

    monkeypatch.setattr(settings, "host", True)
    with monkeypatch.context() as patched:
        patched.setattr(plan, "seldom_come_back", lambda **_: True)
        patched.setattr(plan, "is_novel", lambda _: False)
        steps(0, "exp")
    with counted() as seen:
        found = steps(1, "log1p")
    assert seen.compiles == 0
    monkeypatch.setattr(settings, "eager", True)
    assert found == pytest.approx(steps(1, "log1p"))


def test_a_known_line_is_not_compiled_in_parts_for_the_few_loops_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def steps(seed: int) -> float:
        x = torch.ones(3, requires_grad=True)
        for name in random.Random(seed).choices(["sin", "tanh", "cos", "atan"], k=600):
            x = getattr(torch, name)(x)
        return x.sum().item()

    monkeypatch.setattr(settings, "host", True)
    with monkeypatch.context() as patched:
        patched.setattr(plan, "seldom_come_back", lambda **_: True)
        patched.setattr(plan, "is_novel", lambda _: False)
        steps(0)
    monkeypatch.setattr(plan, "turns_vary", lambda _: True)
    with counted() as seen:
        found = steps(1)
    assert seen.compiles == seen.parts == 0
    monkeypatch.setattr(settings, "eager", True)
    assert found == pytest.approx(steps(1))


def test_long_programs_that_come_in_turn_are_kept_once_one_came_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forest, "_room", 512)
    monkeypatch.setattr(forest, "_dropped", set())
    monkeypatch.setattr(forest, "_roots", {})
    turns = [5, 6, 7, 8, 9, 10]
    misses = []
    for _ in range(6):
        with counted() as seen:
            for count in turns:
                turned(count)
        misses.append(seen.misses)
    assert misses[1] > 0 and misses[-1] == 0


def test_programs_without_an_executable_of_their_own_do_not_count_as_compiled_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(settings, "programs", 4)
    monkeypatch.setattr(forest, "_roots", {})
    fresh_program()
    misses = []
    for _ in range(2):
        with counted() as seen:
            for count in range(5, 13):
                turned(count)
        misses.append(seen.misses)
    assert misses[0] > 0 and misses[1] == 0


def _windows(series: torch.Tensor) -> torch.Tensor:
    return torch.stack([series[i : i + 5] * 2 for i in range(40)])


def test_data_that_numpy_can_prepare_is_not_compiled_at_first_sight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "host", True)
    with counted() as cost:
        made = _windows(torch.sin(torch.arange(60.0))).tolist()
    assert cost.compiles == 0 and cost.runs == 1
    expected = np.lib.stride_tricks.sliding_window_view(np.sin(np.arange(60, dtype=np.float32)), 5)[:40] * 2
    np.testing.assert_allclose(made, expected, rtol=1e-6)


def test_what_a_product_takes_is_part_of_a_run() -> None:
    """The gradient of a kernel is small and takes long: it is compiled as well as any, and not run often one by one."""

    def worth_of(size: int) -> tuple[int, float]:
        x, kernel = torch.ones(8, 32, size, size), torch.ones(32, 32, 3, 3)
        traced = jax.jit(lambda x, y: jax.vjp(lambda y: convolved(x, y), y)[1](x)).trace(x.jax(), kernel.jax())
        return products_in(traced.jaxpr.jaxpr), 8 * 32 * size * size * 32 * 9

    def convolved(x: jax.Array, kernel: jax.Array) -> jax.Array:
        return jax.lax.conv_general_dilated(x, kernel, (1, 1), [(1, 1), (1, 1)])

    for size in (8, 16):
        found, forward = worth_of(size)
        assert found == 2 * forward
    looped = jax.make_jaxpr(lambda x: jax.lax.scan(lambda h, _: (h @ x, None), x, None, length=5)[0])(
        jax.numpy.ones((4, 4))
    )
    assert products_in(looped.jaxpr) == 5 * 4**3


def test_images_that_a_loop_makes_up_are_painted_by_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled whole, the thousand instructions of fifty images would never come back."""
    monkeypatch.setattr(settings, "host", True)
    stepwise.forget_plans()
    with counted() as seen:
        found = losses_of(torch, "painted")
    assert (seen.compiles, seen.parts) == (0, 0)
    assert found == pytest.approx(recorded("painted"), rel=1e-6)


def test_weights_that_are_averaged_at_each_step_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many small instructions of few kinds, but each reads leaves of its own."""
    monkeypatch.setattr(settings, "host", True)
    stepwise.forget_plans()
    ours, theirs = ([torch.tensor([float(i)] * 4) for i in range(60)] for _ in range(2))
    for one, other in zip(ours, theirs, strict=True):
        one.mul_(0.9).add_(other, alpha=0.1)
    with counted() as seen:
        torch.stack(ours).sum().item()
    assert seen.compiles > 0


def test_a_depthwise_convolution_by_itself_is_compiled_with_optimisations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its result is small, but there is an image for each place of its kernel: it took ten times as long."""
    asked, jit = [], jax.jit

    def noted(function: Any, **given: Any) -> Any:
        if "compiler_options" in given:
            asked.append(given["compiler_options"].items() >= QUICKLY.items())
        return jit(function, **given)

    class Noted:
        jit = staticmethod(noted)

        def __getattr__(self, name: str) -> Any:
            return getattr(jax, name)

    def one_at_a_time(groups: int) -> list[bool]:
        torch.manual_seed(0)
        kernel, scale = torch.rand(8, 8 // groups, 3, 3), torch.tensor(0.5, requires_grad=True)
        x = torch.rand(16, 8, 16, 16) * scale
        for _ in range(8):
            x = torch.tanh(torch.conv2d(x, kernel, padding=1, groups=groups) * scale)
        asked.clear()
        x.sum().backward()
        assert scale.grad is not None
        scale.grad.item()
        return list(asked)

    stepwise.forget_plans()
    monkeypatch.setattr(stepwise, "jax", Noted())
    one_at_a_time(groups=1)  # from now on the other kinds of instructions have executables
    assert one_at_a_time(groups=8) == [True, False]  # forward, and the gradient of the image


@pytest.mark.usefixtures("hosted")
def test_lengths_found_in_the_data_are_one_program_once_they_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forest, "_roots", {})
    torch.manual_seed(0)
    nets = nn.ModuleList([nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 3)) for _ in range(4)])
    optimizer = torch.optim.SGD(nets.parameters(), lr=0.1)
    x, y = torch.randn(256, 6), torch.randint(0, 3, (256,))

    def reasons(masks: list[torch.Tensor]) -> list[str]:
        known = len(Journal.compiles)
        parts = zip(masks, nets, strict=True)
        loss = torch.stack([nn.functional.cross_entropy(net(x[mask]), y[mask]) for mask, net in parts]).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss.item()
        return [compiled.reason.rpartition("; ")[2] for compiled in list(Journal.compiles)[known:]]

    masks = [mask.clone() for mask in torch.randint(0, 4, (256,)) == torch.arange(4)[:, None]]
    assert reasons(masks)[-1:] == ["run an instruction at a time, since its lengths were found in the data"]
    assert [reasons(masks), reasons(masks)] == [["run by numpy until it has run often"], []]


@pytest.mark.usefixtures("hosted")
def test_steps_that_give_many_parts_away_compile_once() -> None:
    x, w = torch.linspace(0.0, 1.0, 40).requires_grad_(), torch.nn.Parameter(torch.ones(40, 40))
    optimizer = torch.optim.SGD([w], 0.01)

    def off() -> float:
        """Train one step; return by how much the sum of the parts is another than the loss."""
        hidden = torch.tanh(w @ x)
        loss = hidden.sum()
        optimizer.zero_grad()
        loss.backward()
        parts = list(hidden)
        optimizer.step()
        return abs(sum(float(part) for part in parts) - loss.item())

    first = [off() for _ in range(2)]
    with counted() as now:
        later = [off() for _ in range(4)]
    assert now.compiles == 0 and now.runs >= 4 and max(first + later) < 1e-4


@pytest.mark.usefixtures("hosted")
def test_a_line_in_which_numpy_has_nothing_to_do_can_be_run_so_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "seldom_come_back", lambda **_: True)
    for seed in range(3):
        row = torch.rand(300_000)
        expected, copied = row.numpy().copy(), row
        for is_clone in random.Random(seed).choices([True, False], k=12):
            copied = copied.clone() if is_clone else copied.detach().expand(300_000)
        assert copied.tolist() == expected.tolist()
