"""Samples of embeddings: padding rows, scaling by frequency, bags with offsets, empty bags, weights, refusals."""

from __future__ import annotations

from tests.ops.samples import Sample, given, sample, values

_INDICES = values([[1, 2, 2], [0, 4, 1]], "int64")
_FLAT = values([1, 2, 2, 0, 4, 1], "int64")
_STARTS = values([0, 2, 2, 3], "int64")

SAMPLES: dict[str, list[Sample]] = {
    "nn.functional.embedding": [
        sample(_INDICES, given(5, 3)),
        sample(_INDICES, given(5, 3), 2),
        sample(_INDICES, given(5, 3), padding_idx=-1),
        sample(_INDICES, given(5, 3), scale_grad_by_freq=True),
        sample(values(3, "int64"), given(5, 3)),
        sample(values([3, 3], "int32"), given(5, 3, dtype="float64")),
        sample(_INDICES, given(5, 3, low=1, high=2, grad=False), max_norm=1.5),
        sample(given(2), given(5, 3)).but(fails=True),
        sample(_INDICES, given(5)).but(fails=True),
    ],
    "nn.functional.embedding_bag": [
        *(sample(_INDICES, given(5, 3), mode=mode) for mode in ("sum", "mean", "max")),
        *(sample(_INDICES, given(5, 3), mode=mode, padding_idx=2) for mode in ("sum", "mean", "max")),
        *(sample(_FLAT, given(5, 3), _STARTS, mode=mode) for mode in ("sum", "mean", "max")),
        sample(_FLAT, given(5, 3), values([0, 2, 2, 6], "int64"), mode="sum", include_last_offset=True),
        sample(_FLAT, given(5, 3), _STARTS, mode="sum", per_sample_weights=given(6)),
        sample(_FLAT, given(5, 3)).but(fails=True),
        sample(_INDICES, given(5, 3), mode="middle").but(fails=True),
        sample(_INDICES, given(5, 3), per_sample_weights=given(2, 3)).but(fails=True),
    ],
}
