"""The accumulated gradients of examples/scripts/gradient_accumulation.py as a pure function: a sum over small batches.

python examples/twins/gradient_accumulation.py
python -m funcgrad compare examples/scripts/gradient_accumulation.py examples/twins/gradient_accumulation.py
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import optax
from start import Weights, before_training, beginning, clipped, layer_norm, linear, mask, train, weights_of

from funcgrad.nn import functional as F

EPOCHS, PIECES, WARM_UP, RATE = 10, 4, 10, 1e-2


def loss_of(weights: Weights, features: jax.Array, labels: jax.Array, kept: jax.Array) -> jax.Array:
    hidden = F.relu(layer_norm(weights, "1", linear(weights, "0", features))) * kept
    return F.binary_cross_entropy_with_logits(linear(weights, "4", hidden)[:, 0], labels) / PIECES


def batches(script: Any) -> Iterator[tuple[Any, ...]]:
    """Yield some small batches at once, along the first axis; those left over at an epoch's end join the next."""
    pieces: list[tuple[Any, ...]] = []
    for _ in range(EPOCHS):
        for number, (x, y) in enumerate(script.train_loader, 1):
            pieces.append((x.jax(), y.jax(), mask(len(x), 32, p=0.2)))
            if number % PIECES == 0:
                yield tuple(map(jnp.stack, zip(*pieces, strict=True)))
                pieces = []
        next(iter(script.valid_loader))  # draws a seed, as the script's evaluation does


def setup() -> tuple[Any, Any, Iterator[tuple[Any, ...]]]:
    """Return the step, the state that it starts from, and the batches."""
    script = before_training("gradient_accumulation")
    steps = len(script.train_loader) // PIECES * EPOCHS
    weights = weights_of(script.model)
    rate = optax.join_schedules(
        [optax.linear_schedule(0.0, RATE, WARM_UP), optax.linear_schedule(RATE, 0.0, steps - WARM_UP)], [WARM_UP]
    )
    decayed = {name: "bias" not in name and name != "1.weight" for name in weights}
    adam = optax.adamw(rate, weight_decay=0.01, mask=decayed)

    @jax.jit
    def step(state: Any, *pieces: Any) -> tuple[Any, jax.Array, Any]:
        """Return the last small batch's loss, as the script sees it."""
        losses, gradients = jax.vmap(jax.value_and_grad(loss_of), (None, 0, 0, 0))(state["model"], *pieces)
        gradients = clipped(jax.tree.map(lambda gradient: gradient.sum(0), gradients), 1.0)
        updates, inner = adam.update(gradients, state["optimizer"], state["model"])
        return {"model": optax.apply_updates(state["model"], updates), "optimizer": inner}, losses[-1], gradients

    return step, beginning(weights, adam), batches(script)


if __name__ == "__main__":
    train(setup)
