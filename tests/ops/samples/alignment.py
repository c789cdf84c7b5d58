"""Samples of the CTC loss: padded and joined targets, repetitions, short inputs, impossible targets, refusals."""

from __future__ import annotations

from tests.ops.samples import Sample, given, sample, values

_SCORES = given(7, 2, 5, low=-4, high=-0.5)
_PADDED = values([[1, 2, 2], [3, 4, 0]], "int64")
_JOINED = values([1, 2, 2, 3, 4], "int64")
_INPUTS, _TARGETS = values([7, 5], "int64"), values([3, 2], "int64")

SAMPLES: dict[str, list[Sample]] = {
    "nn.functional.ctc_loss": [
        *(sample(_SCORES, _PADDED, _INPUTS, _TARGETS, reduction=each) for each in ("mean", "sum", "none")),
        sample(_SCORES, _JOINED, _INPUTS, _TARGETS),
        sample(_SCORES, values([[1, 2, 2], [3, 1, 0]], "int64"), _INPUTS, _TARGETS, blank=4),
        sample(_SCORES, _PADDED, _INPUTS, values([3, 0], "int64"), reduction="none"),
        sample(_SCORES, _PADDED, values([3, 5], "int64"), _TARGETS, reduction="none").but(gradient=False),
        sample(_SCORES, _PADDED, values([3, 5], "int64"), _TARGETS, zero_infinity=True),
        sample(given(7, 5, low=-4, high=-0.5), values([1, 2, 2], "int64"), values(7, "int64"), values(3, "int64")).but(
            graph=False
        ),
        sample(_SCORES, _PADDED, _INPUTS, _TARGETS, blank=5).but(fails=True),
        sample(_SCORES, _PADDED, values([7], "int64"), _TARGETS).but(fails=True),
    ],
}
