"""The residual network of examples/scripts/resnet.py as a pure function: running statistics go in and come out.

python examples/twins/resnet.py
python -m funcgrad compare examples/scripts/resnet.py examples/twins/resnet.py
"""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

import funcgrad as torch
from funcgrad.nn import functional as F
from funcgrad.utils.data import DataLoader

EPOCHS, RATE, MOMENTUM, DECAY, TO_NEW = 4, 0.05, 0.9, 5e-4, 0.1
Statistics = dict[str, jax.Array]


class Network:
    """The forward pass with its weights and statistics: `new` gathers what the statistics become."""

    def __init__(self, weights: dict[str, jax.Array], statistics: Statistics) -> None:
        self.weights, self.statistics, self.new = weights, statistics, dict(statistics)

    def norm(self, name: str, x: jax.Array) -> jax.Array:
        """Normalise by the batch's own mean and variance, and note them."""
        mean, variance = x.mean((0, 2, 3)), x.var((0, 2, 3))
        unbiased = variance * (x.size / mean.size) / (x.size / mean.size - 1)
        for what, seen in (("mean", mean), ("var", unbiased)):
            key = f"{name}.running_{what}"
            self.new[key] = (1 - TO_NEW) * self.statistics[key] + TO_NEW * seen
        scale = self.weights[f"{name}.weight"] / jnp.sqrt(variance + 1e-5)
        return (x - mean[:, None, None]) * scale[:, None, None] + self.weights[f"{name}.bias"][:, None, None]

    def conv(self, name: str, x: jax.Array, stride: int = 1, padding: int = 1) -> jax.Array:
        return F.conv2d(x, self.weights[f"{name}.weight"], stride=stride, padding=padding)

    def block(self, name: str, x: jax.Array, stride: int) -> jax.Array:
        out = F.relu(self.norm(f"{name}.bn1", self.conv(f"{name}.conv1", x, stride)))
        out = self.norm(f"{name}.bn2", self.conv(f"{name}.conv2", out))
        if stride > 1:
            x = self.norm(f"{name}.shortcut.1", self.conv(f"{name}.shortcut.0", x, stride, padding=0))
        return F.relu(out + x)

    def __call__(self, images: jax.Array) -> jax.Array:
        x = F.relu(self.norm("bn1", self.conv("conv1", images)))
        for layer, stride in ((1, 1), (2, 2), (3, 2)):
            x = self.block(f"layer{layer}.0", x, stride)
        return F.linear(x.mean((2, 3)), self.weights["fc.weight"], self.weights["fc.bias"])


def loss_of(weights: Any, statistics: Any, images: jax.Array, labels: jax.Array) -> tuple[jax.Array, Statistics]:
    network = Network(weights, statistics)
    return F.cross_entropy(network(images), labels), network.new


def batches(loader: DataLoader) -> Iterator[tuple[jax.Array, jax.Array]]:
    """Yield pictures, shuffled, cropped and flipped anew in each epoch."""
    for _ in range(EPOCHS):
        for images, labels in loader:
            yield images.jax(), labels.jax()
        torch.empty((), dtype=torch.int64).random_()  # the script's test loader draws a seed, too


def setup() -> tuple[Any, Any, Iterator[tuple[jax.Array, jax.Array]]]:
    """Return the step, the state that it starts from, and the batches."""
    torch.install()  # the script says `import torch`: its data and its initial weights are taken as they are
    script = runpy.run_path(str(Path(__file__).parents[1] / "scripts" / "resnet.py"))
    torch.manual_seed(0)
    loader = DataLoader(script["Shapes"](512, True, seed=1), 32, shuffle=True, drop_last=True)
    module = script["ResNet"](script["BasicBlock"], [1, 1, 1])
    weights = {name: p.detach().jax() for name, p in module.named_parameters()}
    statistics = {name: b.jax() for name, b in module.named_buffers() if "running" in name}
    rate = optax.piecewise_constant_schedule(RATE, {2 * len(loader): 0.2, 3 * len(loader): 0.2})
    sgd = optax.chain(optax.add_decayed_weights(DECAY), optax.sgd(rate, MOMENTUM, nesterov=True))

    @jax.jit
    def step(state: Any, images: jax.Array, labels: jax.Array) -> tuple[Any, jax.Array, Any]:
        slope = jax.value_and_grad(loss_of, has_aux=True)
        (loss, statistics), gradients = slope(state["model"], state["statistics"], images, labels)
        updates, inner = sgd.update(gradients, state["optimizer"], state["model"])
        weights = optax.apply_updates(state["model"], updates)
        return {"model": weights, "statistics": statistics, "optimizer": inner}, loss, gradients

    return step, {"model": weights, "statistics": statistics, "optimizer": sgd.init(weights)}, batches(loader)


if __name__ == "__main__":
    step, state, data = setup()
    losses = []
    for number, batch in enumerate(data, 1):
        state, loss, _ = step(state, *batch)
        losses.append(float(loss))
        if number % 16 == 0:
            print(f"Epoch [{number // 16 - 1}] train  loss {np.mean(losses[-16:]):.5f}")
