"""The Q-learning of examples/scripts/dqn.py as a pure function: it plays with the weights of the state it is sent.

python examples/twins/dqn.py
python -m funcgrad compare examples/scripts/dqn.py examples/twins/dqn.py
"""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Generator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from start import Weights, before_training, linear, train, weights_of

from funcgrad.nn import functional as F

EPISODES, BATCH, GAMMA, TAU, RATE, DECAY, B1, B2 = 40, 64, 0.99, 0.01, 1e-3, 0.01, 0.9, 0.999


@jax.jit
def values_of(weights: Weights, seen: jax.Array) -> jax.Array:
    hidden = F.relu(linear(weights, "layer2", F.relu(linear(weights, "layer1", seen))))
    return linear(weights, "layer3", hidden)


def loss_of(weights: Weights, target: Weights, seen: Any, actions: Any, then: Any, ended: Any) -> jax.Array:
    value = jnp.take_along_axis(values_of(weights, seen), actions[:, None], axis=1)[:, 0]
    return F.smooth_l1_loss(value, 1.0 + GAMMA * jnp.where(ended, 0.0, values_of(target, then).max(1)))


def amsgrad(weights: Weights, gradients: Weights, state: Any) -> tuple[Weights, Any]:
    """Take a step of AdamW by the largest second moment so far, which optax.amsgrad corrects before it compares."""
    count = state["step"] + 1
    mean = jax.tree.map(lambda m, g: B1 * m + (1 - B1) * g, state["exp_avg"], gradients)
    square = jax.tree.map(lambda s, g: B2 * s + (1 - B2) * g * g, state["exp_avg_sq"], gradients)
    largest = jax.tree.map(jnp.maximum, state["max_exp_avg_sq"], square)

    def moved(weight: jax.Array, mean: jax.Array, largest: jax.Array) -> jax.Array:
        spread = jnp.sqrt(largest) / jnp.sqrt(1 - B2**count) + 1e-8
        return weight * (1 - RATE * DECAY) - RATE / (1 - B1**count) * mean / spread

    state = {"exp_avg": mean, "exp_avg_sq": square, "max_exp_avg_sq": largest, "step": count}
    return jax.tree.map(moved, weights, mean, largest), state


@partial(jax.jit, donate_argnums=0)
def step(state: Any, *batch: Any) -> tuple[Any, jax.Array, Any]:
    """Learn from some moves that are remembered, and let the target follow slowly."""
    loss, gradients = jax.value_and_grad(loss_of)(state["policy_net"], state["target_net"], *batch)
    gradients = jax.tree.map(lambda gradient: jnp.clip(gradient, -100, 100), gradients)
    weights, inner = amsgrad(state["policy_net"], gradients, state["optimizer"])
    target = jax.tree.map(lambda new, old: new * TAU + old * (1 - TAU), weights, state["target_net"])
    return {"policy_net": weights, "target_net": target, "optimizer": inner}, loss, gradients


def play(env: Any, weights: Weights) -> Generator[tuple[Any, ...], Any, None]:
    """Yield moves drawn from the memory: what was seen, done, seen then, and whether it ended; is sent the state."""
    memory, moves = deque[Any](maxlen=10000), 0
    for _ in range(EPISODES):
        seen, over = np.array(env.reset(), "float32"), False
        while not over:
            is_greedy = random.random() > 0.02 + 0.88 * math.exp(-moves / 200)
            action = int(values_of(weights, seen).argmax()) if is_greedy else random.randrange(2)
            observed, _, ended, too_long = env.step(action)
            then, moves, over = np.array(observed, "float32"), moves + 1, ended or too_long
            memory.append((seen, action, then, ended))
            seen = then
            if len(memory) >= BATCH:
                state = yield tuple(map(np.stack, zip(*random.sample(memory, BATCH), strict=True)))
                weights = state["policy_net"]


def setup() -> tuple[Any, Any, Generator[tuple[Any, ...], Any, None]]:
    """Return the step, the state that it starts from, and the play."""
    script = before_training("dqn")
    weights, target = weights_of(script.policy_net), weights_of(script.target_net)
    zeros = {name: jax.tree.map(jnp.zeros_like, weights) for name in ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")}
    state = {"policy_net": weights, "target_net": target, "optimizer": {**zeros, "step": jnp.array(0)}}
    return step, state, play(script.env, weights)


if __name__ == "__main__":
    train(setup, every=100)
