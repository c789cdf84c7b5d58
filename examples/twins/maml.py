"""The meta-learning of examples/scripts/maml.py as a pure function: a gradient inside of a gradient, tasks by vmap.

python examples/twins/maml.py
python -m funcgrad compare examples/scripts/maml.py examples/twins/maml.py
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

import funcgrad as torch
from funcgrad import nn
from funcgrad.nn import functional as F

TASKS, SHOTS, ITERATIONS, INNER_RATE, INNER_STEPS = 4, 10, 200, 0.02, 2
LAYERS = {"fc1": (1, 40), "fc2": (40, 40), "fc3": (40, 1)}


def error(weights: Any, x: jax.Array, y: jax.Array) -> jax.Array:
    for name in ("fc1", "fc2"):
        x = jnp.tanh(F.linear(x, weights[name]["weight"], weights[name]["bias"]))
    return F.mse_loss(F.linear(x, weights["fc3"]["weight"], weights["fc3"]["bias"]), y)


def adapted(weights: Any, x: jax.Array, y: jax.Array) -> Any:
    """Return the weights after a few steps of gradient descent on one task."""
    for _ in range(INNER_STEPS):
        weights = jax.tree.map(lambda p, g: p - INNER_RATE * g, weights, jax.grad(error)(weights, x, y))
    return weights


def meta_loss(weights: Any, support: Any, query: Any) -> jax.Array:
    """Return the mean error of the adapted weights. support, query: (x, y), the tasks along the first axis."""
    of_task = jax.vmap(lambda support, query: error(adapted(weights, *support), *query))
    return of_task(support, query).mean()


def tasks() -> Iterator[tuple[Any, Any]]:
    """Yield points of sine waves to adapt to and to judge by, for some tasks at once."""
    rng = np.random.RandomState(0)
    for _ in range(ITERATIONS):
        drawn = []
        for _ in range(TASKS):
            amplitude, phase = rng.uniform(0.1, 5.0), rng.uniform(0, np.pi)
            for _ in range(2):
                x = rng.uniform(-5, 5, (SHOTS, 1)).astype(np.float32)
                drawn.append((x, (amplitude * np.sin(x + phase)).astype(np.float32)))
        support, query = (tuple(map(np.stack, zip(*drawn[start::2], strict=True))) for start in (0, 1))
        yield support, query


def setup() -> tuple[Any, Any, Iterator[tuple[Any, Any]]]:
    """Return the step, the state that it starts from, and the tasks."""
    torch.manual_seed(0)
    weights = {name: {n: p.detach().jax() for n, p in nn.Linear(*shape).named_parameters()}
               for name, shape in LAYERS.items()}  # fmt: skip
    adam = optax.adam(1e-3)

    @jax.jit
    def step(state: Any, support: Any, query: Any) -> tuple[Any, jax.Array, Any]:
        loss, gradients = jax.value_and_grad(meta_loss)(state["model"], support, query)
        updates, inner = adam.update(gradients, state["optimizer"])
        return {"model": optax.apply_updates(state["model"], updates), "optimizer": inner}, loss, gradients

    return step, {"model": weights, "optimizer": adam.init(weights)}, tasks()


if __name__ == "__main__":
    step, state, data = setup()
    for iteration, batch in enumerate(data, 1):
        state, loss, _ = step(state, *batch)
        if iteration % 20 == 0:
            print(f"iteration {iteration}: meta loss {loss:.6f}")
