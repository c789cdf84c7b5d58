"""Measure nets that are tried out: small ones, trained for a few steps.

    python -m tests.benchmarks.tried_out
    python -m tests.benchmarks.tried_out --workloads transformer

Milliseconds: the first step, all of the next nine together, and the median of the last steps after many, by funcgrad,
by funcgrad with all programs compiled at first sight, and by PyTorch. Each runs in a process of its own, without a
cache of compiled programs. Decision 31 says what follows from it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

from tests.benchmarks.apart import chosen, measured_apart

FEW, MANY, LAST = 10, 600, 50
ENGINES = ("funcgrad", "at once", "torch")
Step = Callable[[], float]


def deep(torch: Any) -> Step:
    """Train a stack of twelve layers with LayerNorm, GELU and dropout by AdamW."""
    nn = torch.nn
    blocks = [nn.Sequential(nn.Linear(16, 16), nn.LayerNorm(16), nn.GELU(), nn.Dropout(0.1)) for _ in range(12)]
    return _trained(torch, nn.Sequential(*blocks, nn.Linear(16, 4)), torch.randn(32, 16), torch.randint(0, 4, (32,)))


def transformer(torch: Any) -> Step:
    """Train an encoder of two layers on 8 sequences of 12."""
    nn = torch.nn
    layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
    net = nn.Sequential(nn.Linear(6, 16), nn.TransformerEncoder(layer, 2), nn.Flatten(), nn.Linear(12 * 16, 3))
    return _trained(torch, net, torch.randn(8, 12, 6), torch.randint(0, 3, (8,)))


def convolutions(torch: Any) -> Step:
    """Train two residual blocks with BatchNorm on 4 images of 8 x 8."""
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.Conv2d(4, 4, 3, padding=1), nn.Conv2d(4, 4, 3, padding=1)
            self.norm = nn.BatchNorm2d(4)

        def forward(self, x: Any) -> Any:
            return torch.relu(x + self.norm(self.second(torch.relu(self.first(x)))))

    net = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), Block(), Block(), nn.Flatten(), nn.Linear(256, 3))
    return _trained(torch, net, torch.randn(4, 1, 8, 8), torch.randint(0, 3, (4,)))


def penalty(torch: Any) -> Step:
    """Train a critic with a penalty on the gradient of its inputs."""
    nn = torch.nn
    critic = nn.Sequential(nn.Linear(4, 16), nn.SiLU(), nn.Linear(16, 16), nn.SiLU(), nn.Linear(16, 1))
    optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
    real, fake = torch.randn(16, 4), torch.randn(16, 4)

    def step() -> float:
        share = torch.rand(16, 1)
        mixed = (share * real + (1 - share) * fake).requires_grad_()
        (gradient,) = torch.autograd.grad(critic(mixed).sum(), mixed, create_graph=True)
        loss = critic(fake).mean() - critic(real).mean() + 10 * (gradient.norm(dim=1) - 1).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def _trained(torch: Any, net: Any, x: Any, y: Any) -> Step:
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)

    def step() -> float:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


WORKLOADS: dict[str, Callable[[Any], Step]] = {
    "deep": deep, "transformer": transformer, "convolutions": convolutions, "penalty": penalty,
}  # fmt: skip


def measure(engine: str, workload: str) -> dict[str, float]:
    """Return the milliseconds."""
    torch: Any
    if engine == "torch":
        import torch
    else:
        import funcgrad as torch

        torch.use_deterministic_algorithms(engine == "at once")
    torch.manual_seed(0)
    step, taken = WORKLOADS[workload](torch), []
    for _ in range(MANY):
        start = time.perf_counter()
        step()
        taken.append(1e3 * (time.perf_counter() - start))
    return {"first": taken[0], "few": sum(taken[1:FEW]), "later": median(taken[-LAST:]), "all": sum(taken)}


def main() -> None:
    """Print a row for each net and engine."""
    columns = ("first", "few", "later", "all")
    workloads = chosen(__doc__, WORKLOADS, measure)
    print(f"{'ms':24}" + "".join(f"{column:>10}" for column in columns))
    for workload in workloads:
        for engine in ENGINES:
            found = measured_apart("tests.benchmarks.tried_out", engine, workload)
            print(f"{workload:14}{engine:10}" + "".join(f"{found[column]:>10.1f}" for column in columns), flush=True)


if __name__ == "__main__":
    main()
