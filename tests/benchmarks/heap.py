"""Measure a program with large arrays while glibc keeps freed memory, and while it does not (decision 21).

python -m tests.benchmarks.heap      # half a minute: pairs of processes in turn, medians in milliseconds
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time

PAIRS, RUNS = 5, 25
AS_GLIBC_HAS_IT = {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=7"}  # its default; that it is set turns ours off


def measure() -> float:
    """Return the median of a softmax of two million numbers, forward and backward, after one forward pass alone."""
    import funcgrad as torch

    x, w = torch.randn(64, 8, 64, 64).requires_grad_(), torch.randn(64, 8, 64, 64)
    with torch.no_grad():
        for _ in range(RUNS):
            torch.softmax(x, -1).sum().item()
    seconds = []
    for _ in range(RUNS):
        start = time.perf_counter()
        x.grad = None
        result = torch.softmax(x, -1)
        loss = (result * w).sum()
        loss.backward()
        loss.item()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds) * 1e3


def main() -> None:
    """Print one row for each pair."""
    print(f"{'kept':>8}{'not kept':>10}")
    for _ in range(PAIRS):
        row = []
        for setting in ({}, AS_GLIBC_HAS_IT):
            command = [sys.executable, "-m", "tests.benchmarks.heap", "one"]
            row.append(float(subprocess.check_output(command, env=os.environ | setting, text=True)))
        print(f"{row[0]:>8.1f}{row[1]:>10.1f}", flush=True)


if __name__ == "__main__":
    print(measure()) if sys.argv[1:] == ["one"] else main()
