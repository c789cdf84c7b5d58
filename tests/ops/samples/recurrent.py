"""Samples of single steps of recurrent networks; whole sequences are held to these in `tests/ops/test_sequences.py`."""

from __future__ import annotations

from tests.ops.samples import Sample, given, sample


def _steps(gates: int) -> list[Sample]:
    weights = (given(4 * gates, 2), given(4 * gates, 4))
    biases = (given(4 * gates), given(4 * gates))
    return [
        sample(given(3, 2), given(3, 4), *weights, *biases).but(graph=False),
        sample(given(3, 2), given(3, 4), *weights).but(graph=False),
        sample(given(3, 3), given(3, 4), *weights, *biases).but(fails=True),
        sample(given(3, 2), given(3, 5), *weights, *biases).but(fails=True),
    ]


SAMPLES: dict[str, list[Sample]] = {
    "gru_cell": _steps(3),
    "rnn_tanh_cell": _steps(1),
    "rnn_relu_cell": _steps(1),
}
