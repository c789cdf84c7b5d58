"""Samples of Fourier transforms."""

from __future__ import annotations

from tests.ops.samples import Sample, given, sample

_COMPLEX = given(3, 4, dtype="complex64")


def _one(*inputs: object) -> list[Sample]:
    """A transform of one dimension, of these inputs; torch's graph has casts of its own."""
    found = [
        *(sample(each) for each in inputs),
        *(sample(each, 6, 0) for each in inputs),
        *(sample(each, n=3, norm=norm) for each in inputs[:1] for norm in ("forward", "ortho", "backward")),
        sample(given(4, dtype="float64")),
        sample(given(5, dtype="int64")),
    ]
    refused = [
        sample(given()),
        sample(inputs[0], norm="other"),
        sample(inputs[0], 0),
        sample(given(3, dtype="float16")),
    ]
    return [each.but(graph=False) for each in found] + [each.but(fails=True) for each in refused]


def _several(*inputs: object) -> list[Sample]:
    found = [
        *(sample(each) for each in inputs),
        *(sample(each, (2, 6), (1, 0)) for each in inputs),
        *(sample(each, dim=(0, -1), norm=norm) for each in inputs[:1] for norm in ("forward", "ortho")),
        sample(given(2, 3, 2, 2, dtype="float64"), s=(3, 3), dim=(-1, 1)),
    ]
    refused = [sample(inputs[0], dim=(0, 0)), sample(inputs[0], s=(2, 2, 2)), sample(inputs[0], dim=(5,))]
    return [each.but(graph=False) for each in found] + [each.but(fails=True) for each in refused]


_REAL = given(3, 4)

SAMPLES: dict[str, list[Sample]] = {
    "fft.fft": _one(_REAL, _COMPLEX),
    "fft.ifft": _one(_REAL, _COMPLEX),
    "fft.rfft": [*_one(_REAL), sample(_COMPLEX).but(fails=True)],
    "fft.irfft": _one(_COMPLEX, _REAL),
    "fft.hfft": _one(_COMPLEX, _REAL),
    "fft.ihfft": [*_one(_REAL), sample(_COMPLEX).but(fails=True)],
    "fft.fft2": _several(_REAL, _COMPLEX),
    "fft.ifft2": _several(_REAL, _COMPLEX),
    "fft.rfft2": _several(_REAL),
    "fft.irfft2": _several(_COMPLEX, _REAL),
    "fft.hfft2": _several(_COMPLEX, _REAL),
    "fft.ihfft2": _several(_REAL),
    "fft.fftn": [*_several(_REAL, _COMPLEX), sample(given(2, 3, 2, 2, 3)).but(graph=False)],
    "fft.ifftn": [*_several(_REAL, _COMPLEX), sample(given(2, 3, 2, 2, 3)).but(graph=False)],
    "fft.rfftn": [*_several(_REAL), sample(given(2, 3, 2, 2, 4)).but(graph=False)],
    "fft.irfftn": [*_several(_COMPLEX, _REAL), sample(given(2, 3, 2, 2, 3, dtype="complex64")).but(graph=False)],
    "fft.hfftn": [*_several(_COMPLEX, _REAL), sample(given(2, 3, 2, 2, 3, dtype="complex64")).but(graph=False)],
    "fft.ihfftn": [*_several(_REAL), sample(given(2, 3, 2, 2, 4)).but(graph=False)],
    "fft.fftshift": [
        sample(given(5)),
        sample(given(4, 3), 0),
        sample(given(2, 5, 4), (0, 2)),
        sample(given(3), 3).but(fails=True),
    ],
    "fft.ifftshift": [sample(given(5)), sample(given(4, 3), 0), sample(given(2, 5, 4), (0, 2))],
}
