"""The painting of examples/scripts/neural_style.py as a pure function of its pixels, moved by L-BFGS in a while_loop.

python examples/twins/neural_style.py
python -m funcgrad compare examples/scripts/neural_style.py examples/twins/neural_style.py
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from lbfgs import memory_of, minimised
from start import Weights, before_training, train

from funcgrad.nn import functional as F

STYLE, CONTENT, TURNS, STEPS = 1e4, 1.0, 10, 5
MEAN, SPREAD = (jnp.array(three).reshape(3, 1, 1) for three in ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]))


def features(weights: Weights, picture: jax.Array) -> list[jax.Array]:
    """Return what the three convolutions see in a picture. Shape: picture (1, 3, H, W)."""
    first = F.conv2d((picture - MEAN) / SPREAD, weights["1.weight"], weights["1.bias"], padding=1)
    second = F.conv2d(F.relu(first), weights["3.weight"], weights["3.bias"], padding=1)
    third = F.conv2d(F.avg_pool2d(F.relu(second), 2), weights["6.weight"], weights["6.bias"], padding=1)
    return [first, second, third]


def gram(seen: jax.Array) -> jax.Array:
    """Return how often two features meet. Shape: seen (1, C, H, W), result (C, C)."""
    maps = seen.reshape(seen.shape[1], -1)
    return maps @ maps.T / seen.size


def loss_of(picture: jax.Array, weights: Weights, content: jax.Array, style: jax.Array) -> jax.Array:
    seen, of_style = features(weights, picture), features(weights, style)
    styles = sum(jnp.mean((gram(one) - gram(other)) ** 2) for one, other in zip(seen, of_style, strict=True))
    return STYLE * styles + CONTENT * jnp.mean((seen[-1] - features(weights, content)[-1]) ** 2)


def setup() -> tuple[Any, Any, Iterator[tuple[Any, ...]]]:
    """Return the step, the state that it starts from, and the batches, which are empty."""
    script = before_training("neural_style")
    content, style = script.content_img.jax(), script.style_img.jax()
    weights = {name: parameter.jax() for name, parameter in script.cnn.named_parameters()}
    loss = partial(loss_of, weights=weights, content=content, style=style)

    def evaluate(x: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
        """Put the colours back into their range, and look from there."""
        x = jnp.clip(x, 0, 1)
        value, gradient = jax.value_and_grad(loss)(x.reshape(content.shape))
        return x, value, gradient.reshape(-1)

    @jax.jit
    def step(state: Any) -> tuple[Any, jax.Array, Any]:
        x, memory, value, gradient = minimised(evaluate, state["model"][0].reshape(-1), state["search"], 1.0, TURNS)
        return {"model": [x.reshape(content.shape)], "search": memory}, value, [gradient.reshape(content.shape)]

    return step, {"model": [content], "search": memory_of(content.reshape(-1))}, iter([()] * STEPS)


if __name__ == "__main__":
    train(setup, every=1)
