"""An imperative step as a pure function: the same bits for 50 steps, many seeds at once, saved, and put back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

import funcgrad as torch
from funcgrad import func, nn
from funcgrad.func.export import flattened

Step = Callable[..., Any]


def plain() -> Step:
    model = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

    def step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return step


def everything() -> Step:
    model = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 3))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    warm = torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, total_iters=5)
    scheduler = torch.optim.lr_scheduler.SequentialLR(
        optimizer, [warm, torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 40)], [5]
    )

    def step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        return loss

    return step


def accumulating() -> Step:
    """A step that leaves its gradients for the next one to add to."""
    model = nn.Linear(8, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9)

    def step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return step


def data(steps: int) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(steps, 32, 8), torch.randint(0, 3, (steps, 32))


def arrays_of(state: Any) -> dict[str, np.ndarray]:
    return {path: np.asarray(array) for path, array in flattened(state)}


@pytest.mark.optimised
@pytest.mark.parametrize("make", [plain, everything, accumulating])
@pytest.mark.parametrize("begun", [0, 3])
def test_fifty_steps_are_the_same_to_the_last_bit(make: Callable[[], Step], begun: int) -> None:
    torch.manual_seed(0)
    step = make()
    xs, ys = data(50 + begun)
    for i in range(begun):
        step(xs[i], ys[i])
    pure, state = func.export(step, xs[0], ys[0])
    assert "unnamed" not in state
    jitted = jax.jit(pure)
    found = []
    for x, y in zip(xs[begun:], ys[begun:], strict=True):
        state, loss = jitted(state, x.jax(), y.jax())
        found.append(float(loss))
    assert found == [step(x, y).item() for x, y in zip(xs[begun:], ys[begun:], strict=True)]
    after, now = arrays_of(state), arrays_of(pure.state())
    assert after.keys() == now.keys()
    assert [path for path in after if not np.array_equal(after[path], now[path])] == []


def test_exporting_changes_nothing() -> None:
    torch.manual_seed(0)
    step = everything()
    xs, ys = data(2)
    before = torch.get_rng_state().tolist()
    func.export(step, xs[0], ys[0])
    assert torch.get_rng_state().tolist() == before
    exported = [step(xs[0], ys[0]).item(), step(xs[1], ys[1]).item()]
    torch.manual_seed(0)
    step = everything()
    data(2)
    assert exported == [step(xs[0], ys[0]).item(), step(xs[1], ys[1]).item()]


def test_paths_are_readable() -> None:
    _, state = func.export(everything(), *[t[0] for t in data(1)])
    paths = arrays_of(state)
    assert {"model/0/weight", "model/1/running_mean", "optimizer/exp_avg/0/weight"} <= paths.keys()
    assert {"optimizer/step", "optimizer/lr", "optimizer/betas/0", "scheduler/steps", "random/cpu"} <= paths.keys()
    assert "grad/0/weight" not in paths
    assert state["model"]["0"]["weight"].shape == (16, 8)
    _, state = func.export(accumulating(), *[t[0] for t in data(1)])
    assert "grad/model/weight" in arrays_of(state)


def test_eight_seeds_train_at_once() -> None:
    xs, ys = data(5)
    exports, expected = [], []
    for seed in range(8):
        torch.manual_seed(seed)
        step = everything()
        exports.append(func.export(step, xs[0], ys[0]))
        expected.append([step(x, y).item() for x, y in zip(xs, ys, strict=True)])
    state = jax.tree.map(lambda *leaves: jax.numpy.stack(leaves), *[state for _, state in exports])
    jitted = jax.jit(jax.vmap(exports[0][0], in_axes=(0, None, None)))
    for i in range(5):
        state, losses = jitted(state, xs[i].jax(), ys[i].jax())
        np.testing.assert_allclose(losses, [row[i] for row in expected], rtol=1e-4)


def test_the_step_is_serialised() -> None:
    pytest.importorskip("flatbuffers")  # what jax.export writes with
    step = plain()
    x, y = (t[0] for t in data(1))
    pure, state = func.export(step, x, y)
    saved = jax.export.export(jax.jit(pure))(state, x.jax(), y.jax()).serialize()
    after, loss = jax.export.deserialize(saved).call(state, x.jax(), y.jax())
    expected = step(x, y).item()
    assert float(loss) == expected
    np.testing.assert_allclose(after["model"]["0"]["weight"], pure.state()["model"]["0"]["weight"], rtol=1e-6)


def drawing() -> Step:
    """A step that draws in each way there is."""
    model = nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.2), nn.RReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

    def step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        noisy = x + 0.1 * torch.randn_like(x) * torch.bernoulli(torch.full((32, 8), 0.5))
        chosen = torch.multinomial(torch.ones(32), 16)
        weight = torch.poisson(torch.ones(3)) + torch.multinomial(torch.ones(3).double(), 3, True)
        loss = nn.functional.cross_entropy(model(noisy[chosen]), y[chosen]) * weight.sum() * torch.randint(1, 9, ())
        loss = loss + torch.randperm(5)[0] * torch.rand((), dtype=torch.float64)
        loss.backward()
        optimizer.step()
        return loss

    return step


def test_all_that_a_step_draws_is_drawn_anew_in_each_step() -> None:
    torch.manual_seed(0)
    step = drawing()
    xs, ys = data(3)
    pure, state = func.export(step, xs[0], ys[0])
    jitted, found = jax.jit(pure), []
    for x, y in zip(xs, ys, strict=True):
        state, loss = jitted(state, x.jax(), y.jax())
        found.append(float(loss))
    assert found == pytest.approx([step(x, y).item() for x, y in zip(xs, ys, strict=True)], rel=1e-5)


def test_a_step_that_draws_on_the_device_is_serialised_and_follows_its_key() -> None:
    pytest.importorskip("flatbuffers")  # what jax.export writes with
    torch.manual_seed(0)
    step = drawing()
    x, y = (t[0] for t in data(1))
    before = torch.get_rng_state().tolist()
    pure, state = func.export(step, x, y, random="device")
    assert state["random"].keys() == {"key"} and torch.get_rng_state().tolist() == before
    saved = jax.export.export(jax.jit(pure))(state, x.jax(), y.jax()).serialize()
    after, loss = jax.export.deserialize(saved).call(state, x.jax(), y.jax())
    assert not np.array_equal(after["random"]["key"], state["random"]["key"])
    assert float(jax.jit(pure)(state, x.jax(), y.jax())[1]) == float(loss)
    assert float(pure({**state, "random": after["random"]}, x.jax(), y.jax())[1]) != pytest.approx(float(loss))
    assert float(step(x, y)) != pytest.approx(float(loss))  # torch's numbers, from the CPU's stream
    with pytest.raises(ValueError, match="'cpu'"):
        func.export(step, x, y, random="cpu")


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.int64])
def test_places_of_64_bits_are_found_inside_of_a_users_own_jit(name: str, dtype: torch.dtype) -> None:
    """There JAX's x64 switch is off when the program is lowered."""
    x = torch.tensor([[1, 5, 5], [-3, 7, 2]]).to(dtype)
    step = lambda t: getattr(t, name)(1)  # noqa: E731
    pure, state = func.export(step, x)
    with jax.enable_x64(True):
        given = x.jax()
    assert np.asarray(jax.jit(pure)(state, given)[1]).tolist() == step(x).tolist()


