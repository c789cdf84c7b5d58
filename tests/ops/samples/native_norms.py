"""Samples of the normalizations that return their statistics too, and of shuffled channels."""

from __future__ import annotations

from tests.ops.samples import Sample, given, sample

SAMPLES: dict[str, list[Sample]] = {
    "native_layer_norm": [
        sample(given(2, 3, 4), (4,), given(4), given(4), 1e-5).but(graph=False),
        sample(given(2, 3, 4), (3, 4), None, None, 1e-3).but(graph=False),
    ],
    "native_group_norm": [
        sample(given(2, 4, 3), given(4), given(4), 2, 4, 3, 2, 1e-5).but(graph=False),
        sample(given(2, 4), None, None, 2, 4, 1, 2, 1e-5).but(graph=False),
    ],
    "norm_except_dim": [sample(given(2, 3, 4)).but(graph=False), sample(given(2, 3, 4), 2, -1).but(graph=False)],
    "_weight_norm": [
        sample(given(3, 4), given(3, 1)),
        sample(given(2, 3, 4), given(1, 1, 4), 2),
        sample(given(2, 3, 4), given(1, 3, 1), 1),
        sample(given(2, 3), given(), -1),
        sample(given(3, 4, dtype="float64"), given(3, 1, dtype="float64"), 0),
        sample(given(3, 4), given(3, 1), 5).but(fails=True),
    ],
    "native_channel_shuffle": [sample(given(1, 4, 2, 2), 2).but(graph=False)],
}
