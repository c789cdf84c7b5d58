"""Training scripts as people write them, each once, for whichever module is given to it as `torch`.

Everything a script does follows from its `manual_seed`: data, initial weights, order of batches, dropout masks, noise.
The sizes and learning rates are such that a rounding error does not grow, so that every loss is the same number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

STEPS = 100
Losses = Iterator[tuple[float, ...]]


def losses(torch: Any, name: str) -> list[tuple[float, ...]]:
    """Return the losses of the first steps of a script."""
    return list(islice(CURVES[name](torch), STEPS))


def mlp(torch: Any) -> Losses:
    """Yield the losses of a classifier with dropout: SGD with momentum, a schedule, and a shorter last batch."""
    nn, data = torch.nn, torch.utils.data
    torch.manual_seed(1)
    points = torch.randn(200, 8)
    labels = (points[:, 0] * points[:, 1] > 0).long() + (points[:, 2] > 0.5).long()
    loader = data.DataLoader(data.TensorDataset(points, labels), batch_size=32, shuffle=True)
    model = nn.Sequential(
        nn.Linear(8, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 32), nn.ReLU(), nn.Dropout(0.5), nn.Linear(32, 3)
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=5, gamma=0.7)
    criterion = nn.CrossEntropyLoss()
    while True:
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            yield (loss.item(),)
        scheduler.step()


def conv(torch: Any) -> Losses:
    """Yield the losses of a classifier of small pictures: convolution, batch norm, max pool, two kinds of dropout."""
    nn, functional, data = torch.nn, torch.nn.functional, torch.utils.data

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(1, 6, 3, padding=1)
            self.norm1 = nn.BatchNorm2d(6)
            self.conv2 = nn.Conv2d(6, 12, 3, padding=1, bias=False)
            self.norm2 = nn.BatchNorm2d(12)
            self.drop = nn.Dropout2d(0.2)
            self.head = nn.Linear(12 * 3 * 3, 4)

        def forward(self, x: Any) -> Any:
            x = functional.max_pool2d(functional.relu(self.norm1(self.conv1(x))), 2)
            x = functional.max_pool2d(functional.relu(self.norm2(self.conv2(x))), 2)
            x = functional.dropout(torch.flatten(self.drop(x), 1), 0.3, self.training)
            return functional.log_softmax(self.head(x), dim=1)

    torch.manual_seed(2)
    labels = torch.randint(0, 4, (96,))
    pictures = torch.randn(4, 1, 12, 12)[labels] + torch.randn(96, 1, 12, 12)
    loader = data.DataLoader(data.TensorDataset(pictures, labels), batch_size=16, shuffle=True, drop_last=True)
    model = Net()
    model.train()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.5)
    while True:
        for x, y in loader:
            optimizer.zero_grad()
            loss = functional.nll_loss(model(x), y)
            loss.backward()
            optimizer.step()
            yield (loss.item(),)


def lstm(torch: Any) -> Losses:
    """Yield losses and gradient norms of two stacked LSTMs, dropout between them, that say where a wave goes next."""
    nn, data = torch.nn, torch.utils.data

    class Waves(data.Dataset):
        def __init__(self, count: int) -> None:
            self.phase = torch.rand(count, 1) * 6.28
            self.speed = torch.rand(count, 1) * 0.4 + 0.2

        def __len__(self) -> int:
            return len(self.phase)

        def __getitem__(self, index: int) -> Any:
            wave = torch.sin(self.phase[index] + self.speed[index] * torch.arange(13))
            return wave[:12, None], wave[12:]

    class Forecast(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lstm = nn.LSTM(1, 16, num_layers=2, batch_first=True, dropout=0.1)
            self.head = nn.Linear(16, 1)

        def forward(self, x: Any) -> Any:
            outputs, (_, _) = self.lstm(x)
            return self.head(outputs[:, -1])

    torch.manual_seed(3)
    loader = data.DataLoader(Waves(80), batch_size=16, shuffle=True)
    model = Forecast()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    criterion = nn.MSELoss()
    while True:
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            norm = nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
            yield loss.item(), norm.item()


def gpt(torch: Any) -> Losses:
    """Yield the losses of a small GPT: weight decay for matrices only, a warm-up by hand, batches cut from one text."""
    time, letters = 16, 12
    torch.manual_seed(4)
    text = (torch.arange(600) ** 2 % 7 + torch.randint(0, 5, (600,))) % letters
    model = _gpt_model(torch, time, letters)
    matrices = [p for p in model.parameters() if p.dim() >= 2]
    others = [p for p in model.parameters() if p.dim() < 2]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=1e-3, betas=(0.9, 0.95))
    step = 0
    while True:
        for group in optimizer.param_groups:
            group["lr"] = 1e-3 * min(1.0, (step + 1) / 20)
        step += 1
        starts = torch.randint(len(text) - time, (8,))
        x = torch.stack([text[i : i + time] for i in starts])
        y = torch.stack([text[i + 1 : i + time + 1] for i in starts])
        loss = model(x, y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        yield (loss.item(),)


def _gpt_model(torch: Any, time: int, letters: int, width: int = 32, heads: int = 4) -> Any:
    nn, functional = torch.nn, torch.nn.functional

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
            self.mlp = nn.Sequential(self.up, nn.GELU(), self.down, nn.Dropout(0.1))
            self.register_buffer("mask", torch.tril(torch.ones(time, time)).view(1, 1, time, time))

        def attend(self, x: Any) -> Any:
            b, t, c = x.size()
            q, k, v = (part.view(b, t, heads, c // heads).transpose(1, 2) for part in self.qkv(x).split(c, dim=2))
            scores = (q @ k.transpose(-2, -1)) * (c // heads) ** -0.5
            scores = scores.masked_fill(self.mask[:, :, :t, :t] == 0, float("-inf"))
            mixed = functional.dropout(functional.softmax(scores, dim=-1), 0.1, self.training) @ v
            return self.out(mixed.transpose(1, 2).contiguous().view(b, t, c))

        def forward(self, x: Any) -> Any:
            x = x + self.attend(self.norm1(x))
            return x + self.mlp(self.norm2(x))

    class GPT(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tokens, self.positions = nn.Embedding(letters, width), nn.Embedding(time, width)
            self.blocks = nn.ModuleList([Block() for _ in range(2)])
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, letters, bias=False)
            self.apply(self.start)
            self.tokens.weight = self.head.weight

        def start(self, module: Any) -> None:
            if isinstance(module, (nn.Linear, nn.Embedding)):
                nn.init.normal_(module.weight, mean=0.0, std=0.02)
            if isinstance(module, nn.Linear) and module.bias is not None:
                nn.init.zeros_(module.bias)

        def forward(self, tokens: Any, targets: Any) -> Any:
            x = self.tokens(tokens) + self.positions(torch.arange(tokens.size(1)))
            for block in self.blocks:
                x = block(x)
            logits = self.head(self.norm(x))
            return functional.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))

    return GPT()


def gan(torch: Any) -> Losses:
    """Yield both losses of a GAN with two Adams: fakes detached for the critic, then judged again for the generator."""
    nn, data = torch.nn, torch.utils.data
    torch.manual_seed(5)
    angle = torch.rand(256) * 6.28
    ring = torch.stack([angle.cos(), angle.sin()], dim=1) + 0.1 * torch.randn(256, 2)
    loader = data.DataLoader(ring, batch_size=32, shuffle=True)
    generator = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2))
    critic = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Dropout(0.1), nn.Linear(16, 1), nn.Sigmoid())
    to_generator = torch.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.999))
    to_critic = torch.optim.Adam(critic.parameters(), lr=2e-4, betas=(0.5, 0.999))
    criterion = nn.BCELoss()
    while True:
        for real in loader:
            count = real.size(0)
            ones, zeros = torch.ones(count, 1), torch.zeros(count, 1)
            fake = generator(torch.randn(count, 4))
            to_critic.zero_grad()
            loss_real = criterion(critic(real), ones)
            loss_real.backward()
            loss_fake = criterion(critic(fake.detach()), zeros)
            loss_fake.backward()
            to_critic.step()
            to_generator.zero_grad()
            loss_generator = criterion(critic(fake), ones)
            loss_generator.backward()
            to_generator.step()
            yield (loss_real + loss_fake).item(), loss_generator.item()


CURVES: dict[str, Callable[[Any], Losses]] = {"mlp": mlp, "conv": conv, "lstm": lstm, "gpt": gpt, "gan": gan}
