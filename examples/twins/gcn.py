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
import optax
from start import Weights, before_training, beginning, descent, mask, train, weights_of

from funcgrad.nn import functional as F


def loss_of(weights: Weights, kept: jax.Array, links: Any, features: Any, labels: Any, chosen: Any) -> jax.Array:
    """links: the normalised adjacency matrix, where the script has a list of edges."""
    hidden = F.relu(links @ (features @ weights["gc1.weight"]) + weights["gc1.bias"])
    result = links @ (hidden * kept @ weights["gc2.weight"]) + weights["gc2.bias"]
    return F.cross_entropy(result[chosen], labels[chosen])


def setup() -> tuple[Any, Any, Iterator[tuple[Any, ...]]]:
    """Return the step, the state that it starts from, and the masks."""
    script = before_training("gcn")
    features, labels, chosen = (x.jax() for x in (script.features, script.labels.int(), script.idx_train.int()))
    nodes, (start, end) = len(labels), script.edge_index.int().jax()
    links = jnp.zeros((nodes, nodes)).at[end, start].add(script.edge_weight.jax())
    adam = optax.chain(optax.add_decayed_weights(script.args.weight_decay), optax.adam(script.args.lr))
    loss = partial(loss_of, links=links, features=features, labels=labels, chosen=chosen)
    masks = ((mask(nodes, script.args.hidden, p=script.args.dropout),) for _ in range(script.args.epochs))
    return descent(loss, adam), beginning(weights_of(script.model), adam), masks


if __name__ == "__main__":
    train(setup, every=5)
