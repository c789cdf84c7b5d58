"""Any optax transformation steps imperative code as it steps a pure function."""

from __future__ import annotations

import copy
from typing import Any

import jax.numpy as jnp
import numpy as np
import optax
import pytest

import funcgrad as torch
from funcgrad._program.counters import counted
from tests.optim.running import parameter

TRANSFORMATIONS = {
    "sgd": optax.sgd(0.1),
    "lion": optax.lion(0.01),
    "adamw": optax.adamw(0.05, weight_decay=0.1),
    "clipped, scheduled": optax.chain(optax.clip_by_global_norm(1.0), optax.adam(optax.cosine_decay_schedule(0.1, 10))),
    "lookahead-like mean": optax.chain(optax.sgd(0.1), optax.ema(0.9)),
}
START = [np.array([[1.0, -2.0], [0.5, 3.0]], "float32"), np.array([4.0], "float32")]


def loss_of(weight: Any, bias: Any) -> Any:
    return ((weight * weight).sum() - bias.sum()) ** 2


def train(optimizer: Any, params: list[torch.Tensor], times: int) -> None:
    for _ in range(times):
        optimizer.zero_grad()
        loss_of(*params).backward()
        optimizer.step()


@pytest.mark.parametrize("name", list(TRANSFORMATIONS))
def test_it_steps_as_the_pure_function_does(name: str) -> None:
    transformation = TRANSFORMATIONS[name]
    params = [parameter(array) for array in START]
    optimizer = torch.optim.Optax(params, transformation)
    with counted() as seen:
        train(optimizer, params, 4)
    assert seen.compiles == 1
    pure = [jnp.asarray(array) for array in START]
    state = transformation.init(pure)
    for _ in range(4):
        weight, bias = pure
        inner = 2 * ((weight * weight).sum() - bias.sum())
        gradients = [inner * 2 * weight, jnp.full_like(bias, -inner)]
        updates, state = transformation.update(gradients, state, pure)
        pure = optax.apply_updates(pure, updates)
    for ours, wanted in zip(params, pure, strict=True):
        np.testing.assert_allclose(ours.detach().numpy(), wanted, rtol=2e-5)


def test_a_parameter_without_gradient_stays() -> None:
    weight, bias = (parameter(array) for array in START)
    optimizer = torch.optim.Optax([weight, bias], optax.adamw(0.1, weight_decay=0.5))
    (weight * weight).sum().backward()
    optimizer.step()
    assert bias.tolist() == [4.0]
    assert weight.tolist() != START[0].tolist()


def test_injected_numbers_are_changed_in_place() -> None:
    w = parameter([1.0])
    optimizer = torch.optim.Optax([w], optax.inject_hyperparams(optax.sgd)(learning_rate=0.5))
    optimizer.hyperparams["learning_rate"].fill_(0.25)
    w.grad = torch.ones(1)
    optimizer.step()
    assert w.tolist() == [0.75]


def test_a_checkpoint_goes_on_where_it_was() -> None:
    params = [parameter(array) for array in START]
    optimizer = torch.optim.Optax(params, TRANSFORMATIONS["adamw"])
    train(optimizer, params, 2)
    others = [parameter(param.detach().numpy()) for param in params]
    again = torch.optim.Optax(others, TRANSFORMATIONS["adamw"])
    again.load_state_dict(optimizer.state_dict())
    copied = copy.deepcopy(optimizer)
    for one, own in ((optimizer, params), (again, others), (copied, copied.param_groups[0]["params"])):
        train(one, own, 2)
    assert [p.tolist() for p in others] == [p.tolist() for p in params]
    assert [p.tolist() for p in copied.param_groups[0]["params"]] == [p.tolist() for p in params]


def test_another_transformations_checkpoint_is_refused() -> None:
    saved = torch.optim.Optax([parameter([1.0])], optax.sgd(0.1, momentum=0.9)).state_dict()
    with pytest.raises(ValueError, match="another optax transformation"):
        torch.optim.Optax([parameter([1.0])], optax.adam(0.1)).load_state_dict(saved)
    with pytest.raises(ValueError, match="cannot take further parameters"):
        torch.optim.Optax([parameter([1.0])], optax.sgd(0.1)).add_param_group({"params": parameter([1.0])})
