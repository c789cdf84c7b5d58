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
from start import Weights, before_training, beginning, descent, linear, train, weights_of


def error(weights: Weights, x: jax.Array, y: jax.Array) -> jax.Array:
    for name in ("fc1", "fc2"):
        x = jnp.tanh(linear(weights, name, x))
    return jnp.mean((linear(weights, "fc3", x) - y) ** 2)


def adapted(weights: Weights, x: jax.Array, y: jax.Array, rate: float = 0.02, steps: int = 2) -> Weights:
    """Return the weights after a few steps of gradient descent on one task."""
    for _ in range(steps):
        weights = jax.tree.map(lambda p, g: p - rate * g, weights, jax.grad(error)(weights, x, y))
    return weights


def meta_loss(weights: Weights, support: Any, query: Any) -> jax.Array:
    """Return the mean error of the adapted weights. support, query: (x, y), the tasks along the first axis."""
    of_task = jax.vmap(lambda support, query: error(adapted(weights, *support), *query))
    return of_task(support, query).mean()


def batches(script: Any) -> Iterator[tuple[Any, ...]]:
    """Yield points of sine waves to adapt to and to judge by, for some tasks at once."""
    for _ in range(script.args.iterations):
        drawn = []
        for _ in range(script.args.tasks):
            task = script.SineTask(script.rng)
            drawn.append([[part.numpy() for part in task.sample(script.args.shots)] for _ in range(2)])
        yield tuple(tuple(map(np.stack, zip(*points, strict=True))) for points in zip(*drawn, strict=True))


def setup() -> tuple[Any, Any, Iterator[tuple[Any, ...]]]:
    """Return the step, the state that it starts from, and the batches."""
    script = before_training("maml")
    adam = optax.adam(script.args.meta_lr)
    return descent(meta_loss, adam), beginning(weights_of(script.model), adam), batches(script)


if __name__ == "__main__":
    train(setup, every=20)
