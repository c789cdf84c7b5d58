"""The auto-encoder of examples/scripts/denoising_autoencoder.py as a pure function: its one-cycle schedule in the open.

python examples/twins/denoising_autoencoder.py
python -m funcgrad compare examples/scripts/denoising_autoencoder.py examples/twins/denoising_autoencoder.py
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from start import Weights, before_training, train, weights_of

import funcgrad as torch
from funcgrad.nn import functional as F

EPOCHS, NOISE, STEPS, PEAK, SMOOTHING = 5, 0.4, 150, 0.004, 0.99


def denoised(weights: Weights, x: jax.Array) -> jax.Array:
    def layer(name: str) -> tuple[jax.Array, jax.Array]:
        return weights[f"{name}.weight"], weights[f"{name}.bias"]

    x = F.max_pool2d(F.relu(F.conv2d(x, *layer("conv1"), padding=1)), 2)
    x = F.max_pool2d(F.relu(F.conv2d(x, *layer("conv2"), padding=1)), 2)
    x = F.relu(F.conv_transpose2d(x, *layer("t_conv1"), stride=2))
    x = F.relu(F.conv_transpose2d(x, *layer("t_conv2"), stride=2, padding=1, output_padding=1))
    return F.sigmoid(F.conv2d(x, *layer("conv_out"), padding=1))


def loss_of(weights: Weights, noisy: jax.Array, images: jax.Array) -> jax.Array:
    return jnp.mean((denoised(weights, noisy) - images) ** 2)


def one_cycle(step: int, first: float, middle: float, last: float) -> float:
    """Return where a step is between three values: three tenths of the steps up, the rest down, along a cosine."""
    turn, end = 0.3 * STEPS - 1, STEPS - 1
    start, stop, done = (first, middle, step / turn) if step <= turn else (middle, last, (step - turn) / (end - turn))
    return stop + (start - stop) / 2 * (1 + np.cos(np.pi * done))


@partial(jax.jit, donate_argnums=0)
def step(state: Any, noisy: jax.Array, images: jax.Array, rate: float, momentum: float) -> tuple[Any, jax.Array, Any]:
    """Take a step of RMSprop, whose momentum the schedule moves, too."""
    loss, gradients = jax.value_and_grad(loss_of)(state["model"], noisy, images)
    squares = jax.tree.map(
        lambda s, g: SMOOTHING * s + (1 - SMOOTHING) * g * g, state["optimizer"]["square_avg"], gradients
    )
    moves = jax.tree.map(
        lambda m, g, s: momentum * m + g / (jnp.sqrt(s) + 1e-8),
        state["optimizer"]["momentum_buffer"], gradients, squares,
    )  # fmt: skip
    weights = jax.tree.map(lambda w, m: w - rate * m, state["model"], moves)
    return {"model": weights, "optimizer": {"square_avg": squares, "momentum_buffer": moves}}, loss, gradients


def batches(script: Any) -> Iterator[tuple[Any, ...]]:
    """Yield noisy pictures, clean ones, the rate and the momentum."""
    for number in range(STEPS):
        if number % len(script.train_loader) == 0:
            pictures = iter(script.train_loader)
        images = next(pictures)
        noisy = torch.clamp(images + NOISE * torch.randn(*images.shape), 0, 1)
        yield noisy, images, one_cycle(number, PEAK / 25, PEAK, PEAK / 25e4), one_cycle(number, 0.95, 0.85, 0.95)


def setup() -> tuple[Any, Any, Iterator[tuple[Any, ...]]]:
    """Return the step, the state that it starts from, and the batches."""
    script = before_training("denoising_autoencoder")
    weights = weights_of(script.model)
    zeros = {name: jax.tree.map(jnp.zeros_like, weights) for name in ("square_avg", "momentum_buffer")}
    return step, {"model": weights, "optimizer": zeros}, batches(script)


if __name__ == "__main__":
    train(setup)
