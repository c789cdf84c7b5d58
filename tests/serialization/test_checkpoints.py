"""With torch at hand: training begun there goes on here, and the other way round, through a file each time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import funcgrad

pytestmark = pytest.mark.parity
torch = pytest.importorskip("torch", minversion="2.13")

FLOATS, IMAGES, WORDS, STEPS = (4, 6), (2, 3, 8, 8), (3, 5), (5, 2, 6)


def _tied(nn: Any) -> Any:
    model = nn.Sequential(nn.Embedding(7, 4), nn.Linear(4, 4), nn.Linear(4, 7, bias=False))
    model[2].weight = model[0].weight
    return model


# no bias before a norm: its gradient is rounding only, of which Adam and its kin make whole steps; nor, for the keys of
# the encoder, an optimizer of that kind
MODELS: dict[str, tuple[Callable[[Any], Any], tuple[int, ...]]] = {
    "mlp": (lambda nn: nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 2)), FLOATS),
    "conv": (lambda nn: nn.Sequential(nn.Conv2d(3, 4, 3), nn.Tanh(), nn.Flatten(), nn.Linear(144, 2)), IMAGES),
    "batch norm": (lambda nn: nn.Sequential(nn.Conv2d(3, 4, 3, bias=False), nn.BatchNorm2d(4), nn.Flatten()), IMAGES),
    "transposed": (
        lambda nn: nn.Sequential(nn.ConvTranspose2d(3, 2, 2, bias=False), nn.InstanceNorm2d(2, affine=True)), IMAGES,
    ),
    "group norm": (lambda nn: nn.Sequential(nn.Conv2d(3, 4, 1), nn.GroupNorm(2, 4), nn.PReLU(4)), IMAGES),
    "layer norm": (lambda nn: nn.Sequential(nn.Linear(6, 8), nn.LayerNorm(8), nn.GELU()), FLOATS),
    "embedding": (lambda nn: nn.Sequential(nn.Embedding(7, 4, padding_idx=0), nn.Linear(4, 3)), WORDS),
    "tied": (_tied, WORDS),
    "lstm": (lambda nn: nn.LSTM(6, 4, 2, bidirectional=True), STEPS),
    "encoder": (lambda nn: nn.TransformerEncoderLayer(6, 2, 8, dropout=0.0), STEPS),
    "gru": (lambda nn: nn.GRU(6, 4), STEPS),
    "weight norm": (lambda nn: nn.utils.parametrizations.weight_norm(nn.Linear(6, 3)), FLOATS),
}  # fmt: skip
OPTIMIZERS: dict[str, dict[str, Any]] = {
    "Adam": {"lr": 0.01}, "SGD": {"lr": 0.05, "momentum": 0.9}, "AdamW": {"amsgrad": True}, "RMSprop": {"lr": 0.01},
    "Adagrad": {"lr": 0.05}, "Adamax": {"lr": 0.01}, "NAdam": {"lr": 0.01}, "Adadelta": {},
}  # fmt: skip
BOTH = [(model, list(OPTIMIZERS)[i % len(OPTIMIZERS)]) for i, model in enumerate(MODELS)]


def made(torch: Any, model: str, optimizer: str, seed: int) -> tuple[Any, Any]:
    """Return the model, with weights of its own, and its optimizer."""
    torch.manual_seed(seed)
    layers = MODELS[model][0](torch.nn)
    return layers, getattr(torch.optim, optimizer)(layers.parameters(), **OPTIMIZERS[optimizer])


def train(torch: Any, model: str, layers: Any, optimizer: Any, turn: int) -> None:
    """Take two steps on numbers that follow from `turn`."""
    for step in range(2):
        random = np.random.RandomState(10 * turn + step)
        shape = MODELS[model][1]
        given = random.randint(0, 7, shape) if shape == WORDS else random.standard_normal(shape).astype(np.float32)
        result = layers(torch.tensor(given))
        result = result[0] if isinstance(result, tuple) else result
        weights = torch.tensor(random.standard_normal(tuple(result.shape)).astype(np.float32))
        optimizer.zero_grad()
        (result * weights).sum().backward()
        optimizer.step()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("model", "optimizer"), BOTH, ids=[f"{m}, {o}" for m, o in BOTH])
def test_training_goes_on_across_files(model: str, optimizer: str, tmp_path: Path) -> None:
    sides: list[tuple[Any, Any]] = [(torch, funcgrad), (funcgrad, torch)]
    for turn, (first, second) in enumerate(sides):
        path = str(tmp_path / f"{turn}.pt")
        layers, stepping = made(first, model, optimizer, seed=1)
        train(first, model, layers, stepping, turn)
        first.save({"model": layers.state_dict(), "optimizer": stepping.state_dict(), "epoch": 3}, path)
        others, other_stepping = made(second, model, optimizer, seed=2)
        kept = second.load(path, weights_only=True)
        assert kept["epoch"] == 3
        others.load_state_dict(kept["model"])
        other_stepping.load_state_dict(kept["optimizer"])
        train(first, model, layers, stepping, turn + 5)
        train(second, model, others, other_stepping, turn + 5)
        expected, found = layers.state_dict(), others.state_dict()
        assert list(found) == list(expected)
        for name, tensor in expected.items():
            np.testing.assert_allclose(found[name].numpy(), tensor.numpy(), rtol=2e-4, atol=2e-5, err_msg=name)
