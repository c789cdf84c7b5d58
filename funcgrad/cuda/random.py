"""torch.cuda.random: the generators of GPUs, which are seeded with all others or alone."""

from __future__ import annotations

from typing import Any

from funcgrad._base.devices import device as Device
from funcgrad._tensor.placement import available, current_gpu
from funcgrad.cuda.memory import need
from funcgrad.random import Generator
from funcgrad.random import generator as _generator

__all__ = [
    "get_rng_state", "get_rng_state_all", "initial_seed", "manual_seed", "manual_seed_all", "seed", "seed_all",
    "set_rng_state", "set_rng_state_all",
]  # fmt: skip


def manual_seed(seed: int) -> None:
    """Seed the generator of the GPU that "cuda" means. Where there is none, nothing is seeded: the CPU's goes on."""
    if available("cuda"):
        _generator.generator_of(Device("cuda", current_gpu())).manual_seed(seed)


def manual_seed_all(seed: int) -> None:
    """Seed the generators of all GPUs."""
    for number in range(len(available("cuda"))):
        _generator.generator_of(Device("cuda", number)).manual_seed(seed)


def seed() -> None:
    """Seed the generator of the GPU that "cuda" means with a number that nobody chose."""
    if available("cuda"):
        _generator.generator_of(Device("cuda", current_gpu())).seed()


def seed_all() -> None:
    """Seed the generators of all GPUs with one number that nobody chose."""
    manual_seed_all(Generator().seed())


def initial_seed() -> int:
    """Return the seed that the generator of the GPU that "cuda" means started from."""
    need()
    return _generator.generator_of(Device("cuda", current_gpu())).initial_seed()


def get_rng_state(device: Any = "cuda") -> Any:
    """Return the state of the generator of a GPU."""
    return _generator.generator_of(Device(device)).get_state()


def set_rng_state(new_state: Any, device: Any = "cuda") -> None:
    """Put the generator of a GPU into a state."""
    _generator.generator_of(Device(device)).set_state(new_state)


def get_rng_state_all() -> list[Any]:
    """Return the states of the generators of all GPUs."""
    return [get_rng_state(number) for number in range(len(available("cuda")))]


def set_rng_state_all(new_states: Any) -> None:
    """Put the generators of all GPUs into these states."""
    for number, state in enumerate(new_states):
        set_rng_state(state, number)
