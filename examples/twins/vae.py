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
from sklearn.datasets import load_digits

import funcgrad as torch
from funcgrad import nn
from funcgrad.nn import functional as F
from funcgrad.utils.data import DataLoader

EPOCHS, BATCH, CODE = 8, 128, 8
LAYERS = {"fc1": (64, 100), "fc21": (100, CODE), "fc22": (100, CODE), "fc3": (CODE, 100), "fc4": (100, 64)}


def linear(weights: Any, name: str, x: jax.Array) -> jax.Array:
    return F.linear(x, weights[name]["weight"], weights[name]["bias"])


def loss_of(weights: Any, images: jax.Array, noise: jax.Array) -> jax.Array:
    hidden = F.relu(linear(weights, "fc1", images))
    mean, log_variance = linear(weights, "fc21", hidden), linear(weights, "fc22", hidden)
    code = mean + noise * jnp.exp(0.5 * log_variance)
    pixels = F.sigmoid(linear(weights, "fc4", F.relu(linear(weights, "fc3", code))))
    error = F.binary_cross_entropy(pixels, images, reduction="sum")
    return error - 0.5 * jnp.sum(1 + log_variance - mean**2 - jnp.exp(log_variance))


def batches(loader: DataLoader) -> Iterator[tuple[jax.Array, jax.Array]]:
    """Yield images and noise, drawn in the order in which the stateful script draws them."""
    for _ in range(EPOCHS):
        for images in loader:
            yield images.jax(), torch.randn(len(images), CODE).jax()
        torch.empty((), dtype=torch.int64).random_()  # the script's test loader draws a seed, and its test noise
        for rest in (128, 128, 41):
            torch.randn(rest, CODE)


def setup() -> tuple[Any, Any, Iterator[tuple[jax.Array, jax.Array]]]:
    """Return the step, the state that it starts from, and the batches."""
    torch.manual_seed(1)
    images = torch.FloatTensor(load_digits().data) / 16
    weights = {name: {n: p.detach().jax() for n, p in nn.Linear(*shape).named_parameters()}
               for name, shape in LAYERS.items()}  # fmt: skip
    adam = optax.adam(1e-3)

    @jax.jit
    def step(state: Any, images: jax.Array, noise: jax.Array) -> tuple[Any, jax.Array, Any]:
        loss, gradients = jax.value_and_grad(loss_of)(state["model"], images, noise)
        updates, inner = adam.update(gradients, state["optimizer"])
        return {"model": optax.apply_updates(state["model"], updates), "optimizer": inner}, loss, gradients

    loader = DataLoader(images[:1500], batch_size=BATCH, shuffle=True)
    return step, {"model": weights, "optimizer": adam.init(weights)}, batches(loader)


if __name__ == "__main__":
    step, state, data = setup()
    for number, batch in enumerate(data):
        state, loss, _ = step(state, *batch)
        if number % 12 == 11:
            print(f"epoch {number // 12 + 1}: loss {loss / len(batch[0]):.5f}")
