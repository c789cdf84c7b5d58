"""The siamese network of examples/scripts/siamese.py as pure functions: one embedding, two losses.

python examples/twins/siamese.py
python -m funcgrad compare examples/scripts/siamese.py examples/twins/siamese.py
"""

from __future__ import annotations

import random
from collections.abc import Generator, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
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

EPOCHS, STEPS, MARGIN = 3, 30, 2.0


def embedded(weights: Weights, statistics: Weights, images: jax.Array) -> jax.Array:
    """Return eight numbers for each picture; `statistics` follow them."""
    x = images
    for conv, norm, stride in ((1, 3, 1), (5, 7, 2)):
        x = jnp.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), mode="reflect")
        x = F.conv2d(x, weights[f"cnn1.{conv}.weight"], weights[f"cnn1.{conv}.bias"], stride=stride)
        x = batch_norm(weights, statistics, f"cnn1.{norm}", F.relu(x))
    return linear(weights, "fc1.2", F.relu(linear(weights, "fc1.0", x.reshape(len(x), -1))))


def contrastive_loss(
    weights: Weights, statistics: Weights, first: jax.Array, second: jax.Array, differ: jax.Array
) -> tuple[jax.Array, Weights]:
    """Hadsell, Chopra and LeCun 2006: pull alike pairs together, push others at least a margin apart."""
    statistics = dict(statistics)
    pair = embedded(weights, statistics, first), embedded(weights, statistics, second)
    distance = F.pairwise_distance(*pair, keepdim=True)
    return jnp.mean((1 - differ) * distance**2 + differ * jnp.maximum(MARGIN - distance, 0.0) ** 2), statistics


def triplet_loss(weights: Weights, statistics: Weights, *images: jax.Array) -> tuple[jax.Array, Weights]:
    statistics = dict(statistics)
    anchor, positive, negative = (embedded(weights, statistics, x) for x in images)
    return F.triplet_margin_loss(anchor, positive, negative, margin=1.0), statistics


def pairs(script: Any) -> Iterator[tuple[Any, ...]]:
    """Yield two pictures each, and 1 where they show different digits."""
    for _ in range(EPOCHS):
        for batch in script.train_dataloader:
            yield tuple(batch)


def triplets(script: Any) -> Iterator[tuple[Any, ...]]:
    """Yield pictures, others of the same digit, and others of another one."""
    by_digit = [np.flatnonzero(script.digits.target[:1200] == digit) for digit in range(10)]
    for _ in range(STEPS):
        drawn = []
        for _ in range(script.args.batch_size):
            same, other = random.sample(range(10), 2)
            pair = np.random.RandomState(random.randrange(10**6)).choice(by_digit[same], 2)
            drawn.append((*pair, random.choice(by_digit[other])))
        yield tuple(script.images[list(ids)] for ids in zip(*drawn, strict=True))


def setup() -> Generator[tuple[Any, Any, Iterator[tuple[Any, ...]]], Any, None]:
    """Yield a step, the state that it starts from, and its batches: for pairs, then for triplets."""
    script, adam = before_training("siamese"), optax.adam(5e-4)
    state = {**beginning(weights_of(script.net), adam), "statistics": statistics_of(script.net)}
    state = yield descent_with_statistics(contrastive_loss, adam), state, pairs(script)
    yield (
        descent_with_statistics(triplet_loss, adam),
        {**state, "optimizer": adam.init(state["model"])},
        triplets(script),
    )


if __name__ == "__main__":
    train(setup)
