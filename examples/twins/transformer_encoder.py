"""The transformer of examples/scripts/transformer_encoder.py as a pure function: the masks of dropout are arguments.

python examples/twins/transformer_encoder.py
python -m funcgrad compare examples/scripts/transformer_encoder.py examples/twins/transformer_encoder.py
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import optax
from start import Weights, before_training, beginning, descent, embedding, layer_norm, linear, mask, train, weights_of

from funcgrad.nn import functional as F
from funcgrad.utils.data import DataLoader

EPOCHS, BATCH, LENGTH, WIDTH, HIDDEN, HEADS, LAYERS, DROPPED = 8, 32, 20, 48, 96, 2, 2, 0.1


def positions() -> jax.Array:
    """Return sines and cosines by turns. Shape: (LENGTH, 1, WIDTH)."""
    angles = jnp.arange(LENGTH)[:, None] * jnp.exp(jnp.arange(0, WIDTH, 2) * (-math.log(10000.0) / WIDTH))
    return jnp.stack([jnp.sin(angles), jnp.cos(angles)], axis=-1).reshape(LENGTH, 1, WIDTH)


def attention(weights: Weights, name: str, x: jax.Array, kept: jax.Array) -> jax.Array:
    """Let each place attend to itself and those before. Shape: x and result (T, N, C), kept (N, HEADS, T, T)."""
    qkv = F.linear(x, weights[f"{name}.in_proj_weight"], weights[f"{name}.in_proj_bias"])
    q, k, v = jnp.moveaxis(qkv.reshape(*x.shape[:2], 3, HEADS, WIDTH // HEADS), 2, 0)
    scores = jnp.einsum("qnhd,knhd->nhqk", q, k) / math.sqrt(WIDTH / HEADS)
    scores = jnp.where(jnp.tril(jnp.ones((LENGTH, LENGTH), bool)), scores, -jnp.inf)
    seen = jnp.einsum("nhqk,knhd->qnhd", jax.nn.softmax(scores) * kept, v)
    return linear(weights, f"{name}.out_proj", seen.reshape(x.shape))


def loss_of(weights: Weights, words: jax.Array, targets: jax.Array, kept: Any) -> jax.Array:
    first, *of_layers = kept
    x = (embedding(weights, "embedding", words) * math.sqrt(WIDTH) + positions()) * first
    for layer, (on_scores, on_attention, on_hidden, on_result) in enumerate(of_layers):
        name = f"transformer_encoder.layers.{layer}"
        attended = attention(weights, f"{name}.self_attn", x, on_scores) * on_attention
        x = layer_norm(weights, f"{name}.norm1", x + attended)
        hidden = F.relu(linear(weights, f"{name}.linear1", x)) * on_hidden
        x = layer_norm(weights, f"{name}.norm2", x + linear(weights, f"{name}.linear2", hidden) * on_result)
    return F.cross_entropy(linear(weights, "linear", x).reshape(targets.size, -1), targets)


def batches(script: Any) -> Iterator[tuple[Any, ...]]:
    """Yield sentences, the words that follow, and masks."""
    shape = LENGTH, BATCH, WIDTH
    shapes = (BATCH, HEADS, LENGTH, LENGTH), shape, (LENGTH, BATCH, HIDDEN), shape
    for _ in range(EPOCHS):
        for words, targets in DataLoader(script.train_data, batch_size=BATCH, shuffle=True):
            first = mask(*shape, p=DROPPED)
            kept = (first, *[tuple(mask(*s, p=DROPPED) for s in shapes) for _ in range(LAYERS)])
            yield words.t(), targets.t().reshape(-1), kept


def setup() -> tuple[Any, Any, Iterator[tuple[Any, ...]]]:
    """Return the step, the state that it starts from, and the batches."""
    script = before_training("transformer_encoder")
    sgd = optax.sgd(optax.exponential_decay(0.5, len(script.train_data) // BATCH, 0.95, staircase=True))
    return descent(loss_of, sgd, most=0.5), beginning(weights_of(script.model), sgd), batches(script)


if __name__ == "__main__":
    train(setup)
