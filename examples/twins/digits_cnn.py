"""The convolutional network of examples/scripts/digits_cnn.py as a pure function: statistics go in and come out.

python examples/twins/digits_cnn.py
python -m funcgrad compare examples/scripts/digits_cnn.py examples/twins/digits_cnn.py
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import optax
from start import (
    Weights,
    batch_norm,
    before_training,
    beginning,
    descent_with_statistics,
    linear,
    statistics_of,
    train,
    weights_of,
)

import funcgrad as torch
from funcgrad.nn import functional as F

EPOCHS, CHANNELS, HIDDEN = 4, 32, 64
Masks = tuple[jax.Array, jax.Array]


def loss_of(
    weights: Weights, statistics: Weights, images: jax.Array, labels: jax.Array, kept: Masks
) -> tuple[jax.Array, Weights]:
    statistics = dict(statistics)
    x = F.conv2d(images, weights["conv1.weight"], padding=1)
    x = F.max_pool2d(F.relu(batch_norm(weights, statistics, "bn1", x)), 2)
    x = F.conv2d(x, weights["conv2.weight"], padding=1) * kept[0]
    x = F.max_pool2d(F.relu(batch_norm(weights, statistics, "bn2", x)), 2)
    hidden = F.relu(linear(weights, "fc1", x.reshape(len(x), -1))) * kept[1]
    return F.cross_entropy(linear(weights, "fc2", hidden), labels), statistics


def batches(script: Any) -> Iterator[tuple[Any, ...]]:
    """Yield pictures, digits, and the masks of both kinds of dropout."""
    for _ in range(EPOCHS):
        for images, labels in script.train_loader:
            channels = F.dropout2d(torch.ones(len(images), CHANNELS, 1, 1), 0.1).jax()
            yield images, labels, (channels, F.dropout(torch.ones(len(images), HIDDEN), 0.25).jax())
        next(iter(script.test_loader))  # draws a seed, as the script's evaluation does


def setup() -> tuple[Any, Any, Iterator[tuple[Any, ...]]]:
    """Return the step, the state that it starts from, and the batches."""
    script = before_training("digits_cnn")
    adam = optax.adam(2e-3)  # the script's loss never rises, so the rate stays
    state = {**beginning(weights_of(script.model), adam), "statistics": statistics_of(script.model)}
    return descent_with_statistics(loss_of, adam), state, batches(script)


if __name__ == "__main__":
    train(setup)
