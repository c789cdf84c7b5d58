"""Measure what stands round training loops: series cut into windows, metrics, clusters, paths, buffers, decoding.

    python -m tests.benchmarks.everyday

The same functions, word for word, under funcgrad and under torch with one thread, each in a process of its own:
microseconds of processor time for a turn, the first time and at best later.
"""

from __future__ import annotations

import importlib
import random
import time
from collections.abc import Callable
from typing import Any

from tests.benchmarks.apart import chosen, measured_apart

LATER = 4
TURNS = {
    "windows": 400, "augmented": 100, "walk": 200, "bootstrap": 100, "neighbours": 165, "confusion": 300,
    "collected": 40, "clusters": 20, "viterbi": 40, "norms": 50,
}  # fmt: skip

Everyday = list[Callable[[], float]]


def data(torch: Any) -> Everyday:
    """Return what prepares data."""
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

    return [windows, augmented, walk, bootstrap, neighbours]


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

    return [confusion, collected, clusters, viterbi, norms]


def measure(engine: str, workload: str) -> dict[str, float]:
    """Return microseconds a turn, the first time and later."""
    torch = importlib.import_module(engine)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    random.seed(0)
    run = next(run for run in [*data(torch), *answers(torch)] if run.__name__ == workload)
    times = []
    for _ in range(1 + LATER):
        start = time.process_time()
        run()
        times.append((time.process_time() - start) / TURNS[workload] * 1e6)
    return {"first": times[0], "later": min(times[1:])}


def main() -> None:
    """Print a row for each."""
    names = chosen(__doc__, TURNS, measure)
    print(f"{'us a turn':12}{'first':>10}{'torch':>8}{'ratio':>8}{'later':>10}{'torch':>8}{'ratio':>8}")
    for name in names:
        ours, theirs = (measured_apart("tests.benchmarks.everyday", engine, name) for engine in ("funcgrad", "torch"))
        pairs = [(ours[when], theirs[when]) for when in ("first", "later")]
        print(f"{name:12}" + "".join(f"{one:>10.1f}{other:>8.1f}{one / other:>8.1f}" for one, other in pairs))


if __name__ == "__main__":
    main()
