"""Random training loops give the same numbers fused, rolled and in parts as they do op by op, and in torch.

What failed is a test of its own, in `tests/program`, where it was made small.
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
from funcgrad._program.lengths.family import forget_lengths
from funcgrad._program.plan import forget_executables
from funcgrad._program.stepwise import forget_plans
from tests.fuzz.loops import AFTER, LONGEST, STEPS, WIDEST, Loop, Trainer

EXAMPLES = int(os.environ.get("FUNCGRAD_FUZZ_EXAMPLES", "6")) // 2  # each is many programs
small = st.integers(0, 9)
steps = st.tuples(st.integers(0, len(STEPS) - 1), small, small, st.integers(0, 3))
loops = st.builds(
    Loop,
    body=st.lists(steps, min_size=2, max_size=7),
    after=st.lists(st.integers(0, len(AFTER) - 1), max_size=2),
    loss=st.integers(0, 3),
    cut=st.sampled_from([0, 0, 0, 3, 5]),
    rule=st.integers(0, 4),
    turns=st.lists(st.integers(1, 12) | st.integers(17, LONGEST), min_size=1, max_size=8),
    batches=st.lists(st.integers(1, WIDEST), min_size=1, max_size=3),
    reads_loss=st.booleans(),
    iterations=st.integers(6, 12),
)
fuzz = settings(
    max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], database=None
)


def outcome(torch: Any, loop: Loop, *, eager: bool = False, host: bool = False) -> dict[str, Any]:
    """Run a loop from nothing. host: numpy may run programs, for these are small."""
    before = funcgrad_settings.eager, funcgrad_settings.host
    funcgrad_settings.eager, funcgrad_settings.host = eager, host
    for forget in (forget_lengths, forget_plans, forget_executables):
        forget()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return Trainer(torch, loop).run()
    finally:
        funcgrad_settings.eager, funcgrad_settings.host = before


def assert_same(left: dict[str, Any], right: dict[str, Any]) -> None:
    """Assert that two outcomes are the same to float64 rounding."""
    np.testing.assert_allclose(left["seen"], right["seen"], rtol=1e-6, atol=1e-9)
    for name in ("parameters", "gradients"):
        for one, other in zip(left[name], right[name], strict=True):
            assert (one is None) == (other is None), name
            if one is not None:
                np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9, err_msg=name)


@fuzz
@given(loops)
def test_loops_fused_equal_eager(loop: Loop) -> None:
    expected = outcome(funcgrad, loop, eager=True)
    assert_same(outcome(funcgrad, loop), expected)
    assert_same(outcome(funcgrad, loop, host=True), expected)


@pytest.mark.parity
@fuzz
@given(loops)
def test_loops_fused_equal_torch(loop: Loop) -> None:
    torch = pytest.importorskip("torch")
    assert_same(outcome(funcgrad, loop, host=True), outcome(torch, loop))
