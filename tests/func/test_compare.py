"""compare: where a stateful and a functional step part, what each costs, and the page that shows it."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import funcgrad as torch
from funcgrad import func, nn
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
