"""Measure nets as large as a GPU is bought for: funcgrad, the same text under torch, and under `torch.compile`.

    python -m tests.benchmarks.gpu                                # everything, ten minutes
    python -m tests.benchmarks.gpu --workloads gpt2 resnet50

Each engine runs in a process of its own, without a cache of compiled programs: `first` is the seconds of a first step.
Then steps follow each other without a look, as in training; `step` is the milliseconds of one, once all are done, and
`GB` the most memory that they took. Without a GPU the nets are tiny, and no figure means anything.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from tests.benchmarks.apart import chosen, measured_apart

ENGINES = ("funcgrad", "torch", "compiled")
WARM, STEPS = 4, 20


class Text(NamedTuple):
    """A transformer's sizes, what its attention sees, and how much is dropped, everywhere."""

    batch: int
    length: int
    layers: int
    words: int
    sees: str = "what is before"
    dropout: float = 0.0
    width: int = 768
    is_half: bool = True


class Images(NamedTuple):
    """A residual net's batch, the images' size, and whether it computes in bfloat16."""

    batch: int
    size: int
    is_half: bool


WORKLOADS: dict[str, Text | Images] = {
    "gpt2": Text(8, 1024, 12, 50304),
    "all": Text(64, 197, 12, 1024, sees="everything"),
    "mask": Text(32, 256, 6, 1024, sees="what a mask shows"),
    "numbers": Text(32, 256, 6, 1024, sees="what a mask of numbers shows"),
    "dropout": Text(8, 1024, 6, 1024, dropout=0.1),
    "float32": Text(8, 1024, 6, 1024, is_half=False),
    "resnet50": Images(64, 224, is_half=False),
    "resnet50-half": Images(64, 224, is_half=True),
}


