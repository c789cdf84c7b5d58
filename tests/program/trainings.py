"""Trainings whose lengths, or programs, are others in each step, written once for whichever module is `torch`.

python -m tests.program.trainings     # write down the losses that torch has, where it is installed
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tests.program.varying import driven, painted, ragged, suppressed, trees

RECORDED = Path(__file__).parent / "recorded" / "trainings.json"
Sizes = list[tuple[int, int]]
PAIRS: Sizes = [(9, 7), (5, 11), (12, 8), (6, 6), (11, 4), (4, 12), (10, 9), (7, 13), (13, 10), (8, 5)]
MANY: Sizes = [tuple(pair) for pair in np.random.default_rng(1).integers((20, 70), (60, 200), (14, 2)).tolist()]
WORDS: Sizes = [(length, 8) for length in (9, 14, 11, 13, 16, 10, 6, 7, 19, 15)]


def tagger(torch: Any, kind: str, width: int) -> Any:
    """Return an embedding, then an LSTM or attention with a mask of the padding, then a class for each word."""

    class Made(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = torch.nn.Embedding(20, width, padding_idx=0)
            self.lstm = torch.nn.LSTM(width, width, batch_first=True) if kind == "lstm" else None
            attention = torch.nn.TransformerEncoderLayer
            self.layer = attention(width, 2, 16, dropout=0.0, batch_first=True) if kind != "lstm" else None
            self.head = torch.nn.Linear(width, 5)

        def forward(self, words: Any) -> Any:
            x = self.embedding(words)
            x = self.lstm(x)[0] if self.lstm else self.layer(x, src_key_padding_mask=words == 0)
            return self.head(x)

    return Made()


def translated(torch: Any, lengths: Sizes) -> list[float]:
    """Train an encoder and a decoder with attention on sentences of lengths that vary independently."""
    torch.manual_seed(0)
    encoder, decoder = torch.nn.GRU(6, 8, batch_first=True), torch.nn.GRU(6, 8, batch_first=True)
    head, generator = torch.nn.Linear(16, 5), np.random.default_rng(0)
    optimizer = torch.optim.SGD([*encoder.parameters(), *decoder.parameters(), *head.parameters()], lr=0.1)
    losses = []
    for n, m in lengths:
        source, written = (torch.from_numpy(generator.standard_normal((3, k, 6), np.float32)) for k in (n, m))
        target = torch.from_numpy(generator.integers(0, 5, (3, m)))
        optimizer.zero_grad()
        read, state = encoder(source)
        found, _ = decoder(written, state)
        seen = (found @ read.transpose(1, 2)).softmax(-1) @ read
        logits = head(torch.cat([seen, found], -1))
        loss = (
            torch.nn.functional.cross_entropy(logits.reshape(-1, 5), target.reshape(-1))
            + torch.cat([read, found], 1).std()
        )
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def boxes(torch: Any, sizes: Sizes) -> list[float]:
    """Write random boxes of one image into another, as cutmix does, and train on the result."""
    weight, generator = torch.ones(3, 24, 24, requires_grad=True), np.random.default_rng(0)
    losses = []
    for height, width in sizes:
        top, left = int(generator.integers(0, 24 - height + 1)), int(generator.integers(0, 24 - width + 1))
        x = torch.from_numpy(generator.standard_normal((4, 3, 24, 24), np.float32))
        x[:, :, top : top + height, left : left + width] = x.flip(0)[:, :, top : top + height, left : left + width]
        loss = (x * weight).sum().square() / (height * width)
        loss.backward()
        losses += [loss.item(), float(weight.grad.sum())]
    return losses


def recordings(torch: Any, lengths: Sizes) -> list[float]:
    """Train a recognizer of recordings: strided convolutions make frames of samples, whose number a mask asks for."""
    torch.manual_seed(0)
    first, second, head = torch.nn.Conv1d(6, 8, 3, 2, 1), torch.nn.Conv1d(8, 8, 3, 2, 1), torch.nn.Linear(8, 5)
    attend, generator = torch.nn.MultiheadAttention(8, 2, batch_first=True), np.random.default_rng(0)
    optimizer = torch.optim.SGD(torch.nn.ModuleList([first, second, attend, head]).parameters(), lr=0.01)
    losses = []
    for n, m in lengths:
        samples = torch.from_numpy(generator.standard_normal((3, 6, 5 * n + 3), np.float32))
        spoken = torch.tensor([5 * n + 3, 5 * n, 4 * n])
        said = torch.from_numpy(generator.integers(1, 5, (3, m // 4 + 1)))
        heard = second(first(samples).relu())
        batch, channels, frames = heard.shape
        heard = heard.permute(0, 2, 1).reshape(batch * frames, channels).view(batch, frames, -1)
        counts = (spoken + 3) // 4
        silent = torch.arange(frames)[None] >= counts[:, None]
        seen, _ = attend(heard, heard, heard, key_padding_mask=silent, need_weights=False)
        scores = head(heard + seen).log_softmax(-1)
        loss = torch.nn.functional.ctc_loss(
            scores.transpose(0, 1), said, counts, torch.full((3,), said.shape[1]), zero_infinity=True
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def graphs(torch: Any, sizes: Sizes) -> list[float]:
    """Train a graph convolution with loops added, so that edges and nodes come together; graphs of other sizes."""
    torch.manual_seed(0)
    first, last, generator = torch.nn.Linear(6, 8), torch.nn.Linear(8, 3), np.random.default_rng(0)
    optimizer = torch.optim.SGD([*first.parameters(), *last.parameters()], lr=0.1)
    losses = []
    for nodes, edges in sizes:
        x = torch.from_numpy(generator.standard_normal((nodes, 6), np.float32))
        pairs, graph = (torch.from_numpy(generator.integers(0, most, shape)) for most, shape in
                        ((nodes, (2, edges)), (4, nodes)))  # fmt: skip
        source, target = torch.cat([pairs, torch.arange(nodes).repeat(2, 1)], 1)
        scale = torch.zeros(nodes).scatter_add_(0, target, torch.ones(len(target))).pow(-0.5)
        messages = first(x)[source] * (scale[source] * scale[target])[:, None]
        seen = torch.zeros(nodes, 8).index_add_(0, target, messages).relu()
        logits = last(torch.zeros(4, 8).index_add_(0, graph, seen))
        loss = torch.nn.functional.cross_entropy(logits, torch.tensor([0, 1, 2, 0]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def expert_block(torch: Any) -> Any:
    """Return a mixture of six experts, each of which gets as many rows as the gate happens to choose it for."""

    class Made(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.gate = torch.nn.Linear(6, 6)
            self.experts = torch.nn.ModuleList(
                [torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.GELU(), torch.nn.Linear(8, 6)) for _ in range(6)]
            )

        def forward(self, x: Any) -> Any:
            shares, chosen = self.gate(x).softmax(-1).topk(2, -1)
            found = torch.zeros_like(x)
            for i, expert in enumerate(self.experts):
                rows, which = torch.where(chosen == i)
                found.index_add_(0, rows, expert(x[rows]) * shares[rows, which, None])
            return found + x

    return Made()


def experts(torch: Any, sizes: Sizes, layers: int = 1, rows: int = 64) -> list[float]:
    torch.manual_seed(0)
    mixed, head = torch.nn.Sequential(*[expert_block(torch) for _ in range(layers)]), torch.nn.Linear(6, 3)
    optimizer = torch.optim.SGD([*mixed.parameters(), *head.parameters()], lr=0.1)
    generator, losses = np.random.default_rng(0), []
    for _ in sizes:
        x = torch.from_numpy(generator.standard_normal((rows, 6), np.float32))
        loss = torch.nn.functional.cross_entropy(head(mixed(x)), (x[:, 0] > 0).long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def layers_of_experts(torch: Any, sizes: Sizes) -> list[float]:
    """Train two layers of experts: the backward pass goes through both, so that twelve lengths vary in it."""
    return experts(torch, sizes, layers=2, rows=400)


def sets(torch: Any, sizes: Sizes) -> list[float]:
    """Train a net of sets of points, embedded together, then split again; each set attends to its own."""
    torch.manual_seed(0)
    body, attention, head = torch.nn.Linear(6, 8), torch.nn.Linear(8, 1), torch.nn.Linear(8, 3)
    optimizer = torch.optim.SGD([*body.parameters(), *attention.parameters(), *head.parameters()], lr=0.1)
    generator, losses = np.random.default_rng(0), []
    for few, many in sizes:
        parts = [few, many, (few * many) % 50 + 5]
        points = torch.from_numpy(generator.standard_normal((sum(parts), 6), np.float32))
        split = torch.split(body(points).tanh(), parts)
        pooled = torch.stack([(attention(part).softmax(0) * part).sum(0) for part in split])
        loss = torch.nn.functional.cross_entropy(head(pooled), torch.tensor([0, 1, 2]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def tagged(torch: Any, lengths: Sizes, kind: str) -> list[float]:
    """Train a tagger on texts of these lengths."""
    torch.manual_seed(0)
    model, generator = tagger(torch, kind, lengths[0][1]), np.random.default_rng(0)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    losses = []
    for length, _ in lengths:
        words = torch.from_numpy(generator.integers(0, 20, (3, length)))
        words[:, 0] = 1
        target = words % 5
        target[:, -1] = -100
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(words).view(-1, 5), target.view(-1), ignore_index=-100)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


TRAININGS: dict[str, tuple[Callable[[Any, Any], list[float]], Any]] = {
    "translated": (translated, PAIRS),
    "boxes": (boxes, PAIRS),
    "recordings": (recordings, PAIRS),
    "graphs": (graphs, MANY),
    "experts": (experts, MANY),
    "layers_of_experts": (layers_of_experts, MANY),
    "sets": (sets, MANY),
    "lstm": (partial(tagged, kind="lstm"), WORDS),
    "attention": (partial(tagged, kind="attention"), WORDS),
    "trees": (trees, 20),
    "ragged_now_and_then": (ragged, [16, 16, 5] * 3),
    "ragged_each_time": (ragged, [17, 6, 11, 9, 13, 17]),
    "ragged_often": (ragged, [18, 7] * 6),
    "painted": (painted, 20),
    **{f"driven_{turns}": (driven, turns) for turns in (20, 40, 30)},
    **{f"suppressed_{count}": (suppressed, count) for count in (33, 26, 23, 30, 28, 20)},
}


def losses_of(torch: Any, name: str) -> list[float]:
    """Return the losses of a training under `torch`."""
    train, sizes = TRAININGS[name]
    return train(torch, sizes)


def recorded(name: str) -> list[float]:
    """Return the losses that torch had."""
    return json.loads(RECORDED.read_text())[name]


if __name__ == "__main__":
    import torch

    torch.set_num_threads(1)
    rows = [f"{json.dumps(name)}: {[float(f'{loss:.9g}') for loss in losses_of(torch, name)]}" for name in TRAININGS]
    RECORDED.parent.mkdir(exist_ok=True)
    RECORDED.write_text("{" + ",\n ".join(rows) + "}\n")
