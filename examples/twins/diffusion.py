"""The diffusion model of examples/scripts/diffusion.py as a pure function: times and noise are arguments.

python examples/twins/diffusion.py
python -m funcgrad compare examples/scripts/diffusion.py examples/twins/diffusion.py
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import optax
from jax.flatten_util import ravel_pytree
from start import Weights, before_training, beginning, descent, layer_norm, linear, train, weights_of

import funcgrad as torch

EPOCHS, SLOWNESS = 30, 0.98


def embedded(times: jax.Array, dim: int = 32) -> jax.Array:
    """Return sines and cosines of the times. Shape: times (N,), result (N, dim)."""
    angles = times[:, None] * jnp.exp(jnp.arange(dim // 2) * (-jnp.log(10000.0) / (dim // 2 - 1)))
    return jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], axis=1)


def denoised(weights: Weights, x: jax.Array, times: jax.Array) -> jax.Array:
    time = linear(weights, "time_mlp.3", jax.nn.silu(linear(weights, "time_mlp.1", embedded(times))))
    hidden = linear(weights, "inp", x) + time
    for block in range(3):
        inner = layer_norm(weights, f"blocks.{block}.fn.0", hidden)
        hidden = hidden + jax.nn.silu(linear(weights, f"blocks.{block}.fn.1", inner))
    return linear(weights, "out", hidden)


def loss_of(weights: Weights, x: jax.Array, times: jax.Array, noise: jax.Array, remaining: Any) -> jax.Array:
    signal, spread = (share[times.astype("int32")][:, None] for share in remaining)
    return jnp.mean((denoised(weights, signal * x + spread * noise, times) - noise) ** 2)


def batches(script: Any) -> Iterator[tuple[Any, ...]]:
    """Yield points of the spiral, how far gone each is, and noise."""
    for _ in range(EPOCHS):
        for (points,) in script.loader:
            times = torch.randint(0, script.args.timesteps, (len(points),))
            yield points, times, torch.randn_like(points)


def setup() -> tuple[Any, Any, Iterator[tuple[Any, ...]]]:
    """Return the step, the state that it starts from, and the batches."""
    script = before_training("diffusion")
    shares = script.diffusion.sqrt_alphas_cumprod, script.diffusion.sqrt_one_minus_alphas_cumprod
    adam = optax.adamw(2e-3, weight_decay=1e-2)
    learn = descent(partial(loss_of, remaining=tuple(share.jax() for share in shares)), adam, most=1.0)
    state = beginning(weights_of(script.model), adam)

    def step(state: Any, *batch: Any) -> tuple[Any, jax.Array, Any]:
        """Learn, and let a shadow of the weights (one vector) follow slowly."""
        learned, loss, gradients = learn({"model": state["model"], "optimizer": state["optimizer"]}, *batch)
        shadow = state["shadow"] * SLOWNESS + (1 - SLOWNESS) * ravel_pytree(learned["model"])[0]
        return {**learned, "shadow": shadow}, loss, gradients

    return step, {**state, "shadow": ravel_pytree(state["model"])[0]}, batches(script)


if __name__ == "__main__":
    train(setup)
