"""Measure what XLA's CPU compiler is asked for in nets of convolutions and BatchNorm (`_program.compiling`).

    python -m tests.benchmarks.options     # blocks of MobileNet and of a ResNet, with and without, half a minute

Milliseconds of a training step by the clock, the least of many.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import funcgrad as torch
from funcgrad import nn
from funcgrad._program import compiling
from funcgrad._program.plan import forget_executables
from funcgrad._program.trie import forest
from tests.benchmarks import workloads

STEPS = 30
BLOCKS = {  # samples, channels, inner channels, size
    "16 to 64 channels, 32x32": (8, 16, 64, 32), "24 to 144 channels, 16x16": (8, 24, 144, 16),
    "16 channels, 32x32": (32, 16, 16, 32), "32 channels, 16x16": (32, 32, 32, 16),
}  # fmt: skip


class Block(nn.Module):
    """A residual of three convolutions: widen, each channel by itself, narrow; or, as wide as its input, of 3x3 each.

    Source: Sandler et al. 2018; He et al. 2015.
    """

    def __init__(self, channels: int, inner: int) -> None:
        super().__init__()
        outer, groups = (1, inner) if inner > channels else (3, 1)
        self.branch = nn.Sequential(
            nn.Conv2d(channels, inner, outer, padding=outer // 2, bias=False), nn.BatchNorm2d(inner), nn.ReLU6(),
            nn.Conv2d(inner, inner, 3, padding=1, groups=groups, bias=False), nn.BatchNorm2d(inner), nn.ReLU6(),
            nn.Conv2d(inner, channels, outer, padding=outer // 2, bias=False), nn.BatchNorm2d(channels),
        )  # fmt: skip

    def forward(self, x: Any) -> Any:
        """Return x and what the branch adds."""
        return x + self.branch(x)


def blocks(batch: int, channels: int, inner: int, size: int) -> Callable[[], float]:
    """Return a training step of three blocks."""
    net = nn.Sequential(*[Block(channels, inner) for _ in range(3)])
    optimizer = torch.optim.SGD(net.parameters(), 1e-3, momentum=0.9)
    x = torch.randn(batch, channels, size, size)

    def step() -> float:
        loss = net(x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def measure(build: Callable[[], Callable[[], float]]) -> float:
    """Return milliseconds of a step."""
    forest._roots.clear()
    forget_executables()
    torch.manual_seed(0)
    step, seen = build(), []
    for _ in range(STEPS):
        start = time.perf_counter()
        step()
        seen.append((time.perf_counter() - start) * 1e3)
    return min(seen)


def main() -> None:
    """Print one row per block: by default, as it is compiled, and the ratio."""
    chosen = compiling._SUMS_BY_XLA
    print(f"{'':28}{'by default':>12}{'as compiled':>14}{'ratio':>8}")
    steps = {name: partial(blocks, *sizes) for name, sizes in BLOCKS.items()}
    steps["the ResNet of `steps`"] = partial(workloads.loop, torch, "resnet")
    for name, build in steps.items():
        found = []
        for options in ({}, chosen):
            compiling._SUMS_BY_XLA = options
            found.append(measure(build))
        plain, ours = found
        print(f"{name:28}{plain:>12.2f}{ours:>14.2f}{ours / plain:>8.2f}", flush=True)


if __name__ == "__main__":
    main()
