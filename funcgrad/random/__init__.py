"""torch.random. `mersenne`, `normal`, `sampling` and `counting` speak numpy only; in `draw` tensors meet them."""

from __future__ import annotations

from funcgrad._tensor.tensor import Tensor
from funcgrad.random import functions, methods
from funcgrad.random.generator import (
    Generator,
    default_generator,
    fork_rng,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)

for _method in (*methods.METHODS, functions.bernoulli, functions.multinomial):
    setattr(Tensor, _method.__name__, _method)

__all__ = [
    "Generator", "default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed",
    "set_rng_state",
]  # fmt: skip
