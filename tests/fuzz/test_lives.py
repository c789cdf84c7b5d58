"""Random lives of a model leave the same numbers and flags fused as they do op by op, and in torch.

What failed is a test of its own, in the room that it belongs to.
"""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import funcgrad
from funcgrad._base.config import settings as funcgrad_settings
from tests.fuzz.lives import DEEDS, MODELS, RULES, Deed, Life

EXAMPLES = int(os.environ.get("FUNCGRAD_FUZZ_EXAMPLES", "6"))
deeds = st.lists(st.tuples(st.integers(0, len(DEEDS) - 1), st.integers(0, 11)), min_size=3, max_size=24)
lives = st.tuples(st.integers(0, len(MODELS) - 1), st.integers(0, len(RULES) - 1), deeds)
fuzz = settings(
    max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], database=None
)


def seen(torch: Any, life: tuple[int, int, list[Deed]], *, eager: bool = False) -> list[Any]:
    """Return what is seen in a life. It has to be the same in every order of the tests: nothing is drawn outside it."""
    kind, rule, deeds = life
    before, funcgrad_settings.eager = funcgrad_settings.eager, eager
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return Life(torch, kind, rule).lead(deeds)
    finally:
        funcgrad_settings.eager = before


def assert_same(ours: list[Any], expected: list[Any]) -> None:
    """Assert that all that was seen is the same, numbers to float64 rounding."""
    done = ""
    for one, other in zip(ours, expected, strict=True):
        assert type(one) is type(other), (done, one, other)
        if isinstance(one, (float, np.ndarray)):
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9, err_msg=done)
        else:
            assert one == other, done
            done = str(one)


@fuzz
@given(lives)
def test_lives_fused_equal_eager(life: tuple[int, int, list[Deed]]) -> None:
    assert_same(seen(funcgrad, life), seen(funcgrad, life, eager=True))


@pytest.mark.parity
@fuzz
@given(lives)
def test_lives_fused_equal_torch(life: tuple[int, int, list[Deed]]) -> None:
    torch = pytest.importorskip("torch")
    assert_same(seen(funcgrad, life), seen(torch, life))
