"""Samples of what folds runs of elements, and of hashes."""

from __future__ import annotations

from tests.ops.samples import Sample, given, sample, values

_LENGTHS = values([2, 0, 4], "int64")

SAMPLES: dict[str, list[Sample]] = {
    "segment_reduce": [
        *(sample(given(6), each, lengths=_LENGTHS) for each in ("sum", "mean", "prod")),
        *(sample(given(6), each, lengths=_LENGTHS, initial=0.5) for each in ("sum", "mean", "prod", "max", "min")),
        sample(given(6, 3), "max", offsets=values([0, 2, 6], "int64")),
        sample(given(2, 6), "sum", lengths=values([[2, 4], [3, 3]], "int64"), axis=1),
        sample(given(6), "sum").but(fails=True),
        sample(given(6), "most", lengths=_LENGTHS).but(fails=True),
    ],
    "hash_tensor": [
        sample(given(2, 3, grad=False)),
        sample(given(2, 3, dtype="int8"), 1),
        sample(given(2, 3, dtype="bool"), (0,), keepdim=True),
    ],
}
