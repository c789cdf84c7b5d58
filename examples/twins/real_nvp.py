"""The normalising flow of examples/scripts/real_nvp.py as a pure function: a change of variables and its determinant.

python examples/twins/real_nvp.py
python -m funcgrad compare examples/scripts/real_nvp.py examples/twins/real_nvp.py
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import optax
from sklearn.datasets import make_moons
from start import Weights, before_training, beginning, descent, linear, train, weights_of

STEPS, MASKS = 301, jnp.array([[0.0, 1.0], [1.0, 0.0]] * 3)


def network(weights: Weights, name: str, x: jax.Array) -> jax.Array:
    for layer in (0, 2):
        x = jax.nn.leaky_relu(linear(weights, f"{name}.{layer}", x))
    return linear(weights, f"{name}.4", x)


def log_density(weights: Weights, x: jax.Array) -> jax.Array:
    """Return the logarithm of the density at each point. Shape: x (N, 2), result (N,)."""
    z, determinant = x, jnp.zeros(len(x))
    for i in reversed(range(len(MASKS))):
        kept = MASKS[i] * z
        scale = jnp.tanh(network(weights, f"s.{i}", kept)) * (1 - MASKS[i])
        shift = network(weights, f"t.{i}", kept) * (1 - MASKS[i])
        z = (1 - MASKS[i]) * (z - shift) * jnp.exp(-scale) + kept
        determinant -= scale.sum(1)
    return jax.scipy.stats.norm.logpdf(z).sum(1) + determinant


def loss_of(weights: Weights, points: jax.Array) -> jax.Array:
    return -log_density(weights, points).mean()


def moons() -> Iterator[tuple[Any]]:
    """Yield points of two noisy moons."""
    for _ in range(STEPS):
        yield (make_moons(n_samples=100, noise=0.05)[0].astype("float32"),)


def setup() -> tuple[Any, Any, Iterator[tuple[Any]]]:
    """Return the step, the state that it starts from, and the batches."""
    script = before_training("real_nvp")
    adam = optax.adam(1e-4)
    return descent(loss_of, adam), beginning(weights_of(script.flow), adam), moons()


if __name__ == "__main__":
    train(setup, every=30)
