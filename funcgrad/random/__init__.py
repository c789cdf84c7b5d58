"""torch.random: random numbers. `mersenne`, `normal`, `sampling`, `counting` are numpy only; `draw` is where tensors meet them."""

from __future__ import annotations

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
from funcgrad.random.methods import attach

attach()

__all__ = [
    "Generator", "default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state",
]  # fmt: skip