def test_a_state_is_put_back() -> None:
    torch.manual_seed(0)
    step = everything()
    xs, ys = data(6)
    pure, state = func.export(step, xs[0], ys[0])
    for i in range(3):
        state, _ = jax.jit(pure)(state, xs[i].jax(), ys[i].jax())
    func.load_state(pure, state)
    continued = [step(xs[i], ys[i]).item() for i in range(3, 6)]
    torch.manual_seed(0)
    step = everything()
    data(6)
    assert [step(xs[i], ys[i]).item() for i in range(6)][3:] == pytest.approx(continued, rel=1e-5)


def test_numbers_of_the_optimizer_are_part_of_the_state() -> None:
    step = accumulating()
    x, y = (t[0] for t in data(1))
    pure, state = func.export(step, x, y)
    still = {**state, "optimizer": {**state["optimizer"], "lr": np.float64(0)}}
    after, _ = pure(still, x.jax(), y.jax())
    assert np.array_equal(after["model"]["weight"], state["model"]["weight"])


def branching(x: torch.Tensor) -> torch.Tensor:
    loss = (x * weight).sum()
    if loss > 0:
        loss = loss * 2
    return loss


def reading(x: torch.Tensor) -> float:
    return (x * weight).sum().item()


weight = torch.ones(3, requires_grad=True)


@pytest.mark.parametrize(("step", "line"), [(branching, "if loss > 0:"), (reading, "return (x * weight).sum().item()")])
def test_a_step_that_looks_at_numbers_is_refused_with_the_line(step: Step, line: str) -> None:
    with pytest.raises(func.ExportError) as caught:
        func.export(step, torch.ones(3))
    assert f"`{line}`" in str(caught.value) and __file__ in str(caught.value)
    assert weight.tolist() == [1.0, 1.0, 1.0]


def test_a_metric_that_a_scheduler_reads_is_refused() -> None:
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)

    def step(x: torch.Tensor) -> None:
        loss = model(x).sum()
        loss.backward()
        optimizer.step()
        scheduler.step(loss)

    with pytest.raises(func.ExportError, match=r"scheduler.step\(loss\)"):
        func.export(step, torch.ones(3, 2))
