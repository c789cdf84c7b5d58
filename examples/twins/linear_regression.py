"""The regressions of examples/scripts/linear_regression.py as pure functions, moved by plain gradient descent.

python examples/twins/linear_regression.py
python -m funcgrad compare examples/scripts/linear_regression.py examples/twins/linear_regression.py
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import optax
from start import Weights, before_training, beginning, descent, train

import funcgrad as torch

EPOCHS, STEPS = 5, 600


def line_loss(weights: Weights, x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.sum((x @ weights["w"] + weights["b"] - y) ** 2 / 2)


def cubic_loss(weights: Weights, x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.sum((weights["a"] + weights["b"] * x + weights["c"] * x**2 + weights["d"] * x**3 - y) ** 2)


def batches(script: Any) -> Iterator[tuple[Any, ...]]:
    """Yield points and values near a plane."""
    for _ in range(EPOCHS):
        yield from script.data_iter(script.batch_size, script.X, script.y)


def setup() -> Generator[tuple[Any, Any, Iterator[tuple[Any, ...]]], Any, None]:
    """Yield a step, the state that it starts from, and its batches: for a plane, then for a cubic."""
    script = before_training("linear_regression")
    sgd = optax.sgd(script.lr / script.batch_size)
    plane = {name: getattr(script, name).detach().clone().jax() for name in "wb"}
    yield descent(line_loss, sgd), beginning(plane, sgd), batches(script)
    sgd = optax.sgd(1e-6)
    x = torch.linspace(-jnp.pi, jnp.pi, 500).jax()
    cubic = {name: torch.randn(()).jax() for name in "abcd"}
    yield descent(cubic_loss, sgd), beginning(cubic, sgd), iter([(x, jnp.sin(x))] * STEPS)


if __name__ == "__main__":
    train(setup, every=20)
