"""The word vectors of examples/scripts/word2vec.py as a pure function: the words drawn as noise are an argument.

python examples/twins/word2vec.py
python -m funcgrad compare examples/scripts/word2vec.py examples/twins/word2vec.py
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from start import Weights, before_training, beginning, descent, embedding, train, weights_of

import funcgrad as torch

EPOCHS = 6


def loss_of(weights: Weights, centres: jax.Array, contexts: jax.Array, noise: jax.Array) -> jax.Array:
    vectors, outputs = embedding(weights, "u_embeddings", centres), partial(embedding, weights, "v_embeddings")
    seen = jax.nn.log_sigmoid((vectors * outputs(contexts)).sum(1))
    unseen = jax.nn.log_sigmoid(-jnp.einsum("nkd,nd->nk", outputs(noise), vectors)).sum(1)
    return -(seen + unseen).mean()


def batches(script: Any) -> Iterator[tuple[Any, ...]]:
    """Yield words, words near them, and words that are not."""
    size = script.batch_size
    for _ in range(EPOCHS):
        order = np.random.permutation(len(script.pairs))
        for start in range(0, len(order) // size * size, size):
            pairs = script.pairs[order[start : start + size]]
            noise = torch.multinomial(script.noise, size * script.negatives, replacement=True)
            yield pairs[:, 0], pairs[:, 1], noise.view(size, -1)


def setup() -> tuple[Any, Any, Iterator[tuple[Any, ...]]]:
    """Return the step, the state that it starts from, and the batches."""
    script = before_training("word2vec")
    adagrad = optax.adagrad(0.3, initial_accumulator_value=0.0, eps=1e-20)
    return descent(loss_of, adagrad), beginning(weights_of(script.model), adagrad), batches(script)


if __name__ == "__main__":
    train(setup, every=50)
