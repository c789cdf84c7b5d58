"""Signs of zeros, as torch has them."""

from __future__ import annotations

import math

import funcgrad as torch


def test_the_sign_of_a_negative_zero_is_zero() -> None:
    found = torch.tensor([-0.0, 0.0, -2.0, math.nan]).sign().tolist()
    assert found == [0.0, 0.0, -1.0, 0.0]
    assert math.copysign(1, found[0]) == 1
