"""Loops over real layers compile once: their running statistics, dropout masks and clipping included."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import funcgrad as torch
from funcgrad import nn, optim
from funcgrad._program.counters import counted


class Tagger(nn.Module):
    """Embedding, LSTM and a linear map for each step."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(11, 4, padding_idx=0)
        self.lstm = nn.LSTM(4, 3, 2, bidirectional=True, dropout=0.2, batch_first=True)
        self.out = nn.Linear(6, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(self.lstm(self.embedding(x))[0]).transpose(1, 2)


def image_net() -> nn.Module:
    """Convolution, batch normalization, dropout."""
    return nn.Sequential(
        nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout2d(0.3), nn.Flatten(),
        nn.Linear(12, 4),
    )  # fmt: skip


def transformer() -> nn.Module:
    """An encoder layer and what reads its first place."""
    layer = nn.TransformerEncoderLayer(6, 2, 8, batch_first=True)
    return nn.Sequential(nn.TransformerEncoder(layer, 2), nn.Flatten(), nn.Linear(24, 3))


LOOPS: dict[str, tuple[Callable[[], nn.Module], Callable[[], torch.Tensor], tuple[int, ...], int]] = {
    "images": (image_net, lambda: torch.randn(3, 2, 6, 6), (3,), 4),
    "sequences": (Tagger, lambda: torch.randint(0, 11, (3, 7)), (3, 7), 5),
    "transformer": (transformer, lambda: torch.randn(3, 4, 6), (3,), 3),
}


@pytest.mark.parametrize("name", LOOPS)
def test_five_steps_compile_once(name: str) -> None:
    make, draw, shape, classes = LOOPS[name]
    model, criterion = make(), nn.CrossEntropyLoss()
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    compiles, norms = [], []
    for _ in range(5):
        x, y = draw(), torch.randint(0, classes, shape)
        with counted() as cost:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            norms.append(nn.utils.clip_grad_norm_(model.parameters(), 1.0))
            optimizer.step()
        compiles.append(cost.compiles)
    assert compiles == [1, 0, 0, 0, 0]
    assert all(norm.item() > 0 for norm in norms)


def test_clipping_records_two_calls_whatever_the_number_of_parameters() -> None:
    for count in (1, 20):
        model = nn.Sequential(*(nn.Linear(3, 3) for _ in range(count)))
        model(torch.ones(1, 3)).sum().backward()
        with counted() as cost:
            nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        assert cost.misses <= 2 and cost.runs == 0


def test_making_layers_compiles_nothing() -> None:
    with counted() as cost:
        image_net(), Tagger(), transformer(), nn.GRU(3, 4, 2), nn.Bilinear(2, 3, 4), nn.PReLU(), nn.EmbeddingBag(5, 2)
    assert cost.compiles == 0 and cost.runs == 0
