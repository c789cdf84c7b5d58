"""Reading digits, the functional style: a pure step takes weights and optimizer state and returns the next ones.

`setup(state)` gets the state of the stateful twin, so that both start from the same weights, and gives the step and the
state that it starts from.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import optax

from funcgrad.nn import functional as F

RATE, MOMENTUM = 0.1, 0.9


def forward(weights: Any, images: jax.Array) -> jax.Array:
    hidden = F.gelu(F.linear(images, weights["0"]["weight"], weights["0"]["bias"]))
    return F.linear(hidden, weights["2"]["weight"], weights["2"]["bias"])


def setup(state: Any) -> tuple[Callable[..., Any], Any]:
    """Return the step and the state that it starts from."""
    optimizer = optax.sgd(RATE, MOMENTUM)

    def loss_of(weights: Any, images: jax.Array, labels: jax.Array) -> jax.Array:
        return F.cross_entropy(forward(weights, images), labels.astype("int32"))

    @partial(jax.jit, donate_argnums=0)
    def step(state: Any, images: jax.Array, labels: jax.Array) -> tuple[Any, jax.Array, Any]:
        loss, gradients = jax.value_and_grad(loss_of)(state["model"], images, labels)
        updates, inner = optimizer.update(gradients, state["optimizer"], state["model"])
        return {"model": optax.apply_updates(state["model"], updates), "optimizer": inner}, loss, gradients

    return step, {"model": state["model"], "optimizer": optimizer.init(state["model"])}
