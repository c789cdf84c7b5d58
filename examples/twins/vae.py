"""The variational auto-encoder of examples/scripts/vae.py as a pure function: noise is an argument, not a side effect.

python examples/twins/vae.py
python -m funcgrad compare examples/scripts/vae.py examples/twins/vae.py
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import optax
from start import Weights, before_training, beginning, descent, linear, train, weights_of

import funcgrad as torch
from funcgrad.nn import functional as F

EPOCHS, CODE = 8, 8


def loss_of(weights: Weights, images: jax.Array, noise: jax.Array) -> jax.Array:
    hidden = F.relu(linear(weights, "fc1", images))
    mean, log_variance = linear(weights, "fc21", hidden), linear(weights, "fc22", hidden)
    code = mean + noise * jnp.exp(0.5 * log_variance)
    pixels = F.sigmoid(linear(weights, "fc4", F.relu(linear(weights, "fc3", code))))
    error = F.binary_cross_entropy(pixels, images, reduction="sum")
    return error - 0.5 * jnp.sum(1 + log_variance - mean**2 - jnp.exp(log_variance))


def batches(script: Any) -> Iterator[tuple[Any, ...]]:
    """Yield images and noise, drawn in the order in which the script draws them."""
    for _ in range(EPOCHS):
        for images in script.train_loader:
            yield images, torch.randn(len(images), CODE)
        for images in script.test_loader:
            torch.randn(len(images), CODE)


def setup() -> tuple[Any, Any, Iterator[tuple[Any, ...]]]:
    """Return the step, the state that it starts from, and the batches."""
    script = before_training("vae")
    adam = optax.adam(1e-3)
    return descent(loss_of, adam), beginning(weights_of(script.model), adam), batches(script)


if __name__ == "__main__":
    train(setup)
