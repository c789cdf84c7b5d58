"""The classifier of examples/scripts/mlp_classifier.py as a pure function: the mask of dropout is an argument.

python examples/twins/mlp_classifier.py
python -m funcgrad compare examples/scripts/mlp_classifier.py examples/twins/mlp_classifier.py
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import optax
from start import Weights, before_training, beginning, descent, linear, mask, train, weights_of

from funcgrad.nn import functional as F

EPOCHS, HIDDEN, DROPPED = 30, 32, 0.1


def loss_of(weights: Weights, features: jax.Array, labels: jax.Array, kept: jax.Array) -> jax.Array:
    hidden = F.relu(linear(weights, "net.0", features)) * kept
    hidden = F.relu(linear(weights, "net.3", hidden))
    return F.cross_entropy(linear(weights, "net.5", hidden), labels)


def batches(script: Any) -> Iterator[tuple[Any, ...]]:
    """Yield features, labels and masks."""
    for _ in range(EPOCHS):
        for features, labels in script.train_loader:
            yield features, labels, mask(len(features), HIDDEN, p=DROPPED)
        next(iter(script.test_loader))  # draws a seed, as the script's evaluation does


def setup() -> tuple[Any, Any, Iterator[tuple[Any, ...]]]:
    """Return the step, the state that it starts from, and the batches."""
    script = before_training("mlp_classifier")
    rate = optax.exponential_decay(0.01, 10 * len(script.train_loader), 0.5, staircase=True)
    sgd = optax.chain(optax.add_decayed_weights(1e-4), optax.sgd(rate, momentum=0.9))
    return descent(loss_of, sgd), beginning(weights_of(script.model), sgd), batches(script)


if __name__ == "__main__":
    train(setup)
