"""The sine waves of examples/scripts/time_series_lbfgs.py as a pure function, in float64: L-BFGS is a while_loop.

python examples/twins/time_series_lbfgs.py
python -m funcgrad compare examples/scripts/time_series_lbfgs.py examples/twins/time_series_lbfgs.py
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from lbfgs import memory_of, minimised
from start import Weights, before_training, linear, train, weights_of

from funcgrad.nn import functional as F

jax.config.update("jax_enable_x64", True)
HIDDEN, RATE, TURNS = 20, 0.8, 8
Memory = tuple[jax.Array, jax.Array]


def cell(weights: Weights, name: str, x: jax.Array, memory: Memory) -> Memory:
    """Return an LSTM cell's next hidden state and memory."""
    hidden, kept = memory
    gates = F.linear(x, weights[f"{name}.weight_ih"], weights[f"{name}.bias_ih"])
    i, f, g, o = jnp.split(
        gates + F.linear(hidden, weights[f"{name}.weight_hh"], weights[f"{name}.bias_hh"]), 4, axis=1
    )
    kept = jax.nn.sigmoid(f) * kept + jax.nn.sigmoid(i) * jnp.tanh(g)
    return jax.nn.sigmoid(o) * jnp.tanh(kept), kept


def loss_of(weights: Weights, waves: jax.Array, targets: jax.Array) -> jax.Array:
    nothing = jnp.zeros((len(waves), HIDDEN))

    def turn(memories: tuple[Memory, Memory], x: jax.Array) -> tuple[tuple[Memory, Memory], jax.Array]:
        first = cell(weights, "lstm1", x[:, None], memories[0])
        second = cell(weights, "lstm2", first[0], memories[1])
        return (first, second), linear(weights, "linear", second[0])[:, 0]

    predicted = jax.lax.scan(turn, ((nothing, nothing), (nothing, nothing)), waves.T)[1]
    return jnp.mean((predicted.T - targets) ** 2)


@jax.jit
def step(state: Any, waves: jax.Array, targets: jax.Array) -> tuple[Any, jax.Array, Any]:
    """Take as many turns of L-BFGS as the script's optimizer takes in one step."""
    vector, unravel = ravel_pytree(state["model"])

    def evaluate(x: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
        loss, gradients = jax.value_and_grad(loss_of)(unravel(x), waves, targets)
        return x, loss, ravel_pytree(gradients)[0]

    vector, memory, loss, gradient = minimised(evaluate, vector, state["search"], RATE, TURNS)
    return {"model": unravel(vector), "search": memory}, loss, unravel(gradient)


def setup() -> tuple[Any, Any, Iterator[tuple[Any, ...]]]:
    """Return the step, the state that it starts from, and the batches, which are all alike."""
    script = before_training("time_series_lbfgs")
    weights = weights_of(script.seq)
    state = {"model": weights, "search": memory_of(ravel_pytree(weights)[0])}
    return step, state, iter([(script.input, script.target)] * script.opt.steps)


if __name__ == "__main__":
    train(setup, every=1)
