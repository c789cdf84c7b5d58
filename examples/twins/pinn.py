"""The physics-informed network of examples/scripts/pinn.py as a pure function: second derivatives, point by point.

python examples/twins/pinn.py
python -m funcgrad compare examples/scripts/pinn.py examples/twins/pinn.py
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from start import Weights, before_training, beginning, descent, linear, train, weights_of

STEPS, LAYERS = 150, 4  # of Adam; the line search that the script ends with is a matter of its own


def height(weights: Weights, x: jax.Array, t: jax.Array) -> jax.Array:
    """Return u(x, t) at one point. Shape: x, t, result ()."""
    hidden = jnp.stack([x, t])
    for layer in range(LAYERS - 1):
        hidden = jnp.tanh(linear(weights, f"layers.layer_{layer}", hidden))
    return linear(weights, f"layers.layer_{LAYERS - 1}", hidden)[0]


def loss_of(weights: Weights, known: Any, inside: Any, nu: float) -> jax.Array:
    """Return the error at known points (x, t, u) and that of the equation at points inside (x, t)."""

    def residual(x: jax.Array, t: jax.Array) -> jax.Array:
        u, (u_x, u_t) = jax.value_and_grad(height, (1, 2))(weights, x, t)
        u_xx = jax.grad(jax.grad(height, 1), 1)(weights, x, t)
        return u_t + u * u_x - nu * u_xx

    x, t, u = known
    error = u - jax.vmap(height, (None, 0, 0))(weights, x, t)
    return jnp.mean(error**2) + jnp.mean(jax.vmap(residual)(*inside) ** 2)


def setup() -> tuple[Any, Any, Iterator[tuple[Any, ...]]]:
    """Return the step, the state that it starts from, and the batches, which are all alike."""
    model = before_training("pinn").model
    known, inside = (tuple(x.detach().jax()[:, 0] for x in xs)
                     for xs in ((model.x_u, model.t_u, model.u), (model.x_f, model.t_f)))  # fmt: skip
    adam = optax.adam(2e-3)
    batch = known, inside, np.float32(model.nu)
    return descent(loss_of, adam), beginning(weights_of(model.dnn), adam), iter([batch] * STEPS)


if __name__ == "__main__":
    train(setup, every=25)
