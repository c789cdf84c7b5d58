"""The actor and the critic of examples/scripts/actor_critic.py as a pure function: an episode is a batch.

python examples/twins/actor_critic.py
python -m funcgrad compare examples/scripts/actor_critic.py examples/twins/actor_critic.py
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
from funcgrad.nn import functional as F

LONGEST = 200


@jax.jit
def judged(weights: Weights, observed: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return the probabilities of the actions, and what the place is worth."""
    hidden = F.relu(linear(weights, "affine1", observed))
    return jax.nn.softmax(linear(weights, "action_head", hidden)), linear(weights, "value_head", hidden)[..., 0]


def loss_of(weights: Weights, observed: jax.Array, actions: jax.Array, returns: jax.Array, was: jax.Array) -> jax.Array:
    """was: 1 for what happened, 0 for what an episode is filled up with."""
    probabilities, values = judged(weights, observed)
    chosen = jnp.log(jnp.take_along_axis(probabilities, actions[:, None], axis=1)[:, 0])
    advantage = returns - jax.lax.stop_gradient(values)
    return jnp.sum(was * (F.smooth_l1_loss(values, returns, reduction="none") - chosen * advantage))


def discounted(rewards: list[float], gamma: float) -> np.ndarray[Any, Any]:
    """Return what is earned from each turn on, normalised."""
    returns, total = np.zeros(len(rewards), "float32"), 0.0
    for turn in reversed(range(len(rewards))):
        total = rewards[turn] + gamma * total
        returns[turn] = total
    return (returns - returns.mean()) / (returns.std(ddof=1) + np.finfo("float32").eps)


def episodes(script: Any, weights: Weights) -> Generator[tuple[Any, ...], Any, None]:
    """Yield what was seen, done and earned, filled up to one length; is sent the state after each."""
    for _ in range(script.args.episodes):
        observed, actions = np.zeros((LONGEST, 4), "float32"), np.zeros(LONGEST, "int32")
        returns, was = np.zeros(LONGEST, "float32"), np.zeros(LONGEST, "float32")
        seen, rewards, ended = script.env.reset(), [], False
        while not ended and len(rewards) < LONGEST:
            turn = len(rewards)
            probabilities = torch.from_numpy(np.array(judged(weights, seen)[0]))
            observed[turn], actions[turn] = seen, torch.distributions.Categorical(probabilities).sample().item()
            seen, reward, ended = script.env.step(actions[turn])
            rewards.append(reward)
        returns[: len(rewards)], was[: len(rewards)] = discounted(rewards, script.args.gamma), 1
        weights = (yield observed, actions, returns, was)["model"]


def setup() -> tuple[Any, Any, Generator[tuple[Any, ...], Any, None]]:
    """Return the step, the state that it starts from, and the play."""
    script = before_training("actor_critic")
    weights, adam = weights_of(script.model), optax.adam(3e-3)
    return descent(loss_of, adam), beginning(weights, adam), episodes(script, weights)


if __name__ == "__main__":
    train(setup, every=5)
