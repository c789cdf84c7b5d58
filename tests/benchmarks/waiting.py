"""Measure what waiting for a program costs, asleep and awake: `python -m tests.benchmarks.waiting`. JAX alone.

A product of two square matrices, whose sum is read: us for `item()` at once, which sleeps until the sum is there, and
for `item()` after asking `is_ready()` until it is. Decision 25 says what follows from it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import jax
import jax.numpy as jnp

SIZES, WARM, TIMES = (8, 32, 64, 128, 256), 200, 2000


def asleep(array: Any) -> float:
    """Return the number."""
    return array.item()


def awake(array: Any) -> float:
    """Ask until the number is there, and return it."""
    while not array.is_ready():
        pass
    return array.item()


def measured(run: Callable[..., Any], matrix: Any, read: Callable[[Any], float]) -> float:
    """Return the median of the microseconds that a run and a reading take."""
    taken = []
    for _ in range(WARM + TIMES):
        start = time.perf_counter()
        read(run(matrix, matrix))
        taken.append(time.perf_counter() - start)
    return 1e6 * median(taken[WARM:])


def main() -> None:
    """Print a row for each size."""
    run = jax.jit(lambda a, b: (a @ b).sum())
    print(f"{'size':>6}{'asleep us':>12}{'awake us':>12}")
    for size in SIZES:
        matrix = jnp.ones((size, size))
        print(f"{size:6}{measured(run, matrix, asleep):12.1f}{measured(run, matrix, awake):12.1f}")


if __name__ == "__main__":
    main()
