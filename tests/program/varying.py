"""Computations of which each is another program, written once, for whichever module is given as `torch`."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

Tree = Any  # a pair of trees, or a number


def _grown(depth: int, chance: random.Random) -> Tree:
    if depth == 0 or chance.random() < 0.2:
        return chance.randint(0, 4)
    return _grown(depth - 1, chance), _grown(depth - 1, chance)


def forest(count: int) -> list[Tree]:
    """Return that many trees of many shapes."""
    chance = random.Random(3)
    return [(_grown(2, chance), (_grown(2, chance), (i % 5, _grown(1, chance)))) for i in range(count)]


class RecursiveNet:
    """A net that puts a tree's meaning together of its branches', and is trained a tree at a time."""

    def __init__(self, torch: Any) -> None:
        torch.manual_seed(0)
        nn = torch.nn
        self.torch, self.leaf, self.joint, self.head = torch, nn.Embedding(5, 4), nn.Linear(8, 4), nn.Linear(4, 1)
        layers = (self.leaf, self.joint, self.head)
        self.optimizer = torch.optim.SGD([p for layer in layers for p in layer.parameters()], lr=0.01)

    def step(self, tree: Tree) -> float:
        """Train on a tree; return the loss."""
        self.optimizer.zero_grad()
        loss = (self.head(self._meaning(tree)) - 0.5).square().sum()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def _meaning(self, tree: Tree) -> Any:
        torch = self.torch
        if isinstance(tree, int):
            return self.leaf(torch.tensor(tree))
        return torch.tanh(self.joint(torch.cat([self._meaning(tree[0]), self._meaning(tree[1])])))


def trees(torch: Any, count: int) -> list[float]:
    """Train a recursive net on that many trees."""
    net = RecursiveNet(torch)
    return [net.step(tree) for tree in forest(count)]


def ragged(torch: Any, sizes: list[int]) -> list[float]:
    """Train a net on batches of these sizes."""
    torch.manual_seed(0)
    nn = torch.nn
    net = nn.Sequential(
        nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, 3), nn.LogSoftmax(1)
    )
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
    losses = []
    for size in sizes:
        x, target = torch.randn(size, 6), torch.arange(size) % 3
        optimizer.zero_grad()
        loss = nn.functional.nll_loss(net(x), target) + net[0].weight.square().mean()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


def painted(torch: Any, count: int) -> list[float]:
    """Return the sums of so many images, with one to three boxes of random sizes in each; nobody reads one before."""
    chance, images = random.Random(0), []
    torch.manual_seed(0)
    for _ in range(count):
        image = torch.rand(3, 24, 24) * 0.1
        for _ in range(chance.randint(1, 3)):
            top, left, channel = [chance.randint(0, 12) for _ in range(2)] + [chance.randint(0, 2)]
            image[channel, top : top + chance.randint(3, 9), left : left + chance.randint(3, 9)] = 1.0
        images.append(image)
    return torch.stack(images).sum((1, 2, 3)).tolist()


def driven(torch: Any, turns: int) -> list[float]:
    """Drive a state by the same column and another number in each turn; return it, and the gradient of the matrix."""
    matrix, numbers = torch.arange(6.0).view(3, 2).requires_grad_(), torch.arange(turns) * 0.01
    state, states = torch.zeros(3), torch.empty(turns, 3)
    for t in range(turns):
        state = torch.tanh(state * 0.5 + matrix[:, 0] * numbers[t])
        states[t] = state
    states.sum().backward()
    assert matrix.grad is not None
    return [*states.flatten().tolist(), *matrix.grad.flatten().tolist()]


def suppressed(torch: Any, count: int) -> list[float]:
    """Keep the best of boxes that overlap: `count` stays the same within an image, the others grow fewer."""
    generator = np.random.default_rng(count)
    corner, size = (torch.from_numpy(generator.random((count, 2))) for _ in range(2))
    boxes, kept = torch.cat([corner, corner + (0.2 + size) / 5], 1), []
    order = boxes.sum(1).argsort(descending=True)
    while order.numel() > 1:
        kept.append(order[0])
        best, others = boxes[order[0]], boxes[order[1:]]
        shared = (torch.minimum(best[2:], others[:, 2:]) - torch.maximum(best[:2], others[:, :2])).clamp(min=0).prod(1)
        order = order[1:][shared <= 0.3 * (others[:, 2:] - others[:, :2]).prod(1)]
    return torch.stack([*kept, *order]).tolist()
