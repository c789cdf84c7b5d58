"""The graph network of examples/scripts/gcn.py as a pure function: the mask of dropout is an argument.

python examples/twins/gcn.py
python -m funcgrad compare examples/scripts/gcn.py examples/twins/gcn.py
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

import funcgrad as torch
from funcgrad.nn import functional as F

NODES, CLASSES, FEATURES, HIDDEN, EPOCHS = 240, 4, 32, 16, 100


def graph() -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return the normalised adjacency matrix, the features and the classes of a stochastic block model's nodes."""
    rng = np.random.RandomState(0)
    labels = rng.randint(0, CLASSES, NODES)
    same = labels[:, None] == labels[None, :]
    upper = np.triu(rng.rand(NODES, NODES) < np.where(same, 0.08, 0.01), 1)
    linked = (upper | upper.T) + np.eye(NODES, dtype=np.float32)
    words = (rng.rand(CLASSES, FEATURES) < 0.25)[labels]
    observed = (words ^ (rng.rand(NODES, FEATURES) < 0.3)).astype(np.float32)
    scale = linked.sum(0) ** -0.5
    return jnp.array(scale[:, None] * linked * scale), jnp.array(observed / observed.sum(1, keepdims=True)), labels


def loss_of(weights: Any, links: Any, features: Any, labels: Any, chosen: Any, kept: jax.Array) -> jax.Array:
    hidden = F.relu(links @ (features @ weights["gc1"]["weight"]) + weights["gc1"]["bias"])
    result = links @ (hidden * kept @ weights["gc2"]["weight"]) + weights["gc2"]["bias"]
    return F.nll_loss(F.log_softmax(result, dim=1)[chosen], labels[chosen])


def masks() -> Iterator[tuple[jax.Array]]:
    """Yield what dropout multiplies by in each epoch."""
    for _ in range(EPOCHS):
        yield (F.dropout(torch.ones(NODES, HIDDEN), 0.5).jax(),)


def uniform(*shape: int, bound: float) -> jax.Array:
    return torch.empty(*shape).uniform_(-bound, bound).jax()


def setup() -> tuple[Any, Any, Iterator[tuple[jax.Array]]]:
    """Return the step, the state that it starts from, and the masks."""
    torch.manual_seed(42)
    links, features, labels = graph()
    chosen = torch.randperm(NODES)[:40].numpy()
    shapes = {"gc1": (FEATURES, HIDDEN), "gc2": (HIDDEN, CLASSES)}
    weights = {
        name: {"weight": uniform(*shape, bound=shape[1] ** -0.5), "bias": uniform(shape[1], bound=shape[1] ** -0.5)}
        for name, shape in shapes.items()
    }
    adam = optax.chain(optax.add_decayed_weights(5e-4), optax.adam(0.01))
    loss = partial(loss_of, links=links, features=features, labels=labels, chosen=chosen)

    @jax.jit
    def step(state: Any, kept: jax.Array) -> tuple[Any, jax.Array, Any]:
        value, gradients = jax.value_and_grad(loss)(state["model"], kept=kept)
        updates, inner = adam.update(gradients, state["optimizer"], state["model"])
        return {"model": optax.apply_updates(state["model"], updates), "optimizer": inner}, value, gradients

    return step, {"model": weights, "optimizer": adam.init(weights)}, masks()


if __name__ == "__main__":
    step, state, data = setup()
    for epoch, batch in enumerate(data):
        state, loss, _ = step(state, *batch)
        if epoch % 5 == 4:
            print(f"Epoch: {epoch + 1:04d} loss_train: {loss:.5f}")
