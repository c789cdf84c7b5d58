"""Sobol sequences: torch's points, scrambled ones too, in any portions."""

from __future__ import annotations

import numpy as np
import pytest

import funcgrad as torch
from funcgrad.quasirandom import SobolEngine


def test_the_first_points_are_those_of_the_sequence() -> None:
    wanted = [[0.0, 0.0], [0.5, 0.5], [0.75, 0.25], [0.25, 0.75], [0.375, 0.375]]
    assert SobolEngine(2).draw(5).tolist() == wanted
    engine = torch.quasirandom.SobolEngine(dimension=2).fast_forward(3)
    assert engine.draw().tolist() == wanted[3:4] and engine.draw(1, dtype=torch.float64).dtype is torch.float64
    assert engine.reset().draw_base2(2).tolist() == wanted[:4]
    with pytest.raises(ValueError, match="power of 2"):
        engine.draw_base2(1)
    with pytest.raises(ValueError, match=r"\[1, 21201\]"):
        SobolEngine(0)


def test_scrambled_points_still_fill_every_box() -> None:
    torch.manual_seed(0)
    for engine in (SobolEngine(3, scramble=True, seed=1), SobolEngine(3, scramble=True)):
        points = engine.draw(64).numpy()
        assert all(sorted(np.floor(column * 64)) == list(range(64)) for column in points.T)
    assert repr(SobolEngine(3, True, 1)) == "SobolEngine(dimension=3, scramble=True, seed=1)"


@pytest.mark.parity
def test_points_are_those_of_torch() -> None:
    theirs = pytest.importorskip("torch")
    for dimension in (1, 40, 1111):
        for options in ({}, {"scramble": True, "seed": 3}, {"scramble": True}):
            torch.manual_seed(7)
            theirs.manual_seed(7)
            ours, other = SobolEngine(dimension, **options), theirs.quasirandom.SobolEngine(dimension, **options)
            for count in (1, 1, 3, 10):
                assert np.array_equal(ours.draw(count).numpy(), other.draw(count).numpy())
