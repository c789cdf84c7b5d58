"""The loops that are measured: each written once, for whichever module is given to it as `torch`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Step = Callable[[], float]
BATCHES = 8


class Sizes(NamedTuple):
    """What a workload's data look like: shapes without the batch, and the number of classes."""

    inputs: tuple[int, ...]
    targets: tuple[int, ...]
    classes: int
    batch: int
    is_text: bool = False


SIZES = {
    "tiny": Sizes((8,), (), 2, 16),
    "mlp": Sizes((784,), (), 10, 64),
    "conv": Sizes((1, 28, 28), (), 10, 64),
    "gpt": Sizes((64,), (64,), 65, 12, is_text=True),
    "lstm": Sizes((50, 32), (), 10, 16),
    "deep": Sizes((32,), (32,), 65, 4, is_text=True),
    "resnet": Sizes((3, 32, 32), (), 10, 32),
    "printed": Sizes((784,), (), 10, 64),
    "gan": Sizes((64,), (), 2, 64),
    "look": Sizes((784,), (), 10, 1),
    "look-conv": Sizes((1, 28, 28), (), 10, 1),
}
WIDTH, HEADS, LAYERS, HIDDEN = 128, 4, 4, 64
DEEP_WIDTH, DEEP_LAYERS, NOISE = 48, 12, 16


