"""The super-resolution of examples/scripts/super_resolution.py as a pure function: four convolutions and a reshape.

python examples/twins/super_resolution.py
python -m funcgrad compare examples/scripts/super_resolution.py examples/twins/super_resolution.py
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import optax
from start import Weights, before_training, beginning, descent, train, weights_of

from funcgrad.nn import functional as F

EPOCHS, FACTOR = 3, 2


def loss_of(weights: Weights, small: jax.Array, images: jax.Array) -> jax.Array:
    x = small
    for name, padding in (("conv1", 2), ("conv2", 1), ("conv3", 1), ("conv4", 1)):
        x = F.conv2d(x, weights[f"{name}.weight"], weights[f"{name}.bias"], padding=padding)
        x = F.relu(x) if name != "conv4" else x
    count, _, height, width = x.shape
    pixels = x.reshape(count, FACTOR, FACTOR, height, width).transpose(0, 3, 1, 4, 2)
    return F.mse_loss(pixels.reshape(images.shape), images)


def batches(script: Any) -> Iterator[tuple[Any, ...]]:
    """Yield small pictures and large ones."""
    for _ in range(EPOCHS):
        yield from script.training_data_loader
        next(iter(script.testing_data_loader))  # draws a seed, as the script's evaluation does


def setup() -> tuple[Any, Any, Iterator[tuple[Any, ...]]]:
    """Return the step, the state that it starts from, and the batches."""
    script = before_training("super_resolution")
    adam = optax.adam(1e-3)
    return descent(loss_of, adam), beginning(weights_of(script.model), adam), batches(script)


if __name__ == "__main__":
    train(setup)
