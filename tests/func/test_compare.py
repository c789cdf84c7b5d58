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
from funcgrad.func.compare import matched
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


@pytest.mark.parametrize(
    "name", ["maml", *[pytest.param(n, marks=pytest.mark.thorough) for n in ("gcn", "resnet", "vae")]]
)
def test_a_script_runs_unchanged_beside_its_twin(name: str, tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    page = tmp_path / "page.html"
    words = ["-m", "funcgrad", "compare", f"examples/scripts/{name}.py", f"examples/twins/{name}.py"]
    words += ["--steps", "6", "--out", str(page)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run([sys.executable, *words], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    parted = dict(re.findall(r"^(\w+): part at step \d+ in .* by .*; at most (\S+) later$", ran.stdout, re.MULTILINE))
    equal = re.findall(r"^(\w+): equal to the last bit", ran.stdout, re.MULTILINE)
    assert {*parted, *equal} == {"loss", "gradients", "parameters", "optimizer"}, ran.stdout
    scale = max(1.0, float(re.search(r"last loss +(\S+)", ran.stdout)[1]))  # type: ignore[index]  # it is there
    assert max(map(float, parted.values()), default=0.0) < 1e-4 * scale, ran.stdout
    assert "only in one of the two" not in ran.stdout
    assert page.read_text().count("<svg") == 4


def test_paths_that_are_alike_find_their_own_partners() -> None:
    left = dict.fromkeys(["Net/bn/weight", "Net/layer/bn/weight"], np.zeros(3))
    right = dict.fromkeys(["model/bn.weight", "model/layer.bn.weight"], np.zeros(3))
    pairs, lonely = matched(left, right)
    assert sorted(pairs) == [("Net/bn/weight", "model/bn.weight"), ("Net/layer/bn/weight", "model/layer.bn.weight")]
    assert lonely == []
