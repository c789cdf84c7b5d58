"""The new operations of examples/scripts/custom_function.py: jax.custom_vjp where PyTorch has autograd.Function.

python examples/twins/custom_function.py
python -m funcgrad compare examples/scripts/custom_function.py examples/twins/custom_function.py
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import optax
from start import Weights, before_training, beginning, descent, linear, train, weights_of

from funcgrad.nn import functional as F

STEPS, TURNS = 500, 100


@jax.custom_vjp
def legendre(x: jax.Array) -> jax.Array:
    """P3(x) = (5 x^3 - 3 x) / 2."""
    return 0.5 * (5 * x**3 - 3 * x)


legendre.defvjp(lambda x: (legendre(x), x), lambda x, g: (g * 1.5 * (5 * x**2 - 1),))


@jax.custom_vjp
def binarized(x: jax.Array) -> jax.Array:
    """The sign of x; its gradient passes straight through where x is small."""
    return jnp.sign(x)


binarized.defvjp(lambda x: (jnp.sign(x), x), lambda x, g: (jnp.where(jnp.abs(x) > 1, 0.0, g),))


@jax.custom_vjp
def turned_back(x: jax.Array, strength: jax.Array) -> jax.Array:
    """x itself; its gradient is reversed."""
    return x


turned_back.defvjp(lambda x, strength: (x, strength), lambda strength, g: (-strength * g, None))


def wave_loss(weights: Weights, x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.sum((weights["a"] + weights["b"] * legendre(weights["c"] + weights["d"] * x) - y) ** 2)


def domain_loss(weights: Weights, strength: jax.Array, data: jax.Array, label: Any, domain: Any) -> jax.Array:
    hidden = binarized(linear(weights, "hidden", data))
    classes = F.linear(hidden, weights["weight"], weights["bias"])
    domains = linear(weights, "domain", turned_back(hidden, strength))
    return F.cross_entropy(classes, label) + F.cross_entropy(domains, domain)


def setup() -> Generator[tuple[Any, Any, Iterator[tuple[Any, ...]]], Any, None]:
    """Yield a step, the state that it starts from, and its batches: for a sine wave, then for a net of signs."""
    script = before_training("custom_function", skipping=1)
    sgd = optax.sgd(5e-6)
    polynomial = {name: jnp.array(value) for name, value in {"a": 0.0, "b": -1.0, "c": 0.0, "d": 0.3}.items()}
    yield descent(wave_loss, sgd), beginning(polynomial, sgd), iter([(script.x, script.y)] * STEPS)
    adam = optax.adam(0.01)
    data = {name: getattr(script, name).jax() for name in ("data", "label", "domain")}
    strengths = (2.0 / (1.0 + math.exp(-10 * turn / TURNS)) - 1 for turn in range(TURNS))
    loss = partial(domain_loss, **data)
    yield descent(loss, adam), beginning(weights_of(script.net), adam), iter([(strength,) for strength in strengths])


if __name__ == "__main__":
    train(setup, every=20)
