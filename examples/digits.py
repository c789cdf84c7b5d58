"""Learn to read handwritten digits, written twice: as a loop that changes things, and as a function that returns them.

    python examples/digits.py                            # the usual loop: model, optimizer, loss.backward()
    python examples/digits.py --style functional         # the same training in plain JAX and optax
    python examples/digits.py --style both --model conv  # one after the other, compared step by step

The data are the 1,797 images of 8 x 8 pixels of the UCI digits that scikit-learn brings along; the curves are saved
as a picture. Both styles call the same functions: `F.linear` of Tensors is recorded, and can be differentiated;
`F.linear` of JAX arrays is the pure JAX function itself, so it can stand under `jax.jit` and `jax.grad`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

import jax
import matplotlib
import numpy as np
import optax
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from tqdm import tqdm

import funcgrad as torch
from funcgrad import nn
from funcgrad.nn import functional as F
from funcgrad.utils.data import DataLoader, Dataset

matplotlib.use("Agg")  # draws into a file, needs no screen
from matplotlib import pyplot as plt

Weights = dict[str, jax.Array]
Forward = Callable[[Weights, jax.Array], jax.Array]


class Digits(Dataset):
    """Images of shape (1, 8, 8) with values from 0 to 1, and the digit that each one shows."""

    def __init__(self, images: np.ndarray, labels: np.ndarray) -> None:
        self.images = images.reshape(-1, 1, 8, 8).astype(np.float32) / 16
        self.labels = labels.astype(np.int64)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.int64]:
        return self.images[index], self.labels[index]


def load(options: argparse.Namespace) -> tuple[DataLoader, DataLoader]:
    """Return the training batches, shuffled anew in every epoch, and the test batches."""
    images, labels = load_digits(return_X_y=True)
    parts = train_test_split(images, labels, test_size=360, stratify=labels, random_state=options.seed)
    train, test = Digits(parts[0], parts[2]), Digits(parts[1], parts[3])
    order = torch.Generator().manual_seed(options.seed)  # its own, so that both styles see the same batches
    return DataLoader(train, options.batch_size, shuffle=True, generator=order), DataLoader(test, batch_size=360)


# Each model stands here twice: as a module that owns its weights, and as a function that is given them. GELU is smooth;
# at ReLU's kink a difference in the last bit can decide whether a unit learns, and the two runs would drift apart.


class MLP(nn.Module):
    """64 pixels, two hidden layers, 10 digits."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden1 = nn.Linear(64, 128)
        self.hidden2 = nn.Linear(128, 64)
        self.output = nn.Linear(64, 10)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        x = images.flatten(1)
        x = F.gelu(self.hidden1(x))
        x = F.gelu(self.hidden2(x))
        return self.output(x)


def mlp(weights: Weights, images: jax.Array) -> jax.Array:
    x = images.reshape(-1, 64)
    x = F.gelu(F.linear(x, weights["hidden1.weight"], weights["hidden1.bias"]))
    x = F.gelu(F.linear(x, weights["hidden2.weight"], weights["hidden2.bias"]))
    return F.linear(x, weights["output.weight"], weights["output.bias"])


