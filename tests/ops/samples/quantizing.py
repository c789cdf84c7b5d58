"""Samples of rounding to a grid of integers and back."""

from __future__ import annotations

from tests.ops.samples import Sample, given, sample, values

SAMPLES: dict[str, list[Sample]] = {
    "fake_quantize_per_tensor_affine": [
        sample(given(3, 5), 0.1, 0, -8, 7),
        sample(given(3, 5), 0.25, 3, quant_min=0, quant_max=15),
        sample(given(4), values([0.2], grad=False), values([1], "int32"), -4, 4),
        sample(given(4), 0.1, 0, 7, -8).but(fails=True),
    ],
    "fake_quantize_per_channel_affine": [
        sample(given(3, 5), values([0.1, 0.3, 0.5], grad=False), values([0, 1, -1], "int32"), 0, -4, 4),
        sample(given(2, 3), values([0.1, 0.3, 0.5], grad=False), values([0, 1, -1], "int32"), 1, -4, 4),
    ],
}
