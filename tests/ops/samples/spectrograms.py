"""Samples of the short-time Fourier transform and its inverse."""

from __future__ import annotations

from tests.ops.samples import Sample, given, sample

_SPECTRA = given(5, 12, dtype="complex64")

SAMPLES: dict[str, list[Sample]] = {
    "stft": [
        sample(given(40), 8, return_complex=True).but(graph=False),
        sample(given(2, 40), 8, 3, 6, given(6), normalized=True, return_complex=False).but(graph=False),
        sample(given(40), 16, center=False, onesided=False, return_complex=True).but(graph=False),
        sample(given(40, dtype="complex64"), 8, pad_mode="constant").but(graph=False),
        sample(given(40), 8).but(fails=True),
        sample(given(40), 8, hop_length=0, return_complex=True).but(fails=True),
        sample(given(40), 8, win_length=9, return_complex=True).but(fails=True),
        sample(given(40), 8, window=given(7), return_complex=True).but(fails=True),
    ],
    "istft": [
        sample(_SPECTRA, 8).but(graph=False),
        sample(given(2, 5, 12, dtype="complex64"), 8, 3, 6, given(6, low=0.5), normalized=True).but(graph=False),
        sample(_SPECTRA, 8, length=30).but(graph=False),
        sample(given(8, 12, dtype="complex64"), 8, onesided=False, return_complex=True).but(graph=False),
        sample(given(5, 12), 8).but(fails=True),
        sample(_SPECTRA, 10).but(fails=True),
        sample(given(5, 0, dtype="complex64"), 8).but(fails=True),
    ],
}
