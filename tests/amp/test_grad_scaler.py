"""A GradScaler goes torch's way, step for step, and asks the device for no number meanwhile."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import funcgrad as torch
from funcgrad._program.counters import counted
from tests.amp import cases

RECORDED = json.loads((Path(__file__).parent / "recorded.json").read_text())["scaled"]


def made(**options: Any) -> tuple[torch.nn.Module, torch.optim.Optimizer, Any]:
    model = torch.nn.Linear(4, 3)
    return model, torch.optim.Adam(model.parameters()), torch.amp.GradScaler("cpu", **options)


@pytest.mark.parametrize("which", cases.OVERFLOWS)
@pytest.mark.parametrize("name", cases.OPTIMIZERS)
def test_weights_and_scales_are_torchs(name: str, which: str) -> None:
    found, wanted = cases.scaled(torch, name, cases.OVERFLOWS[which]), RECORDED[f"{name}, {which}"]
    assert found["scales"] == wanted["scales"]
    np.testing.assert_allclose(found["weights"], wanted["weights"], rtol=1e-5, atol=1e-6)


def test_an_overflow_changes_neither_parameters_nor_state() -> None:
    model, optimizer, scaler = made()
    x = torch.randn(2, 4)

    def turn(factor: float) -> None:
        optimizer.zero_grad()
        scaler.scale(model(x).sum() * factor).backward()
        scaler.step(optimizer)
        scaler.update()

    turn(1.0)
    weight, state = model.weight.detach().clone(), copy.deepcopy(optimizer.state_dict())
    turn(float("nan"))
    assert torch.equal(model.weight, weight)
    for place, kept in optimizer.state_dict()["state"].items():
        assert all(torch.equal(kept[key], state["state"][place][key]) for key in kept)
    assert scaler.get_scale() == 2.0**15
    turn(1.0)
    assert not torch.equal(model.weight, weight)


def test_a_scaled_step_is_one_program_and_no_number_comes_over() -> None:
    model, optimizer, scaler = made(growth_interval=2)
    x, infinite = torch.randn(2, 4), torch.tensor([1.0, float("inf"), 1.0, 1.0, 1.0, 1.0])
    for step in range(6):
        with counted() as cost:
            optimizer.zero_grad()
            scaler.scale((model(x) * infinite[step]).sum()).backward()
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
        if step > 2:
            assert (cost.runs, cost.compiles, cost.misses) == (1, 0, 0)


def test_an_optimizer_of_ones_own_is_not_stepped_where_gradients_overflow() -> None:
    class Own(torch.optim.Optimizer):
        steps = 0

        def __init__(self, params: Any) -> None:
            super().__init__(params, {})

        def step(self, closure: Any = None) -> None:
            self.steps += 1

    model = torch.nn.Linear(2, 1)
    optimizer, scaler = Own(model.parameters()), torch.amp.GradScaler("cpu")
    for factor in (1.0, float("inf")):
        optimizer.zero_grad()
        scaler.scale(model(torch.ones(1, 2)).sum() * factor).backward()
        scaler.step(optimizer)
        scaler.update()
    assert optimizer.steps == 1


def test_optax_transformations_skip_too() -> None:
    optax = pytest.importorskip("optax")
    model = torch.nn.Linear(2, 1)
    optimizer, scaler = torch.optim.Optax(model.parameters(), optax.adam(0.1)), torch.amp.GradScaler("cpu")
    before = model.weight.detach().clone()
    scaler.scale(model(torch.ones(1, 2)).sum() * float("inf")).backward()
    scaler.step(optimizer)
    scaler.update()
    assert torch.equal(model.weight, before)
    assert all(torch.isfinite(leaf).all() for leaf in optimizer.state["optax"])


def test_state_travels() -> None:
    model, optimizer, scaler = made(init_scale=8.0, growth_interval=5)
    scaler.scale(model(torch.ones(1, 4)).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    state = scaler.state_dict()
    assert state == {
        "scale": 8.0, "growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 5, "_growth_tracker": 1,
    }  # fmt: skip
    other = torch.amp.GradScaler("cpu")
    other.load_state_dict(state)
    assert other.state_dict() == state
    assert pickle.loads(pickle.dumps(scaler)).state_dict() == state
    scaler.update(4.0)
    assert scaler.get_scale() == 4.0
    scaler.update(torch.tensor(2.0))
    assert scaler.get_scale() == 2.0


def test_a_disabled_scaler_does_nothing() -> None:
    model, optimizer, _ = made()
    scaler = torch.amp.GradScaler("cpu", enabled=False)
    loss = model(torch.ones(1, 4)).sum()
    assert scaler.scale(loss) is loss
    loss.backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    assert scaler.get_scale() == 1.0 and scaler.state_dict() == {}


def test_outputs_may_be_nested() -> None:
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0)
    one, (two,) = scaler.scale((torch.ones(1), [torch.ones(1) * 3]))
    assert one.item() == 2 and two.item() == 6
    with pytest.raises(ValueError, match="Tensor or an iterable"):
        scaler.scale(3)


def test_errors_say_what_came_out_of_order() -> None:
    model, optimizer, scaler = made()
    with pytest.raises(AssertionError, match="_scale is None"):
        scaler.step(optimizer)
    scaler.scale(model(torch.ones(1, 4)).sum()).backward()
    with pytest.raises(AssertionError, match="No inf checks were recorded prior to update"):
        scaler.update()
    scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match=r"unscale_\(\) has already been called"):
        scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="Closure use is not currently supported"):
        scaler.step(optimizer, closure=lambda: None)
    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match=r"step\(\) has already been called"):
        scaler.step(optimizer)
    with pytest.raises(RuntimeError, match=r"unscale_\(\) is being called after step"):
        scaler.unscale_(optimizer)
    scaler.update()
    half = torch.nn.Linear(2, 1).half()
    scaler.scale(half(torch.ones(1, 2).half()).sum()).backward()
    with pytest.raises(ValueError, match="Attempting to unscale FP16 gradients"):
        scaler.unscale_(torch.optim.SGD(half.parameters()))
    with pytest.raises(RuntimeError, match="source state dict is empty"):
        scaler.load_state_dict({})


def test_the_stages_of_an_optimizer_have_torchs_name() -> None:
    assert [stage.name for stage in torch.amp.grad_scaler.OptState] == ["READY", "UNSCALED", "STEPPED"]


def test_what_was_found_and_counted_is_told_by_torchs_names() -> None:
    weight = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)
    scaler = torch.amp.GradScaler("cpu")
    assert (scaler._get_growth_tracker(), scaler._found_inf_per_device(optimizer)) == (0, {})
    scaler.scale(weight.sum()).backward()
    scaler.unscale_(optimizer)
    assert repr(scaler._found_inf_per_device(optimizer)) == "{device(type='cpu'): tensor(0.)}"
    scaler.step(optimizer)
    scaler.update()
    assert (scaler._get_growth_tracker(), scaler._found_inf_per_device(optimizer)) == (1, {})
    assert torch.amp.GradScaler("cpu", enabled=False)._get_growth_tracker() == 0
