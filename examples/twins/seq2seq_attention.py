"""The encoder and decoder of examples/scripts/seq2seq_attention.py as a pure function: both loops are scans.

python examples/twins/seq2seq_attention.py
python -m funcgrad compare examples/scripts/seq2seq_attention.py examples/twins/seq2seq_attention.py
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import optax
from start import Weights, before_training, beginning, descent, embedding, linear, mask, train, weights_of

from funcgrad.nn import functional as F

EPOCHS, HIDDEN, LENGTH, START, DROPPED = 10, 48, 8, 0, 0.1


def gru(weights: Weights, x: jax.Array, hidden: jax.Array) -> jax.Array:
    """Return a gated recurrent unit's next hidden state."""
    xr, xz, xn = jnp.split(F.linear(x, weights["gru.weight_ih_l0"], weights["gru.bias_ih_l0"]), 3, axis=1)
    hr, hz, hn = jnp.split(F.linear(hidden, weights["gru.weight_hh_l0"], weights["gru.bias_hh_l0"]), 3, axis=1)
    update = jax.nn.sigmoid(xz + hz)
    return (1 - update) * jnp.tanh(xn + jax.nn.sigmoid(xr + hr) * hn) + update * hidden


def encoded(weights: Weights, words: jax.Array, kept: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return the last hidden state and all. Shape: words (N, T), kept (N, T, H), result (N, H) and (N, T, H)."""

    def turn(hidden: jax.Array, x: jax.Array) -> tuple[jax.Array, jax.Array]:
        hidden = gru(weights, x, hidden)
        return hidden, hidden

    xs = (embedding(weights, "embedding", words) * kept).swapaxes(0, 1)
    last, all_ = jax.lax.scan(turn, jnp.zeros_like(xs[0]), xs)
    return last, all_.swapaxes(0, 1)


def attended(weights: Weights, hidden: jax.Array, keys: jax.Array) -> jax.Array:
    """Return the mean of the keys, each weighted by what the hidden state asks for."""
    query = linear(weights, "attention.Wa", hidden)[:, None]
    scores = linear(weights, "attention.Va", jnp.tanh(query + linear(weights, "attention.Ua", keys)))
    return (jax.nn.softmax(scores, axis=1) * keys).sum(1)


def loss_of(weights: Any, words: jax.Array, targets: jax.Array, on_words: jax.Array, on_targets: Any) -> jax.Array:
    decoder = weights["decoder"]
    hidden, keys = encoded(weights["encoder"], words, on_words)
    given = jnp.concatenate([jnp.full_like(targets[:, :1], START), targets[:, :-1]], axis=1)  # teacher forcing
    xs = embedding(decoder, "embedding", given).swapaxes(0, 1) * on_targets

    def turn(hidden: jax.Array, x: jax.Array) -> tuple[jax.Array, jax.Array]:
        hidden = gru(decoder, jnp.concatenate([x, attended(decoder, hidden, keys)], axis=1), hidden)
        return hidden, linear(decoder, "out", hidden)

    logits = jax.lax.scan(turn, hidden, xs)[1].swapaxes(0, 1)
    return F.cross_entropy(logits.reshape(targets.size, -1), targets.reshape(-1))


def batches(script: Any) -> Iterator[tuple[Any, ...]]:
    """Yield symbols, these reversed, and masks."""
    for _ in range(EPOCHS):
        for words, targets in script.loader:
            on_words = mask(len(words), LENGTH, HIDDEN, p=DROPPED)
            yield words, targets, on_words, jnp.stack([mask(len(words), HIDDEN, p=DROPPED) for _ in range(LENGTH)])


def setup() -> tuple[Any, Any, Iterator[tuple[Any, ...]]]:
    """Return the step, the state that it starts from, and the batches."""
    script = before_training("seq2seq_attention")
    weights, adam = {name: weights_of(getattr(script, name)) for name in ("encoder", "decoder")}, optax.adam(5e-3)
    return descent(loss_of, adam), beginning(weights, adam), batches(script)


if __name__ == "__main__":
    train(setup, every=20)
