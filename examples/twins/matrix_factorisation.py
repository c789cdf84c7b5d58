"""The films of examples/scripts/matrix_factorisation.py as a pure function: an embedding is an array with an index.

python examples/twins/matrix_factorisation.py
python -m funcgrad compare examples/scripts/matrix_factorisation.py examples/twins/matrix_factorisation.py
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import optax
from start import Weights, before_training, beginning, descent, embedding, train, weights_of

EPOCHS = 15


def loss_of(weights: Weights, users: jax.Array, items: jax.Array, ratings: jax.Array) -> jax.Array:
    biases = embedding(weights, "user_biases", users) + embedding(weights, "item_biases", items)
    likes = (embedding(weights, "user_factors", users) * embedding(weights, "item_factors", items)).sum(1)
    return jnp.mean((biases[:, 0] + weights["global_bias"] + likes - ratings) ** 2)


def batches(script: Any) -> Iterator[tuple[Any, ...]]:
    """Yield users, items and ratings."""
    for _ in range(EPOCHS):
        for batch in script.train:
            yield batch["user"], batch["item"], batch["rating"]


def setup() -> tuple[Any, Any, Iterator[tuple[Any, ...]]]:
    """Return the step, the state that it starts from, and the batches."""
    script = before_training("matrix_factorisation")
    rate = optax.exponential_decay(0.02, len(script.train), 0.95, staircase=True)
    adam = optax.chain(optax.add_decayed_weights(1e-5), optax.adam(rate))
    return descent(loss_of, adam), beginning(weights_of(script.model), adam), batches(script)


if __name__ == "__main__":
    train(setup)
