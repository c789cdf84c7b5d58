"""The Wasserstein GAN of examples/scripts/wgan_gp.py as pure functions: the penalty is a gradient inside of a gradient.

python examples/twins/wgan_gp.py
python -m funcgrad compare examples/scripts/wgan_gp.py examples/twins/wgan_gp.py
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from start import Weights, before_training, linear, train, weights_of

PENALTY, ADAM = 10.0, optax.adam(1e-3, b1=0.5, b2=0.9)


def network(weights: Weights, x: jax.Array) -> jax.Array:
    for layer in (0, 2):
        x = jax.nn.leaky_relu(linear(weights, f"model.{layer}", x), 0.2)
    return linear(weights, "model.4", x)


def critics_loss(critic: Weights, generator: Weights, real: jax.Array, noise: jax.Array, share: jax.Array) -> jax.Array:
    fake = network(generator, noise)
    slopes = jax.vmap(jax.grad(lambda point: network(critic, point)[0]))(share * real + (1 - share) * fake)
    penalty = jnp.mean((jnp.linalg.norm(slopes, axis=1) - 1) ** 2)
    return network(critic, fake).mean() - network(critic, real).mean() + PENALTY * penalty


def generators_loss(generator: Weights, critic: Weights, noise: jax.Array) -> jax.Array:
    return -network(critic, network(generator, noise)).mean()


def learned(state: Any, name: str, gradients: Weights) -> Any:
    updates, inner = ADAM.update(gradients, state["optimizer"][name])
    weights = optax.apply_updates(state["model"][name], updates)
    return {"model": {**state["model"], name: weights}, "optimizer": {**state["optimizer"], name: inner}}


@jax.jit
def teach_critic(state: Any, *batch: jax.Array) -> tuple[Any, jax.Array, Any]:
    networks = state["model"]
    loss, gradients = jax.value_and_grad(critics_loss)(networks["discriminator"], networks["generator"], *batch)
    return learned(state, "discriminator", gradients), loss, {"discriminator": gradients}


@jax.jit
def teach_both(state: Any, *batch: jax.Array) -> tuple[Any, jax.Array, Any]:
    *of_critic, noise = batch
    state, _, gradients = teach_critic(state, *of_critic)
    networks = state["model"]
    loss, slope = jax.value_and_grad(generators_loss)(networks["generator"], networks["discriminator"], noise)
    return learned(state, "generator", slope), loss, {**gradients, "generator": slope}


def step(state: Any, *batch: jax.Array) -> tuple[Any, jax.Array, Any]:
    """Teach the critic, and the generator too where the batch has noise for it."""
    return (teach_both if len(batch) == 4 else teach_critic)(state, *batch)


def batches(script: Any) -> Iterator[tuple[Any, ...]]:
    """Yield points, noise and places on the lines between; every few turns noise for the generator."""
    size, width, turns = script.opt.batch_size, script.opt.latent_dim, script.opt.n_critic

    def noise() -> Any:
        return np.random.normal(0, 1, (size, width)).astype("float32")

    for turn in range(script.opt.iterations * turns):
        batch = script.sample_real(size).astype("float32"), noise(), np.random.random((size, 1)).astype("float32")
        yield (*batch, noise()) if turn % turns == turns - 1 else batch


def setup() -> tuple[Any, Any, Iterator[tuple[Any, ...]]]:
    """Return the step, the state that it starts from, and the batches."""
    script = before_training("wgan_gp")
    weights = {name: weights_of(getattr(script, name)) for name in ("generator", "discriminator")}
    return step, {"model": weights, "optimizer": {n: ADAM.init(w) for n, w in weights.items()}}, batches(script)


if __name__ == "__main__":
    train(setup, every=25)