class ConvNet(nn.Module):
    """Two 3 x 3 convolutions, each followed by a 2 x 2 max-pool, then one linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, kernel_size=3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, kernel_size=3, padding=1)
        self.output = nn.Linear(32 * 2 * 2, 10)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        x = F.max_pool2d(F.gelu(self.conv1(images)), 2)
        x = F.max_pool2d(F.gelu(self.conv2(x)), 2)
        return self.output(x.flatten(1))


def conv_net(weights: Weights, images: jax.Array) -> jax.Array:
    x = F.conv2d(images, weights["conv1.weight"], weights["conv1.bias"], padding=1)
    x = F.max_pool2d(F.gelu(x), 2)
    x = F.conv2d(x, weights["conv2.weight"], weights["conv2.bias"], padding=1)
    x = F.max_pool2d(F.gelu(x), 2)
    return F.linear(x.reshape(-1, 128), weights["output.weight"], weights["output.bias"])


class Recipe(NamedTuple):
    """A model in both forms, and the learning rate that suits it."""

    module: type[nn.Module]
    function: Forward
    learning_rate: float


RECIPES = {"mlp": Recipe(MLP, mlp, 0.1), "conv": Recipe(ConvNet, conv_net, 0.05)}


@dataclass
class History:
    """What a training run leaves behind: one entry for each step, and an accuracy for each epoch."""

    losses: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    weights: list[dict[str, np.ndarray]] = field(default_factory=list)
    accuracies: list[float] = field(default_factory=list)


def train_stateful(options: argparse.Namespace) -> History:
    """Train as PyTorch scripts do: model, gradients and optimizer are things that change."""
    torch.manual_seed(options.seed)
    train, test = load(options)
    model = RECIPES[options.model].module()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=options.lr, momentum=0.9, weight_decay=5e-4)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=options.epochs)

    history = History()
    for _ in (progress := tqdm(range(options.epochs), "stateful")):
        model.train()
        for images, labels in train:
            start = time.perf_counter()
            optimizer.zero_grad()
            loss = criterion(model(images), labels)
            loss.backward()
            optimizer.step()
            history.losses.append(loss.item())
            history.seconds.append(time.perf_counter() - start)
            if options.style == "both":
                history.weights.append({name: p.detach().numpy().copy() for name, p in model.named_parameters()})
        scheduler.step()

        model.eval()
        with torch.no_grad():
            correct = sum((model(images).argmax(dim=1) == labels).sum().item() for images, labels in test)
        history.accuracies.append(correct / len(test.dataset))
        progress.set_postfix(loss=f"{history.losses[-1]:.4f}", accuracy=f"{history.accuracies[-1]:.1%}")
    return history


def train_functional(options: argparse.Namespace) -> History:
    """Train as JAX programs do: a pure step takes weights and optimizer state, and returns the next ones."""
    torch.manual_seed(options.seed)
    train, test = load(options)
    module, forward, _ = RECIPES[options.model]
    weights: Weights = {name: jax.numpy.array(p.detach().numpy()) for name, p in module().named_parameters()}

    learning_rate = optax.cosine_decay_schedule(options.lr, options.epochs)
    sgd = optax.sgd(lambda step: learning_rate(step // len(train)), momentum=0.9)
    optimizer = optax.chain(optax.add_decayed_weights(5e-4), sgd)
    state = optimizer.init(weights)

    def loss_of(weights: Weights, images: jax.Array, labels: jax.Array) -> jax.Array:
        return F.cross_entropy(forward(weights, images), labels)

    @partial(jax.jit, donate_argnums=(0, 1))
    def step(weights: Weights, state: optax.OptState, images: jax.Array, labels: jax.Array) -> tuple:
        loss, gradients = jax.value_and_grad(loss_of)(weights, images, labels)
        updates, state = optimizer.update(gradients, state, weights)
        return optax.apply_updates(weights, updates), state, loss

    @jax.jit
    def count_correct(weights: Weights, images: jax.Array, labels: jax.Array) -> jax.Array:
        return (forward(weights, images).argmax(axis=1) == labels).sum()

    history = History()
    for _ in (progress := tqdm(range(options.epochs), "functional")):
        for images, labels in train:
            batch = images.numpy(), labels.numpy()
            start = time.perf_counter()
            weights, state, loss = step(weights, state, *batch)
            history.losses.append(float(loss))
            history.seconds.append(time.perf_counter() - start)
            if options.style == "both":
                history.weights.append({name: np.array(w) for name, w in weights.items()})

        correct = sum(int(count_correct(weights, images.numpy(), labels.numpy())) for images, labels in test)
        history.accuracies.append(correct / len(test.dataset))
        progress.set_postfix(loss=f"{history.losses[-1]:.4f}", accuracy=f"{history.accuracies[-1]:.1%}")
    return history


def differences(first: History, second: History) -> dict[str, np.ndarray]:
    """Return, for the loss and for each parameter, the largest absolute difference at every step."""
    by_name = {"loss": np.abs(np.subtract(first.losses, second.losses))}
    for name in first.weights[0]:
        pairs = zip(first.weights, second.weights, strict=True)
        by_name[name] = np.array([np.abs(one[name] - other[name]).max() for one, other in pairs])
    return by_name


def print_differences(by_name: dict[str, np.ndarray], epochs: int) -> None:
    """Print one line an epoch: the largest difference among its steps."""
    print("\nLargest difference between the two styles, by step")
    print(f"{'steps':>11}", *(f"{name:>14}" for name in by_name))
    for steps in np.array_split(np.arange(len(by_name["loss"])), epochs):
        label = f"{steps[0] + 1}-{steps[-1] + 1}"
        print(f"{label:>11}", *(f"{difference[steps].max():14.1e}" for difference in by_name.values()))


def print_summary(histories: dict[str, History]) -> None:
    for style, history in histories.items():
        print(
            f"{style:>10}: test accuracy {history.accuracies[-1]:.2%}, last loss {history.losses[-1]:.4f}, "
            f"{np.median(history.seconds) * 1e3:.3f} ms a step (first step {history.seconds[0]:.2f} s)"
        )


def draw(histories: dict[str, History], path: Path) -> None:
    """Save the curves of the loss by step and of the test accuracy by epoch."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for (style, history), line in zip(histories.items(), ("-", "--"), strict=False):
        left.semilogy(history.losses, line, label=style, linewidth=1)
        right.plot(range(1, len(history.accuracies) + 1), np.multiply(history.accuracies, 100), line, label=style)
    left.set(xlabel="step", ylabel="training loss")
    right.set(xlabel="epoch", ylabel="test accuracy (%)")
    left.legend()
    figure.savefig(path, dpi=120)
    print(f"curves saved to {path}")


def main(arguments: Iterable[str] | None = None) -> dict[str, History]:
    parser = argparse.ArgumentParser(description="Train a small network on the UCI digits.")
    parser.add_argument("--style", choices=("stateful", "functional", "both"), default="stateful")
    parser.add_argument("--model", choices=tuple(RECIPES), default="mlp")
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--lr", type=float, help="learning rate at the start, which falls along a cosine")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("digits.png"), help="where the picture goes")
    options = parser.parse_args(arguments)
    options.lr = options.lr or RECIPES[options.model].learning_rate

    histories: dict[str, History] = {}
    if options.style != "functional":
        histories["stateful"] = train_stateful(options)
    if options.style != "stateful":
        histories["functional"] = train_functional(options)
    if options.style == "both":
        print_differences(differences(*histories.values()), options.epochs)
        print()
    print_summary(histories)
    draw(histories, options.out)
    return histories


if __name__ == "__main__":
    main()
