"""The neural ODE of examples/scripts/neural_ode.py as a pure function: the solver is a scan over time.

python examples/twins/neural_ode.py
python -m funcgrad compare examples/scripts/neural_ode.py examples/twins/neural_ode.py
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import optax
from start import Weights, before_training, beginning, descent, linear, train, weights_of

STEPS = 120


def velocity(weights: Weights, y: jax.Array) -> jax.Array:
    return linear(weights, "net.2", jnp.tanh(linear(weights, "net.0", y**3)))


def solved(weights: Weights, start: jax.Array, times: jax.Array) -> jax.Array:
    """Return the states at all times by the classical Runge-Kutta method. Shape: start (N, 2), result (T, N, 2)."""

    def turn(y: jax.Array, dt: jax.Array) -> tuple[jax.Array, jax.Array]:
        k1 = velocity(weights, y)
        k2 = velocity(weights, y + dt * k1 / 2)
        k3 = velocity(weights, y + dt * k2 / 2)
        k4 = velocity(weights, y + dt * k3)
        y = y + (k1 + 2 * k2 + 2 * k3 + k4) * dt / 6
        return y, y

    return jnp.concatenate([start[None], jax.lax.scan(turn, start, jnp.diff(times))[1]])


def loss_of(weights: Weights, start: jax.Array, times: jax.Array, truth: jax.Array) -> jax.Array:
    return jnp.abs(solved(weights, start, times) - truth).mean()


def setup() -> tuple[Any, Any, Iterator[tuple[Any, ...]]]:
    """Return the step, the state that it starts from, and the batches."""
    script = before_training("neural_ode")
    rms = optax.rmsprop(1e-3, decay=0.99, eps=1e-8, eps_in_sqrt=False)
    return descent(loss_of, rms), beginning(weights_of(script.func), rms), (script.get_batch() for _ in range(STEPS))


if __name__ == "__main__":
    train(setup, every=20)
