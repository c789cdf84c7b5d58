"""torch.histogram has 100 bins where none are asked for."""

from __future__ import annotations

import funcgrad as torch


def test_a_histogram_has_100_bins_unless_said_otherwise() -> None:
    counts, edges = torch.histogram(torch.linspace(0, 1, 200))
    assert counts.tolist() == [2.0] * 100
    assert edges.shape == (101,)
