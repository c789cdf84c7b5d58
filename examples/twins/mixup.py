"""The mixed pictures of examples/scripts/mixup.py as a pure function: how much of each is an argument.

python examples/twins/mixup.py
python -m funcgrad compare examples/scripts/mixup.py examples/twins/mixup.py
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import optax
from start import Weights, before_training, beginning, descent, linear, train, weights_of

from funcgrad.nn import functional as F

SMOOTHING, BATCH, TURNS = 0.1, 100, 14


def logits_of(weights: Weights, images: jax.Array) -> jax.Array:
    x = F.gelu(F.conv2d(images, weights["0.weight"], weights["0.bias"], padding=1))
    x = F.conv2d(F.avg_pool2d(x, 2), weights["3.weight"], weights["3.bias"], padding=1)
    x = F.gelu(F.group_norm(x, 4, weights["4.weight"], weights["4.bias"]))
    return linear(weights, "8", F.avg_pool2d(x, 2).reshape(len(x), -1))


def loss_of(weights: Weights, images: jax.Array, one: jax.Array, other: jax.Array, share: jax.Array) -> jax.Array:
    logits = logits_of(weights, images)
    first, second = (F.cross_entropy(logits, labels, label_smoothing=SMOOTHING) for labels in (one, other))
    return share * first + (1 - share) * second


def batches(script: Any) -> Iterator[tuple[Any, ...]]:
    """Yield mixed pictures, both labels, and the share of the first."""
    for _ in range(script.args.epochs):
        for images, labels in zip(script.train_x.split(BATCH), script.train_y.split(BATCH), strict=True):
            yield script.mixup_data(images, labels, script.args.alpha)


def setup() -> tuple[Any, Any, Iterator[tuple[Any, ...]]]:
    """Return the step, the state that it starts from, and the batches."""
    script = before_training("mixup")

    def rate(count: jax.Array) -> jax.Array:
        return 0.05 * (1 + jnp.cos(jnp.pi * (count // TURNS) / script.args.epochs))

    sgd = optax.chain(optax.add_decayed_weights(1e-4), optax.sgd(rate, momentum=0.9))
    return descent(loss_of, sgd), beginning(weights_of(script.net), sgd), batches(script)


if __name__ == "__main__":
    train(setup)
