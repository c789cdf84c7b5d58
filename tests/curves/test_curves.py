"""The same seed gives the same loss curve as PyTorch, for a hundred steps of whole scripts; and the steps settle."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import funcgrad as torch
from funcgrad._program.renting import Exactness
from tests.curves.scripts import CURVES, STEPS, losses

FOLDER = Path(__file__).parent / "recorded"
pytestmark = pytest.mark.optimised


@pytest.mark.parametrize("name", CURVES)
def test_the_first_hundred_losses_are_those_of_torch(name: str) -> None:
    expected = np.array(json.loads((FOLDER / f"{name}.json").read_text()))
    assert len(expected) == STEPS
    np.testing.assert_allclose(np.array(losses(torch, name)), expected, rtol=0, atol=1e-4)


@pytest.mark.parametrize("name", CURVES)
def test_late_steps_compile_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Exactness, "wanted_for", {"steps that are compiled at first sight"})
    script = CURVES[name](torch)
    for _ in range(STEPS // 2):
        next(script)
    with torch.explain.counted() as seen:
        for _ in range(STEPS // 2):
            next(script)
    assert (seen.compiles, seen.inferences) == (0, 0)
