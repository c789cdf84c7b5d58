"""The two tasks of examples/scripts/multi_task.py as a pure function: an optax transformation for each part.

python examples/twins/multi_task.py
python -m funcgrad compare examples/scripts/multi_task.py examples/twins/multi_task.py
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import optax
from start import Weights, batch_norm, before_training, linear, statistics_of, train, weights_of

from funcgrad.nn import functional as F

EPOCHS, FROZEN_FROM = 12, 8


def loss_of(
    weights: Any, statistics: Weights, x: jax.Array, progress: jax.Array, third: jax.Array
) -> tuple[jax.Array, Weights]:
    statistics, trunk, heads, doubts = dict(statistics), weights["trunk"], weights["heads"], weights["log_vars"]
    hidden = jax.nn.elu(batch_norm(trunk, statistics, "1", linear(trunk, "0", x)))
    shared = jax.nn.elu(linear(trunk, "3", hidden))
    losses = {
        "progress": F.mse_loss(linear(heads, "progress", shared), progress),
        "third": F.cross_entropy(linear(heads, "third", shared), third),
    }
    return sum(jnp.exp(-doubts[name]) * loss + doubts[name] for name, loss in losses.items()), statistics


def batches(script: Any) -> Iterator[tuple[Any, ...]]:
    """Yield whether the trunk rests, measurements, and both answers."""
    for epoch in range(EPOCHS):
        for x, targets in script.train_loader:
            yield epoch >= FROZEN_FROM, x, targets["progress"], targets["third"]
        next(iter(script.test_loader))  # draws a seed, as the script's evaluation does


def setup() -> tuple[Any, Any, Iterator[tuple[Any, ...]]]:
    """Return the step, the state that it starts from, and the batches."""
    script = before_training("multi_task")

    def rate(first: float) -> Any:
        return lambda count: first * (1 + jnp.cos(jnp.pi * (count // len(script.train_loader)) / EPOCHS)) / 2

    optimizers = {
        "trunk": optax.adam(rate(2e-3)), "heads": optax.sgd(rate(2e-2), momentum=0.9),
        "log_vars": optax.adamax(rate(1e-2)),
    }  # fmt: skip
    weights = {name: weights_of(getattr(script.model, name)) for name in optimizers}

    @partial(jax.jit, donate_argnums=0)
    def step(state: Any, rests: jax.Array, *batch: Any) -> tuple[Any, jax.Array, Any]:
        slope = jax.value_and_grad(loss_of, has_aux=True)
        (loss, statistics), gradients = slope(state["model"], state["statistics"], *batch)
        new: dict[str, Any] = {"model": {}, "optimizer": {}, "statistics": statistics}
        for name, optimizer in optimizers.items():
            updates, new["optimizer"][name] = optimizer.update(gradients[name], state["optimizer"][name])
            new["model"][name] = optax.apply_updates(state["model"][name], updates)
        for kind in ("model", "optimizer"):
            pair = new[kind]["trunk"], state[kind]["trunk"]
            new[kind]["trunk"] = jax.tree.map(lambda moved, old: jnp.where(rests, old, moved), *pair)
        return new, loss, gradients

    start = {name: optimizer.init(weights[name]) for name, optimizer in optimizers.items()}
    state = {"model": weights, "statistics": statistics_of(script.model.trunk), "optimizer": start}
    return step, state, batches(script)


if __name__ == "__main__":
    train(setup)
