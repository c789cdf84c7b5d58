"""Measure a product of matrices by numpy, as OpenBLAS shares it among its threads and in pieces that it does not share.

    python -m tests.benchmarks.products

On a quiet machine, then while XLA multiplies larger matrices in another process. Means, since what is shared is now and
then a thousand times as slow; the two ways in turn, with rests between calls, in which other threads go on.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from statistics import mean
from typing import Any

import numpy as np

from funcgrad._program.host.products import product

SIZES = ((256, 144, 16), (64, 128, 64), (1, 256, 256))
RUNS, ROUNDS, REST = 100, 6, 5e-4
BESIDE = """
import jax
x = jax.numpy.ones((700, 700))
multiply = jax.jit(lambda x: x @ x @ x * 1e-3)
print(multiply(x).shape, flush=True)
while True:
    multiply(x).block_until_ready()
"""


def milliseconds(function: Callable[[], Any]) -> float:
    """Return how long a call takes, on the average of many in a row."""
    passed = 0.0
    for _ in range(RUNS):
        start = time.perf_counter()
        function()
        passed += time.perf_counter() - start
        time.sleep(REST)
    return passed * 1e3 / RUNS


def measure(when: str) -> None:
    """Print a row for each size."""
    generator = np.random.default_rng(0)
    for rows, inner, columns in SIZES:
        x, y = (generator.standard_normal(shape).astype(np.float32) for shape in ((rows, inner), (inner, columns)))
        ways = (np.matmul, product(rows, inner, columns))
        shared, pieces = map(mean, zip(*[[milliseconds(lambda: way(x, y)) for way in ways] for _ in range(ROUNDS)]))  # noqa: B023, B905
        print(f"{when:8}{f'{rows} x {inner} x {columns}':16}{shared:>12.3f}{pieces:>12.3f}{shared / pieces:>8.1f}")


def main() -> None:
    """Print both tables."""
    print(f"{'':24}{'shared, ms':>12}{'pieces, ms':>12}{'ratio':>8}")
    measure("quiet")
    with subprocess.Popen([sys.executable, "-c", BESIDE], stdout=subprocess.PIPE) as beside:
        assert beside.stdout is not None
        beside.stdout.readline()
        measure("busy")
        beside.kill()


if __name__ == "__main__":
    main()
