"""Models with known weights whose quantised results are recorded in torch and compared in funcgrad."""

from __future__ import annotations

from typing import Any

import numpy as np


def numbers(torch: Any, seed: int, *shape: int) -> Any:
    """Return normal numbers, the same in both libraries."""
    return torch.tensor(np.random.default_rng(seed).normal(size=shape).astype(np.float32))


def with_known_weights(torch: Any, model: Any) -> Any:
    """Give a model weights that depend on their places and shapes alone."""
    with torch.no_grad():
        for place, parameter in enumerate(model.parameters()):
            parameter.copy_(numbers(torch, 50 + place, *parameter.shape) * 0.3)
    return model


def models(torch: Any) -> dict[str, tuple[Any, Any]]:
    """Return modules, each in a Sequential, since what is quantised is a child, and their inputs."""
    nn = torch.nn
    x = numbers(torch, 0, 6, 3, 8)
    layers = {
        "linear": (nn.Linear(8, 4), x), "linear without bias": (nn.Linear(8, 4, bias=False), x),
        "linear of positive numbers": (nn.Linear(8, 4), x.abs()), "linear of zeros": (nn.Linear(8, 4), x * 0),
        "wide linear": (nn.Linear(300, 7), numbers(torch, 1, 5, 300)),
        "LSTM": (nn.LSTM(8, 5), x), "LSTM, two layers": (nn.LSTM(8, 5, 2, batch_first=True), x),
        "LSTM, both directions": (nn.LSTM(8, 5, bidirectional=True), x),
        "GRU": (nn.GRU(8, 5, 2), x), "GRU, both directions": (nn.GRU(8, 5, bidirectional=True), x),
        "LSTMCell": (nn.LSTMCell(8, 5), x[0]), "GRUCell": (nn.GRUCell(8, 5), x[0]),
        "RNNCell": (nn.RNNCell(8, 5, nonlinearity="relu"), x[0]),
    }  # fmt: skip
    return {name: (nn.Sequential(with_known_weights(torch, layer)), given) for name, (layer, given) in layers.items()}


def outcome(torch: Any, name: str) -> dict[str, Any]:
    """Quantise a model and return how it prints and what it gives."""
    model, given = models(torch)[name]
    quantised = torch.ao.quantization.quantize_dynamic(model, dtype=torch.qint8)
    return {"prints": repr(quantised), "gives": [x.tolist() for x in _flat(quantised(given))]}


def _flat(result: Any) -> list[Any]:
    return [part for x in result for part in _flat(x)] if isinstance(result, tuple) else [result]
