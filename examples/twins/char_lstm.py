"""The language model of examples/scripts/char_lstm.py as a pure function: what it remembers goes in and comes out.

python examples/twins/char_lstm.py
python -m funcgrad compare examples/scripts/char_lstm.py examples/twins/char_lstm.py
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from start import Weights, before_training, clipped, embedding, linear, mask, train, weights_of

from funcgrad.nn import functional as F

EMBEDDING, HIDDEN, LAYERS = 24, 48, 2
Memory = tuple[jax.Array, jax.Array]  # each (LAYERS, batch, HIDDEN)


def lstm(weights: Weights, layer: int, xs: jax.Array, start: Memory) -> tuple[Memory, jax.Array]:
    """Run one layer along a sequence. Shape: xs (T, N, *), result's second (T, N, HIDDEN)."""
    w_in, w_hidden, b_in, b_hidden = (
        weights[f"rnn.{name}_l{layer}"] for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )

    def turn(memory: Memory, x: jax.Array) -> tuple[Memory, jax.Array]:
        hidden, cell = memory
        gates = x + F.linear(hidden, w_hidden, b_hidden)
        i, f, g, o = jnp.split(gates, 4, axis=-1)
        cell = jax.nn.sigmoid(f) * cell + jax.nn.sigmoid(i) * jnp.tanh(g)
        hidden = jax.nn.sigmoid(o) * jnp.tanh(cell)
        return (hidden, cell), hidden

    return jax.lax.scan(turn, start, F.linear(xs, w_in, b_in))


def loss_of(
    weights: Weights, memory: Memory, words: jax.Array, targets: jax.Array, kept: tuple[jax.Array, ...]
) -> tuple[jax.Array, Memory]:
    x, last = embedding(weights, "encoder", words), []
    for layer in range(LAYERS):
        end, x = lstm(weights, layer, x * kept[layer], (memory[0][layer], memory[1][layer]))
        last.append(end)
    logits = linear(weights, "decoder", x * kept[LAYERS])
    hidden, cell = map(jnp.stack, zip(*last, strict=True))
    return F.cross_entropy(logits.reshape(len(targets), -1), targets), (hidden, cell)


@partial(jax.jit, static_argnames=("rate", "most"))
def step(
    state: Any, is_new: bool, words: jax.Array, targets: jax.Array, kept: Any, rate: float = 5.0, most: float = 0.25
) -> tuple[Any, jax.Array, Any]:
    """Learn from one stretch of text; at the beginning of an epoch nothing is remembered."""
    memory = jax.tree.map(lambda m: jnp.where(is_new, 0.0, m), state["memory"])
    slope = jax.value_and_grad(loss_of, has_aux=True)
    (loss, memory), gradients = slope(state["model"], memory, words, targets, kept)
    moves = clipped(gradients, most)
    return {"model": jax.tree.map(lambda w, m: w - rate * m, state["model"], moves), "memory": memory}, loss, gradients


def batches(script: Any) -> Iterator[tuple[Any, ...]]:
    """Yield whether an epoch begins, characters, those that follow, and masks."""
    text, size = script.train_data, script.args.batch_size
    for _ in range(script.args.epochs):
        for start in range(0, len(text) - 1, script.args.bptt):
            words, targets = script.get_batch(text, start, script.args.bptt)
            widths = (EMBEDDING, *[HIDDEN] * LAYERS)
            yield start == 0, words, targets, tuple(mask(len(words), size, n, p=script.args.dropout) for n in widths)


def setup() -> tuple[Any, Any, Iterator[tuple[Any, ...]]]:
    """Return the step, the state that it starts from, and the batches."""
    script = before_training("char_lstm")
    nothing = jnp.zeros((LAYERS, script.args.batch_size, HIDDEN))
    return step, {"model": weights_of(script.model), "memory": (nothing, nothing)}, batches(script)


if __name__ == "__main__":
    train(setup)
