"""Measure what stands round training loops: series cut into windows, metrics, clusters, paths, buffers, decoding.

    python -m tests.benchmarks.everyday

The same functions, word for word, under funcgrad and under torch with one thread, each in a process of its own:
microseconds of processor time for a turn, the first time and at best later.
"""

from __future__ import annotations

import functools
import importlib
import random
import time
from collections.abc import Callable
from typing import Any

from tests.benchmarks.apart import chosen, print_first_and_later

LATER = 4
TURNS = {
    "windows": 400, "augmented": 100, "walk": 200, "bootstrap": 100, "neighbours": 165, "confusion": 300,
    "collected": 40, "clusters": 20, "boxes": 30, "corners": 40, "points": 128, "viterbi": 40, "norms": 50,
    "compared": 1000, "detecting": 20, "sounds": 12, "fitted": 10,
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
    """Return what is done with answers; two of these make a net, so that something wants a gradient."""

    @functools.cache
    def net() -> Any:
        return torch.nn.Sequential(torch.nn.Linear(4, 32), torch.nn.Tanh(), torch.nn.Linear(32, 2))

    def confusion() -> float:
        counts = torch.zeros(5, 5)
        for target, answer in zip(torch.randint(0, 5, (300,)), torch.randint(0, 5, (300,)), strict=True):
            counts[target.long(), answer.long()] += 1
        return counts.trace().item()

    def collected() -> float:
        with torch.no_grad():
            found = [net()(torch.randn(16, 4)).argmax(1) for _ in range(40)]
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

    def boxes() -> float:
        corners, order, kept = torch.rand(30, 2), torch.randperm(30), []
        while len(order):
            first, order = order[0], order[1:]
            apart = (corners[order] - corners[first]).abs()
            inside = (0.3 - apart).clamp(min=0).prod(1)
            order = order[inside / (0.18 - inside) <= 0.5]
            kept.append(first.item())
        return float(sum(kept))

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
        net().zero_grad()
        net()(torch.randn(8, 4)).sum().backward()
        return sum(sum(p.grad.norm(2).item() ** 2 for p in net().parameters()) ** 0.5 for _ in range(50))

    return [confusion, collected, clusters, boxes, viterbi, norms]


def gone_over(torch: Any) -> Everyday:
    """Return what is gone over an element at a time."""

    def compared() -> float:
        """Go over two tensors of a thousand elements, of which one wants a gradient."""
        predicted, wanted = torch.tanh(torch.randn(1000).requires_grad_()), torch.randn(1000) * 3
        return sum(abs(a.item() - b.item()) for a, b in zip(predicted, wanted, strict=True))

    return [compared]


def guarded(torch: Any) -> Everyday:
    """Return what trains under a watch."""
    nn = torch.nn
    net = nn.Sequential(nn.Linear(20, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 5))
    optimizer = torch.optim.Adam(net.parameters())
    x, target = torch.randn(64, 20), torch.arange(64) % 5

    def detecting() -> float:
        last = 0.0
        with torch.autograd.set_detect_anomaly(True):
            for _ in range(20):
                optimizer.zero_grad()
                loss = nn.functional.cross_entropy(net(x), target)
                loss.backward()
                optimizer.step()
                last = loss.item()
        return last

    return [detecting]


def clouds(torch: Any) -> Everyday:
    """Return what looks at places in a cloud of points, or at boxes corner by corner, where a net is trained."""

    def points() -> float:
        torch.nn.Linear(3, 3)
        x = torch.randn(16, 1024, 3)
        nearest, clouds, farthest = torch.full((16, 1024), 1e10), torch.arange(16), torch.randint(0, 1024, (16,))
        chosen = torch.zeros(16, 128, dtype=torch.long)
        for i in range(128):
            chosen[:, i] = farthest
            far = ((x - x[clouds, farthest].view(16, 1, 3)) ** 2).sum(-1)
            nearer = far < nearest
            nearest[nearer] = far[nearer]
            farthest = nearest.max(-1)[1]
        return float(chosen.sum().item())

    @functools.cache
    def net() -> Any:
        return torch.nn.Linear(2, 2)

    def corners() -> float:
        net()  # from here on something wants gradients
        places = torch.rand(60, 2)
        boxes, order, kept = torch.cat([places, places + torch.rand(60, 2) * 0.2], 1), torch.randperm(60), []
        while order.numel() > 1:
            best, rest = order[0], order[1:]
            kept.append(best.item())
            left, top = (torch.maximum(boxes[best, side], boxes[rest, side]) for side in (0, 1))
            right, bottom = (torch.minimum(boxes[best, side], boxes[rest, side]) for side in (2, 3))
            shared = (right - left).clamp(min=0) * (bottom - top).clamp(min=0)
            areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
            order = rest[shared / (areas[best] + areas[rest] - shared) <= 0.3]
        return float(len(kept))

    return [points, corners]


def of_other_sizes(torch: Any) -> Everyday:
    """Return what meets another size at each turn: sounds, and a Gaussian process that is given one point more."""

    def sounds() -> float:
        window, total = torch.hann_window(64), 0.0
        for turn in range(12):
            x = torch.randn(1000 + 37 * turn)
            spectrum = torch.stft(x, 64, 16, window=window, return_complex=True)
            back = torch.istft(spectrum, 64, 16, window=window, length=len(x))
            total += spectrum.abs().square().mean().item() + (back - x).abs().max().item()
        return total

    def fitted() -> float:
        x, total = torch.rand(2, 1), 0.0
        for _ in range(10):
            width = torch.zeros((), requires_grad=True)
            optimizer = torch.optim.Adam([width], 0.1)
            for _ in range(5):
                optimizer.zero_grad()
                kernel = (-((x - x.T) / width.exp()).square()).exp() + 0.01 * torch.eye(len(x))
                factor, y = torch.linalg.cholesky(kernel), torch.sin(6 * x)
                loss = (y * torch.cholesky_solve(y, factor)).sum() + factor.diagonal().log().sum()
                loss.backward()
                optimizer.step()
            total += loss.item()
            x = torch.cat([x, torch.rand(1, 1)])
        return total

    return [sounds, fitted]


def measure(engine: str, workload: str) -> dict[str, float]:
    """Return microseconds a turn, the first time and later."""
    torch = importlib.import_module(engine)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    random.seed(0)
    everyday = [*data(torch), *answers(torch), *clouds(torch), *gone_over(torch), *guarded(torch),
                *of_other_sizes(torch)]  # fmt: skip
    run = next(run for run in everyday if run.__name__ == workload)
    times = []
    for _ in range(1 + LATER):
        start = time.process_time()
        run()
        times.append((time.process_time() - start) / TURNS[workload] * 1e6)
    return {"first": times[0], "later": min(times[1:])}


def main() -> None:
    """Print a row for each."""
    print_first_and_later("tests.benchmarks.everyday", chosen(__doc__, TURNS, measure), "us a turn")


if __name__ == "__main__":
    main()
