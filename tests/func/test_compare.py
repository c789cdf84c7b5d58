"""compare: where a stateful and a functional step part, what each costs, and the page that shows it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import funcgrad as torch
from funcgrad import func, nn
from funcgrad.explain.compare_scripts import Twin
from funcgrad.explain.steps import Enough, Steps
from funcgrad.func.compare import Style, compared, matched, pure
from funcgrad.nn import functional as F


def setting() -> tuple[Any, Any, list[Any]]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

    def step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return model, step, [(torch.randn(32, 8), torch.randn(32, 1)) for _ in range(4)]


def twin(model: Any, learning_rate: float) -> tuple[Any, Any]:
    weights = {name: jnp.array(p.detach().numpy()) for name, p in model.named_parameters()}
    adam = optax.adam(learning_rate)

    def loss_of(weights: Any, x: Any, y: Any) -> Any:
        hidden = jnp.tanh(x @ weights["0.weight"].T + weights["0.bias"])
        return ((hidden @ weights["2.weight"].T + weights["2.bias"] - y) ** 2).mean()

    @jax.jit
    def step(state: Any, x: Any, y: Any) -> Any:
        loss, grads = jax.value_and_grad(loss_of)(state["weights"], x, y)
        updates, inner = adam.update(grads, state["opt"], state["weights"])
        return {"weights": optax.apply_updates(state["weights"], updates), "opt": inner}, loss, grads

    return step, {"weights": weights, "opt": adam.init(weights)}


def test_the_exported_step_never_parts() -> None:
    _, step, data = setting()
    pure, _ = func.export(step, *data[0])
    found = func.compare(step, jax.jit(pure), data=data, steps=6)
    assert [p.step for p in found.partings] == [None] * 4
    assert found.unmatched == [] and len(found.stateful.losses) == 6
    assert "parameters: equal to the last bit in all 6 steps" in str(found)


def test_a_twin_in_optax_is_matched_and_a_wrong_rate_is_seen_where_it_starts() -> None:
    model, step, data = setting()
    before = [p.tolist() for p in model.parameters()]
    functional, state = twin(model, 1e-2)
    found = func.compare(step, functional, data=data, steps=5, state=state)
    assert max(p.largest for p in found.partings) < 1e-5
    compared = found.differences[0].keys()
    assert {"loss", "grad/model/0/weight", "model/0/weight", "optimizer/exp_avg/0/weight"} <= compared
    assert [p.tolist() for p in model.parameters()] == before

    functional, state = twin(model, 2e-2)
    parted = {p.kind: p for p in func.compare(step, functional, data=data, steps=5, state=state).partings}
    assert parted["parameters"].step == 0 and parted["parameters"].difference == pytest.approx(1e-2, rel=0.1)
    assert parted["loss"].largest > 1e-3


def test_what_a_step_held_is_not_what_the_comparison_keeps() -> None:
    _, step, data = setting()
    pure, _ = func.export(step, *data[0])
    found = func.compare(step, jax.jit(pure), data=data[:1], steps=9)
    for style in (found.stateful, found.functional):
        assert style.live_bytes[2] == style.live_bytes[-1], style.live_bytes


def test_the_page_stands_alone(tmp_path: Any) -> None:
    model, step, data = setting()
    functional, state = twin(model, 1e-2)
    found = func.compare(step, functional, data=data, steps=3, state=state)
    found.save(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert page.count("<svg") == 4 and "http" not in page.replace("http://www.w3.org", "")
    assert page.count("<pre>") == 2 and "tanh" in page
    assert np.isfinite(found.stateful.usual) and found.functional.programs >= 1


ROOT = Path(__file__).resolve().parents[2]


def test_a_script_runs_unchanged_beside_its_twin_and_makes_a_page(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    words = ["-m", "funcgrad", "compare", "examples/scripts/maml.py", "examples/twins/maml.py"]
    words += ["--steps", "6", "--out", str(page)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run([sys.executable, *words], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    parted = dict(re.findall(r"^(\w+): part at step \d+ in .* by .*; at most (\S+) later$", ran.stdout, re.MULTILINE))
    equal = re.findall(r"^(\w+): equal to the last bit", ran.stdout, re.MULTILINE)
    assert {*parted, *equal} == {"loss", "gradients", "parameters", "optimizer"}, ran.stdout
    assert max(map(float, parted.values()), default=0.0) < 1e-4, ran.stdout
    assert page.read_text().count("<svg") == 4


def test_a_generator_of_batches_is_sent_the_state_of_the_step_before() -> None:
    def doubled(state: Any, x: Any) -> Any:
        return state * 2, (state * x).sum()

    def play() -> Any:
        state = jnp.ones(())
        for _ in range(3):
            state = yield (state + 1,)
        yield from iter([(jnp.zeros(()),), (jnp.ones(()),)])  # data that asks for nothing

    losses = [loss for loss, _, _ in pure(doubled, jnp.ones(()), play())]
    assert losses == [2.0, 6.0, 20.0, 0.0, 16.0]


def test_what_no_step_changes_needs_no_partner() -> None:
    style = Style("", [0.0] * 2, [0.0] * 2, [0] * 2, 0, "")
    moving = [{"loss": np.zeros(()), "w": np.full(2, float(i)), "mask": np.ones(3)} for i in range(2)]
    still = [{"loss": np.zeros(()), "memory": np.full(4, float(i))} for i in range(2)]
    assert compared(style, moving, style, still).unmatched == ["memory", "w"]


def test_a_twin_of_several_phases_is_told_what_each_left() -> None:
    def setup() -> Any:
        def step(state: Any, x: Any) -> Any:
            return state + x, state.sum()

        left = yield step, jnp.zeros(()), iter([(1.0,)] * 2)
        yield step, left * 10, iter([(1.0,)] * 2)

    twin = Twin(setup)
    assert [loss for loss, _, _ in twin.run()] == [0.0, 1.0, 20.0, 21.0]
    assert twin.first[2] == (1.0,)


def test_steps_that_a_script_takes_by_hand_are_seen() -> None:
    w, steps = torch.ones(2, requires_grad=True), Steps(3)
    with pytest.raises(Enough), steps.watched():
        for _ in range(9):
            loss = (w * w).sum()
            loss.backward()
            with torch.no_grad():
                w -= 0.25 * w.grad  # type: ignore[operator]  # it is there
                w.grad.zero_()  # type: ignore[union-attr]
    assert steps.ran.losses == [2.0, 0.5, 0.125]
    (name,) = steps.trees[0].keys() - {"loss", "grad/params/0"}
    assert [tree[name].tolist() for tree in steps.trees] == [[0.5] * 2, [0.25] * 2, [0.125] * 2]
    assert steps.trees[1]["grad/params/0"].tolist() == [1.0, 1.0]


def test_paths_that_are_alike_find_their_own_partners() -> None:
    left = dict.fromkeys(["Net/bn/weight", "Net/layer/bn/weight"], np.zeros(3))
    right = dict.fromkeys(["model/bn.weight", "model/layer.bn.weight"], np.zeros(3))
    pairs, lonely = matched(left, right)
    assert sorted(pairs) == [("Net/bn/weight", "model/bn.weight"), ("Net/layer/bn/weight", "model/layer.bn.weight")]
    assert lonely == []
