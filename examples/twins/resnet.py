"""The residual network of examples/scripts/resnet.py as a pure function: running statistics go in and come out.

python examples/twins/resnet.py
python -m funcgrad compare examples/scripts/resnet.py examples/twins/resnet.py
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

from funcgrad.nn import functional as F

EPOCHS, RATE, MOMENTUM, DECAY = 4, 0.05, 0.9, 5e-4


class Network:
    """The forward pass with its weights; `statistics` become what the batch makes of them."""

    def __init__(self, weights: Weights, statistics: Weights) -> None:
        self.weights, self.statistics = weights, dict(statistics)

    def conv(self, conv: str, norm: str, x: jax.Array, stride: int = 1, padding: int = 1) -> jax.Array:
        x = F.conv2d(x, self.weights[f"{conv}.weight"], stride=stride, padding=padding)
        return batch_norm(self.weights, self.statistics, norm, x)

    def block(self, name: str, x: jax.Array, stride: int) -> jax.Array:
        out = F.relu(self.conv(f"{name}.conv1", f"{name}.bn1", x, stride))
        out = self.conv(f"{name}.conv2", f"{name}.bn2", out)
        if stride > 1:
            x = self.conv(f"{name}.shortcut.0", f"{name}.shortcut.1", x, stride, padding=0)
        return F.relu(out + x)

    def __call__(self, images: jax.Array) -> jax.Array:
        x = F.relu(self.conv("conv1", "bn1", images))
        for layer, stride in ((1, 1), (2, 2), (3, 2)):
            x = self.block(f"layer{layer}.0", x, stride)
        return linear(self.weights, "fc", x.mean((2, 3)))


def loss_of(weights: Weights, statistics: Weights, images: jax.Array, labels: jax.Array) -> tuple[jax.Array, Weights]:
    network = Network(weights, statistics)
    return F.cross_entropy(network(images), labels), network.statistics


def batches(script: Any) -> Iterator[tuple[Any, ...]]:
    """Yield pictures, shuffled, cropped and flipped anew in each epoch."""
    for _ in range(EPOCHS):
        yield from script.train_loader
        next(iter(script.val_loader))  # draws a seed, as the script's evaluation does


def setup() -> tuple[Any, Any, Iterator[tuple[Any, ...]]]:
    """Return the step, the state that it starts from, and the batches."""
    script = before_training("resnet")
    steps = len(script.train_loader)
    rate = optax.piecewise_constant_schedule(RATE, {2 * steps: 0.2, 3 * steps: 0.2})
    sgd = optax.chain(optax.add_decayed_weights(DECAY), optax.sgd(rate, MOMENTUM, nesterov=True))
    state = {**beginning(weights_of(script.model), sgd), "statistics": statistics_of(script.model)}
    return descent_with_statistics(loss_of, sgd), state, batches(script)


if __name__ == "__main__":
    train(setup, every=16)