def numbers(workload: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the workload's batches, the same in every process."""
    random, sizes = np.random.default_rng(0), SIZES[workload]
    batches = []
    for _ in range(BATCHES):
        if sizes.is_text:
            inputs: np.ndarray = random.integers(0, sizes.classes, (sizes.batch, *sizes.inputs))
        else:
            inputs = random.standard_normal((sizes.batch, *sizes.inputs)).astype(np.float32)
        batches.append((inputs, random.integers(0, sizes.classes, (sizes.batch, *sizes.targets))))
    return batches


def device_of(torch: Any) -> str:
    """Return where a loop runs: on the GPU, if there is one."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def loop(torch: Any, workload: str) -> Step:
    """Return the function that does one step of an ordinary training loop and returns its loss."""
    torch.manual_seed(0)
    if workload in LOOPS:
        return LOOPS[workload](torch)
    model, optimizer = BUILDERS[workload](torch)
    device = device_of(torch)
    model.to(device)
    criterion = torch.nn.CrossEntropyLoss()
    batches = [tuple(torch.tensor(part).to(device) for part in batch) for batch in numbers(workload)]
    classes = SIZES[workload].classes
    turn = 0

    def step() -> float:
        nonlocal turn
        inputs, targets = batches[turn % BATCHES]
        turn += 1
        optimizer.zero_grad()
        loss = criterion(model(inputs).view(-1, classes), targets.view(-1))
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def tiny(torch: Any) -> tuple[Any, Any]:
    nn = torch.nn
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 2))
    return model, torch.optim.Adam(model.parameters(), lr=1e-3)


def mlp(torch: Any) -> tuple[Any, Any]:
    nn = torch.nn
    model = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))
    return model, torch.optim.Adam(model.parameters(), lr=1e-3)


def conv(torch: Any) -> tuple[Any, Any]:
    nn = torch.nn
    model = nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(64 * 7 * 7, 10),
    )  # fmt: skip
    return model, torch.optim.Adam(model.parameters(), lr=1e-3)


def gpt(torch: Any, workload: str = "gpt", width: int = WIDTH, layers: int = LAYERS) -> tuple[Any, Any]:
    nn, functional = torch.nn, torch.nn.functional

    class Attention(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.queries_keys_values = nn.Linear(width, 3 * width)
            self.output = nn.Linear(width, width)

        def forward(self, x: Any) -> Any:
            batch, time, _ = x.shape
            parts = self.queries_keys_values(x).split(width, dim=2)
            q, k, v = (part.view(batch, time, HEADS, width // HEADS).transpose(1, 2) for part in parts)
            mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            return self.output(mixed.transpose(1, 2).contiguous().view(batch, time, width))

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm1, self.attention = nn.LayerNorm(width), Attention()
            self.norm2 = nn.LayerNorm(width)
            self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

        def forward(self, x: Any) -> Any:
            x = x + self.attention(self.norm1(x))
            return x + self.mlp(self.norm2(x))

    class GPT(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            sizes = SIZES[workload]
            self.tokens = nn.Embedding(sizes.classes, width)
            self.positions = nn.Embedding(sizes.inputs[0], width)
            self.blocks = nn.ModuleList([Block() for _ in range(layers)])
            self.norm = nn.LayerNorm(width)
            self.head = nn.Linear(width, sizes.classes)

        def forward(self, tokens: Any) -> Any:
            x = self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1], device=tokens.device))
            for block in self.blocks:
                x = block(x)
            return self.head(self.norm(x))

    model = GPT()
    return model, torch.optim.AdamW(model.parameters(), lr=1e-3)


def deep(torch: Any) -> tuple[Any, Any]:
    return gpt(torch, "deep", DEEP_WIDTH, DEEP_LAYERS)


def resnet(torch: Any) -> tuple[Any, Any]:
    nn = torch.nn

    def convolution(channels_in: int, channels_out: int, size: int, stride: int = 1) -> Any:
        return nn.Conv2d(channels_in, channels_out, size, stride, size // 2, bias=False)

    class Block(nn.Module):
        def __init__(self, channels_in: int, channels_out: int, stride: int) -> None:
            super().__init__()
            self.first, self.norm1 = convolution(channels_in, channels_out, 3, stride), nn.BatchNorm2d(channels_out)
            self.second, self.norm2 = convolution(channels_out, channels_out, 3), nn.BatchNorm2d(channels_out)
            self.short = nn.Sequential()
            if stride > 1:
                self.short = nn.Sequential(
                    convolution(channels_in, channels_out, 1, stride), nn.BatchNorm2d(channels_out)
                )

        def forward(self, x: Any) -> Any:
            inner = torch.relu(self.norm1(self.first(x)))
            return torch.relu(self.norm2(self.second(inner)) + self.short(x))

    model = nn.Sequential(
        convolution(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), Block(16, 16, 1), Block(16, 32, 2), Block(32, 64, 2),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10),
    )  # fmt: skip
    return model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


def lstm(torch: Any) -> tuple[Any, Any]:
    nn = torch.nn

    class Reader(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lstm = nn.LSTM(SIZES["lstm"].inputs[1], HIDDEN, batch_first=True)
            self.head = nn.Linear(HIDDEN, SIZES["lstm"].classes)

        def forward(self, x: Any) -> Any:
            outputs, _ = self.lstm(x)
            return self.head(outputs[:, -1])

    model = Reader()
    return model, torch.optim.Adam(model.parameters(), lr=1e-3)


def printed(torch: Any) -> Step:
    """The loss is looked at before backward: two programs a step."""
    model, optimizer = mlp(torch)
    model.to(device_of(torch))
    criterion = torch.nn.CrossEntropyLoss()
    inputs, targets = (torch.tensor(part).to(device_of(torch)) for part in numbers("printed")[0])

    def step() -> float:
        optimizer.zero_grad()
        loss = criterion(model(inputs), targets)
        seen = loss.item()
        loss.backward()
        optimizer.step()
        return seen

    return step


def gan(torch: Any) -> Step:
    """Two nets and two optimizers; what the generator made is detached for the discriminator."""
    nn = torch.nn
    maker = nn.Sequential(nn.Linear(NOISE, 128), nn.ReLU(), nn.Linear(128, 64))
    judge = nn.Sequential(nn.Linear(64, 128), nn.LeakyReLU(0.2), nn.Linear(128, 1))
    makers, judges = (torch.optim.Adam(net.parameters(), lr=2e-4, betas=(0.5, 0.999)) for net in (maker, judge))
    criterion = nn.BCEWithLogitsLoss()
    device = device_of(torch)
    for net in (maker, judge):
        net.to(device)
    real = torch.tensor(numbers("gan")[0][0]).to(device)
    noise, ones, zeros = real[:, :NOISE] * 0.5, torch.ones(64, 1, device=device), torch.zeros(64, 1, device=device)

    def step() -> float:
        made = maker(noise)
        judges.zero_grad()
        loss = criterion(judge(real), ones) + criterion(judge(made.detach()), zeros)
        loss.backward()
        judges.step()
        makers.zero_grad()
        fooled = criterion(judge(made), ones)
        fooled.backward()
        makers.step()
        return loss.item() + fooled.item()

    return step


def look(torch: Any, workload: str = "look") -> Step:
    """Forward only, one sample at a time: how long an answer takes."""
    model = (mlp if workload == "look" else conv)(torch)[0].to(device_of(torch)).eval()
    inputs = torch.tensor(numbers(workload)[0][0]).to(device_of(torch))

    def step() -> float:
        with torch.no_grad():
            return model(inputs).max().item()

    return step


def look_conv(torch: Any) -> Step:
    return look(torch, "look-conv")


BUILDERS: dict[str, Callable[[Any], tuple[Any, Any]]] = {
    "tiny": tiny, "mlp": mlp, "conv": conv, "resnet": resnet, "gpt": gpt, "deep": deep, "lstm": lstm,
}  # fmt: skip
LOOPS: dict[str, Callable[[Any], Step]] = {"gan": gan, "printed": printed, "look": look, "look-conv": look_conv}
WORKLOADS = (*BUILDERS, *LOOPS)


def record_ops(torch: Any, count: int, clock: Callable[[], float], *, with_history: bool) -> float:
    """Return the mean seconds to record one of `count` elementwise ops, in chains of 500 that are then thrown away.

    Only the lines that record are timed; the chain is let go before the program runs, so nothing of it is computed.
    """
    torch.ones(1, requires_grad=True)  # until somebody wants a gradient, small ops are done at once, not recorded
    x = torch.ones(8, requires_grad=with_history)
    length = 500
    total = 0.0
    for chain in range(count // length + 2):
        y = x
        start = clock()
        for _ in range(length // 5):
            y = y * x
            y = y + x
            y = y - x
            y = torch.tanh(y)
            y = y / x
        passed = clock() - start
        del y
        assert math.isfinite((x + 1).sum().item())  # runs the program, of which only this sum is wanted
        if chain >= 2:  # the first chains are new to the recorder
            total += passed
    return total / (count // length * length)
