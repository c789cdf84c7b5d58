"""The two networks of examples/scripts/dcgan.py as pure functions: one step teaches the critic, then the painter.

python examples/twins/dcgan.py
python -m funcgrad compare examples/scripts/dcgan.py examples/twins/dcgan.py
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import optax
from start import Weights, batch_norm, before_training, statistics_of, train, weights_of

import funcgrad as torch
from funcgrad.nn import functional as F

EPOCHS, CODE = 3, 16


def painted(weights: Weights, statistics: Weights, noise: jax.Array) -> tuple[jax.Array, Weights]:
    statistics = dict(statistics)
    x = F.conv_transpose2d(noise, weights["main.0.weight"])
    x = F.relu(batch_norm(weights, statistics, "main.1", x))
    x = F.conv_transpose2d(x, weights["main.3.weight"], stride=2, padding=1)
    x = F.relu(batch_norm(weights, statistics, "main.4", x))
    return jnp.tanh(F.conv_transpose2d(x, weights["main.6.weight"], stride=2, padding=1)), statistics


def judged(weights: Weights, statistics: Weights, images: jax.Array, truth: float) -> tuple[jax.Array, Weights]:
    """Return the loss of taking all images for real ones (truth 1) or painted ones (0)."""
    statistics = dict(statistics)
    x = F.leaky_relu(F.conv2d(images, weights["main.0.weight"], stride=2, padding=1), 0.2)
    x = F.conv2d(x, weights["main.2.weight"], stride=2, padding=1)
    x = F.leaky_relu(batch_norm(weights, statistics, "main.3", x), 0.2)
    real = F.sigmoid(F.conv2d(x, weights["main.5.weight"])).reshape(-1)
    return F.binary_cross_entropy(real, jnp.full(real.shape, truth)), statistics


def critics_loss(weights: Weights, statistics: Weights, real: Any, fake: Any) -> tuple[jax.Array, Weights]:
    on_real, statistics = judged(weights, statistics, real, 1.0)
    on_fake, statistics = judged(weights, statistics, fake, 0.0)
    return on_real + on_fake, statistics


def painters_loss(weights: Weights, statistics: Any, critic: Weights, noise: jax.Array) -> tuple[jax.Array, Any]:
    fake, of_painter = painted(weights, statistics["netG"], noise)
    loss, of_critic = judged(critic, statistics["netD"], fake, 1.0)
    return loss, {"netG": of_painter, "netD": of_critic}


ADAM = optax.adam(2e-4, b1=0.5)


@partial(jax.jit, donate_argnums=0)
def step(state: Any, real: jax.Array, noise: jax.Array, shown: jax.Array | None) -> tuple[Any, jax.Array, Any]:
    """Teach the critic, then the painter; the loss is the painter's. shown: noise painted before, to look at."""
    weights, statistics, optimizers = dict(state["model"]), dict(state["statistics"]), dict(state["optimizer"])
    gradients = {}
    if shown is not None:  # in training mode, so that the statistics follow it
        _, statistics["netG"] = painted(weights["netG"], statistics["netG"], shown)

    def learn(name: str, slope: Any) -> None:
        gradients[name] = slope
        updates, optimizers[name] = ADAM.update(slope, optimizers[name])
        weights[name] = optax.apply_updates(weights[name], updates)

    fake, _ = painted(weights["netG"], statistics["netG"], noise)
    slope, statistics["netD"] = jax.grad(critics_loss, has_aux=True)(weights["netD"], statistics["netD"], real, fake)
    learn("netD", slope)
    (loss, statistics), slope = jax.value_and_grad(painters_loss, has_aux=True)(
        weights["netG"], statistics, weights["netD"], noise
    )
    learn("netG", slope)
    return {"model": weights, "statistics": statistics, "optimizer": optimizers}, loss, gradients


def batches(script: Any) -> Iterator[tuple[Any, ...]]:
    """Yield pictures and noise, and what the script painted at the end of the epoch before."""
    shown = None
    for _ in range(EPOCHS):
        for (images,) in script.dataloader:
            yield images, torch.randn(len(images), CODE, 1, 1), shown
            shown = None
        shown = script.fixed_noise.jax()


def setup() -> tuple[Any, Any, Iterator[tuple[Any, ...]]]:
    """Return the step, the state that it starts from, and the batches."""
    script = before_training("dcgan")
    networks = {"netG": script.netG, "netD": script.netD}
    weights = {name: weights_of(network) for name, network in networks.items()}
    statistics = {name: statistics_of(network) for name, network in networks.items()}
    state = {
        "model": weights,
        "statistics": statistics,
        "optimizer": {name: ADAM.init(w) for name, w in weights.items()},
    }
    return step, state, batches(script)


if __name__ == "__main__":
    train(setup)
