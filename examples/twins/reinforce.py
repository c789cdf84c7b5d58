"""The policy gradient of examples/scripts/reinforce.py as a pure function: an epoch of play is a batch.

python examples/twins/reinforce.py
python -m funcgrad compare examples/scripts/reinforce.py examples/twins/reinforce.py
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from start import Weights, before_training, beginning, descent, linear, train, weights_of

import funcgrad as torch

ENOUGH, LONGEST, PLACES = 300, 30, 16


@jax.jit
def logits_of(weights: Weights, observed: jax.Array) -> jax.Array:
    return linear(weights, "2", jnp.tanh(linear(weights, "0", observed)))


def loss_of(weights: Weights, observed: jax.Array, actions: jax.Array, returns: jax.Array, count: int) -> jax.Array:
    chosen = jnp.take_along_axis(jax.nn.log_softmax(logits_of(weights, observed)), actions[:, None], axis=1)[:, 0]
    return -(chosen * returns).sum() / count  # the returns of what is only filled up are 0


def epochs(script: Any, weights: Weights) -> Generator[tuple[Any, ...], Any, None]:
    """Yield what was seen, done and earned in some episodes, filled up to one length; is sent the state after it."""
    world = script.GridWorld()
    for _ in range(script.args.epochs):
        size = ENOUGH + 1 + LONGEST
        observed, actions, returns = (
            np.zeros((size, PLACES), "float32"),
            np.zeros(size, "int32"),
            np.zeros(size, "float32"),
        )
        seen, rewards, count = world.reset(), [], 0
        while True:
            logits = torch.from_numpy(np.array(logits_of(weights, seen)))
            observed[count], actions[count] = seen, torch.distributions.Categorical(logits=logits).sample().item()
            seen, reward, ended = world.step(actions[count])
            rewards.append(reward)
            count += 1
            if ended:
                returns[count - len(rewards) : count] = script.reward_to_go(rewards)
                seen, rewards = world.reset(), []
                if count > ENOUGH:
                    break
        weights = (yield observed, actions, returns, count)["model"]


def setup() -> tuple[Any, Any, Generator[tuple[Any, ...], Any, None]]:
    """Return the step, the state that it starts from, and the play."""
    script = before_training("reinforce")
    torch.manual_seed(0)
    weights, adam = weights_of(script.mlp([PLACES, 32, 4])), optax.adam(script.args.lr)
    return descent(loss_of, adam), beginning(weights, adam), epochs(script, weights)


if __name__ == "__main__":
    train(setup, every=1)
