"""Measure what stands round training loops: series cut into windows, metrics, clusters, paths, buffers, decoding.

    python -m tests.benchmarks.everyday

The same functions, word for word, under funcgrad (without a cache of compiled programs) and under torch with one
thread, in processes of their own: microseconds of processor time for a turn of each, the first time and at best later.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

LATER = 4

Everyday = dict[str, tuple[int, Callable[[], float]]]


def data(torch: Any) -> Everyday:
    """Return what prepares data, by name, with how many turns each has."""
    functional = torch.nn.functional

    def windows() -> float:
        series, inputs, targets = torch.sin(torch.arange(500) / 5), [], []
        for i in range(400):
            inputs.append(series[i : i + 20])
            targets.append(series[i + 20])
        return (torch.stack(inputs).sum() + torch.stack(targets).sum()).item()

    def augmented() -> float:
        images = []
        for image in torch.rand(100, 3, 16, 16):
            turned = image.flip(-1) if random.random() < 0.5 else image
            left = random.randrange(4)
            images.append(functional.pad(turned, (2, 2, 2, 2))[:, left : left + 16, left : left + 16])
        return torch.stack(images).sum().item()

    def walk() -> float:
        place, path = torch.zeros(2), []
        for _ in range(200):
            place = place + 0.1 * torch.randn(2)
            path.append(place.clone())
        return torch.stack(path).sum().item()

    def bootstrap() -> float:
        x = torch.randn(100)
        return torch.stack([x[torch.randint(0, 100, (100,))].mean() for _ in range(100)]).std().item()

    def neighbours() -> float:
        links = torch.zeros(30, 30)
        for i in range(30):
            for j in range(i, 30, 3):
                links[i, j] = links[j, i] = 1
        return links.sum().item()

    return {"windows": (400, windows), "augmented": (100, augmented), "walk": (200, walk),
            "bootstrap": (100, bootstrap), "neighbours": (165, neighbours)}  # fmt: skip


def answers(torch: Any) -> Everyday:
    """Return what is done with a net's answers."""
    net = torch.nn.Sequential(torch.nn.Linear(4, 32), torch.nn.Tanh(), torch.nn.Linear(32, 2))

    def confusion() -> float:
        counts = torch.zeros(5, 5)
        for target, answer in zip(torch.randint(0, 5, (300,)), torch.randint(0, 5, (300,)), strict=True):
            counts[target.long(), answer.long()] += 1
        return counts.trace().item()

    def collected() -> float:
        with torch.no_grad():
            found = [net(torch.randn(16, 4)).argmax(1) for _ in range(40)]
        return (torch.cat(found) == 1).float().mean().item()

    def clusters() -> float:
        x = torch.randn(200, 2)
        centres = x[:5].clone()
        for _ in range(20):
            nearest = torch.cdist(x, centres).argmin(1)
            for k in range(5):
                members = x[nearest == k]
                if len(members):
                    centres[k] = members.mean(0)
        return centres.sum().item()

    def viterbi() -> float:
        scores, moves = torch.randn(40, 4), torch.randn(4, 4)
        best, back = scores[0], []
        for t in range(1, 40):
            best, before = (best.unsqueeze(1) + moves).max(0)
            best = best + scores[t]
            back.append(before)
        path = [best.argmax().item()]
        for before in reversed(back):
            path.append(before[path[-1]].item())
        return float(sum(path))

    def norms() -> float:
        net.zero_grad()
        net(torch.randn(8, 4)).sum().backward()
        return sum(sum(p.grad.norm(2).item() ** 2 for p in net.parameters()) ** 0.5 for _ in range(50))

    return {"confusion": (300, confusion), "collected": (40, collected), "clusters": (20, clusters),
            "viterbi": (40, viterbi), "norms": (50, norms)}  # fmt: skip


def measured(torch: Any) -> dict[str, list[float]]:
    """Return microseconds a turn, the first time and later."""
    torch.manual_seed(0)
    random.seed(0)
    times: dict[str, list[float]] = {}
    for name, (turns, run) in (data(torch) | answers(torch)).items():
        times[name] = []
        for _ in range(1 + LATER):
            start = time.process_time()
            run()
            times[name].append((time.process_time() - start) / turns * 1e6)
    return times


def measured_elsewhere(library: str) -> dict[str, list[float]]:
    """Return what one library takes, measured in a process of its own."""
    settings = {"OMP_NUM_THREADS": "1"} if library == "torch" else {"FUNCGRAD_CACHE": "0"}
    words = [sys.executable, "-m", "tests.benchmarks.everyday", library]
    ran = subprocess.run(words, env=os.environ | settings, check=True, capture_output=True, text=True)
    return json.loads(ran.stdout)


def main() -> None:
    """Print a row for each."""
    ours, theirs = map(measured_elsewhere, ("funcgrad", "torch"))
    print(f"{'us a turn':12}{'first':>10}{'torch':>8}{'ratio':>9}{'later':>10}{'torch':>8}{'ratio':>8}")
    for name in ours:
        first, other_first, later, other = ours[name][0], theirs[name][0], min(ours[name][1:]), min(theirs[name][1:])
        print(f"{name:12}{first:>10.1f}{other_first:>8.1f}{first / other_first:>9.1f}"
              f"{later:>10.1f}{other:>8.1f}{later / other:>8.1f}")  # fmt: skip


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(measured(importlib.import_module(sys.argv[1]))))
    else:
        main()