def transformer(torch: Any, sizes: Text, device: str) -> tuple[Any, Callable[[Any], Any]]:
    """Return a transformer, and the loss of a net like it on one batch of random words."""
    nn, functional, width = torch.nn, torch.nn.functional, sizes.width
    heads = width // 64
    draw = torch.Generator().manual_seed(1)
    ends = torch.randint(sizes.length // 2, sizes.length + 1, (sizes.batch, 1), generator=draw)
    shown = (torch.arange(sizes.length)[None] < ends)[:, None, None].to(device)
    added = torch.where(shown, 0.0, float("-inf"))
    mask = {"what a mask shows": shown, "what a mask of numbers shows": added}.get(sizes.sees)
    words, following = (
        torch.randint(sizes.words, (sizes.batch, sizes.length), generator=draw).to(device) for _ in range(2)
    )

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.all, self.mixed = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
            self.drop = nn.Dropout(sizes.dropout)

        def forward(self, x: Any) -> Any:
            shape = (*x.shape[:2], heads, width // heads)
            q, k, v = (part.view(shape).transpose(1, 2) for part in self.all(self.norm1(x)).split(width, dim=2))
            y = functional.scaled_dot_product_attention(
                q, k, v, mask, self.drop.p, is_causal=sizes.sees == "what is before"
            )
            x = x + self.drop(self.mixed(y.transpose(1, 2).contiguous().view(x.shape)))
            return x + self.drop(self.narrow(functional.gelu(self.wide(self.norm2(x)), approximate="tanh")))

    class Transformer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words, self.places = nn.Embedding(sizes.words, width), nn.Embedding(sizes.length, width)
            self.blocks = nn.ModuleList([Block() for _ in range(sizes.layers)])
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, sizes.words, bias=False)
            self.words.weight = self.head.weight
            for parameter in self.parameters():
                if parameter.dim() == 2:
                    nn.init.normal_(parameter, std=0.02)

        def forward(self, words: Any) -> Any:
            x = self.words(words) + self.places(torch.arange(words.shape[1], device=words.device))
            for block in self.blocks:
                x = block(x)
            return self.head(self.norm(x))

    def loss(net: Any) -> Any:
        with torch.autocast(device, dtype=torch.bfloat16, enabled=sizes.is_half):
            return functional.cross_entropy(net(words).view(-1, sizes.words), following.view(-1))

    return Transformer().to(device), loss


def residual_net(torch: Any, sizes: Images, device: str) -> tuple[Any, Callable[[Any], Any]]:
    """Return a ResNet-50, and the loss of a net like it on one batch of random images."""
    nn, draw = torch.nn, torch.Generator().manual_seed(1)
    images = torch.randn(sizes.batch, 3, sizes.size, sizes.size, generator=draw).to(device)
    images = images.to(memory_format=torch.channels_last)
    classes = torch.randint(1000, (sizes.batch,), generator=draw).to(device)

    def convolved(channels_in: int, channels_out: int, size: int, stride: int = 1) -> list[Any]:
        convolution = nn.Conv2d(channels_in, channels_out, size, stride, size // 2, bias=False)
        return [convolution, nn.BatchNorm2d(channels_out)]

    class Bottleneck(nn.Module):
        def __init__(self, channels_in: int, width: int, stride: int) -> None:
            super().__init__()
            relu, out = nn.ReLU(inplace=True), 4 * width
            self.long = nn.Sequential(
                *convolved(channels_in, width, 1), relu, *convolved(width, width, 3, stride), relu,
                *convolved(width, out, 1),
            )  # fmt: skip
            self.short = nn.Sequential(*convolved(channels_in, out, 1, stride) if channels_in != out else [])
            self.relu = relu

        def forward(self, x: Any) -> Any:
            return self.relu(self.long(x) + self.short(x))

    blocks, channels = [], 64
    for width, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for i in range(count):
            blocks.append(Bottleneck(channels, width, 1 if i else stride))
            channels = 4 * width
    net = nn.Sequential(
        *convolved(3, 64, 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1), *blocks,
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 1000),
    )  # fmt: skip

    def loss(net: Any) -> Any:
        with torch.autocast(device, dtype=torch.bfloat16, enabled=sizes.is_half):
            return nn.functional.cross_entropy(net(images), classes)

    return net.to(device).to(memory_format=torch.channels_last), loss


def measure(engine: str, workload: str) -> dict[str, float]:
    """Return the seconds of the first step, the milliseconds of a later one, the memory and the last loss."""
    torch: Any = importlib.import_module("funcgrad" if engine == "funcgrad" else "torch")
    device, sizes = "cuda" if torch.cuda.is_available() else "cpu", WORKLOADS[workload]
    torch.manual_seed(0)
    if isinstance(sizes, Text):
        small = sizes._replace(batch=2, length=9, layers=1, words=40, width=64)
        net, loss_of = transformer(torch, sizes if device == "cuda" else small, device)
        optimizer = torch.optim.AdamW(net.parameters(), lr=6e-4, betas=(0.9, 0.95), weight_decay=0.1)
    else:
        net, loss_of = residual_net(torch, sizes if device == "cuda" else sizes._replace(batch=2, size=32), device)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4)
    called = torch.compile(net) if engine == "compiled" else net

    def steps(count: int) -> float:
        for _ in range(count):
            loss = loss_of(called)
            optimizer.zero_grad()
            loss.backward()
            if isinstance(sizes, Text):
                torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
        return loss.item()

    def seconds(count: int) -> float:
        start = time.perf_counter()
        steps(count)
        return time.perf_counter() - start

    found = {"first": seconds(1)}
    steps(WARM)
    found["step"] = 1e3 * seconds(STEPS) / STEPS
    taken = torch.cuda.max_memory_allocated() if device == "cuda" else 0
    return found | {"GB": taken / 1e9, "loss": steps(1)}


def main() -> None:
    """Print a row for each workload and engine."""
    print(f"{'':16}{'':10}" + "".join(f"{name:>10}" for name in ("first", "step", "GB", "loss")))
    for workload in chosen(__doc__, WORKLOADS, measure):
        for engine in ENGINES:
            found = measured_apart("tests.benchmarks.gpu", engine, workload)
            print(f"{workload:16}{engine:10}" + "".join(f"{figure:10.3f}" for figure in found.values()), flush=True)


if __name__ == "__main__":
    main()
