"""Random programs whose tensors are some on the GPU, some on the CPU by name, some with the host.

What they give is what they give where there is one device: see `tests/program/test_accelerators.py`.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

import funcgrad as torch

KINDS = (
    "add", "mm", "select", "index", "unbind", "set row", "set mask", "cat", "where", "sum", "copy", "add in place",
    "expand", "read", "to cpu", "to cuda", "step",
)  # fmt: skip
PLACES = ("", "cpu", "cuda", "host")
TURNS = 3


class Mixture:
    """Four tensors and two parameters, each somewhere, and what is done to them."""

    def __init__(self, seed: int) -> None:
        draw = random.Random(seed)
        self.steps = [(draw.choice(KINDS), *(draw.random() for _ in range(3))) for _ in range(draw.randint(4, 14))]
        self.numbers = np.random.default_rng(seed)
        self.tensors = [self._made(draw.choice(PLACES)) for _ in range(4)]
        self.parameters = [torch.nn.Parameter(self._made(draw.choice(PLACES[:3]))) for _ in range(2)]
        self.places = torch.from_numpy(np.array([[0, 2, 1], [1, 1, 0]]))
        self.optimizer = torch.optim.SGD(self.parameters, 0.1, momentum=0.9)
        self.seen: list[float] = []

    def _made(self, place: str) -> torch.Tensor:
        numbers = self.numbers.standard_normal((3, 3)).astype(np.float32)
        if place == "host":
            return torch.from_numpy(numbers)
        return torch.tensor(numbers, device=_device(place))

    def run(self) -> list[float]:
        """Return what was read on the way, and all numbers in the end."""
        for _ in range(TURNS):
            for step in self.steps:
                self._do(*step)
            self.tensors = [x.detach() for x in self.tensors]
        return self.seen + [n for x in (*self.tensors, *self.parameters) for n in x.detach().cpu().flatten().tolist()]

    def _do(self, kind: str, a: float, b: float, c: float) -> None:
        given = [*self.tensors, *self.parameters]
        x, y, row = given[int(6 * a)], given[int(6 * b)], int(3 * c)
        if kind == "read":
            self.seen.append(x.detach().sum().item())
        elif kind == "step":
            loss = (x * y).sum() * 0.01 + sum(((p * p).sum() for p in self.parameters), torch.tensor(0.0)) * 0.01
            self.optimizer.zero_grad()
            loss.backward()
            self.seen += [n for p in self.parameters for n in p.grad.cpu().flatten().tolist()]
            self.optimizer.step()
            self.tensors = [tensor.detach() for tensor in self.tensors]
        else:
            self.tensors[int(4 * c)] = torch.tanh(self._made_of(kind, x, y, row))

    def _made_of(self, kind: str, x: torch.Tensor, y: torch.Tensor, row: int) -> torch.Tensor:
        if kind in ("set row", "set mask"):
            made = x.clone()
            made[row if kind == "set row" else y > 0] = y[0] if kind == "set row" else 0.5
            return made
        if kind == "add in place":
            return x.detach().clone().add_(y.detach())
        if kind == "unbind":
            rows, others = self.places
            return x[rows] + y[others]
        made_by: dict[str, Any] = {
            "add": lambda: x * y + 0.1,
            "mm": lambda: 0.3 * (x @ y),
            "select": lambda: x[row] + y,
            "index": lambda: x.index_select(0, self.places[row % 2]),
            "cat": lambda: torch.cat([x, y])[row : row + 3],
            "where": lambda: torch.where(x > 0, x, y),
            "sum": lambda: x - 0.1 * y.sum(),
            "copy": lambda: x.detach().clone(),
            "expand": lambda: x[0].expand(3, 3) + y,
            "to cpu": lambda: x.cpu(),
            "to cuda": lambda: x.to(_device("cuda")),
        }
        return made_by[kind]()


def _device(place: str) -> str | None:
    """Return the device that a place names: where there is no GPU, none."""
    return None if not place or (place == "cuda" and not torch.cuda.is_available()) else place


def outcomes(seeds: list[int]) -> list[list[float]]:
    """Return what the mixtures of these seeds give."""
    return [[round(number, 6) for number in Mixture(seed).run()] for seed in seeds]
