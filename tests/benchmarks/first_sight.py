"""Measure a few turns of a loop, written out: run an instruction at a time, and compiled whole.

    python -m tests.benchmarks.first_sight

A cell of so many units in a Python loop of 8 turns, forward, backward and SGD, batch 16. Each width runs in a process
of its own for each way, without any cache of compiled programs. From the differences come the constants by which
`funcgrad/_program/stepwise.py` tells after how many runs a compile of the whole is worth it.
"""

from __future__ import annotations

import time
from statistics import median
from typing import Any

from tests.benchmarks.apart import chosen, measured_apart

TURNS, BATCH, RUNS, TRIED = 8, 16, 30, 3
WIDTHS = {"16": 16, "128": 128, "512": 512}


def measure(engine: str, workload: str) -> dict[str, float]:
    """Return the seconds of the first run and of a later one, and what the program consists of."""
    import funcgrad as torch
    from funcgrad import explain
    from funcgrad._base.config import settings

    settings.turns = settings.turns if engine == "in steps" else 0
    torch.manual_seed(0)
    width = WIDTHS[workload]
    inward, onward = torch.nn.Linear(width, width), torch.nn.Linear(width, width)
    optimizer = torch.optim.SGD([*inward.parameters(), *onward.parameters()], lr=1e-3)
    x = torch.randn(TURNS, BATCH, width)

    def step() -> float:
        h: Any = torch.zeros(BATCH, width)
        for t in range(TURNS):
            gate = torch.sigmoid(inward(x[t]) + onward(h))
            h = gate * torch.tanh(onward(h)) + (1 - gate) * h
        optimizer.zero_grad()
        (h * h).mean().backward()
        optimizer.step()
        return h.sum().item()

    seconds = []
    for _ in range(RUNS):
        start = time.perf_counter()
        step()
        seconds.append(time.perf_counter() - start)
    program = max(explain.compiles(), key=lambda compiled: compiled.instructions)
    return {"first": seconds[0], "later": median(seconds[TRIED:]), "instructions": program.instructions}


def main() -> None:
    """Print one row per width: what each way costs, and how many runs pay for a compile of the whole."""
    columns = ("instructions", "first s", "whole s", "later ms", "whole ms", "us each", "ms compile", "worth")
    widths = chosen(__doc__, WIDTHS, measure)
    print(f"{'':12}" + "".join(f"{column:>13}" for column in columns))
    for width in widths:
        steps, whole = (measured_apart("tests.benchmarks.first_sight", way, width) for way in ("in steps", "whole"))
        count = steps["instructions"]
        slower, compiling = steps["later"] - whole["later"], whole["first"]
        row = [count, steps["first"], compiling, steps["later"] * 1e3, whole["later"] * 1e3, slower / count * 1e6,
               compiling / count * 1e3, compiling / slower]  # fmt: skip
        print(f"{width:12}" + "".join(f"{x:>13.2f}" for x in row), flush=True)


if __name__ == "__main__":
    main()
