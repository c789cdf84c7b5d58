"""torch.testing: assert_close, which says what differs and where, and tensors of random numbers to test with."""

from __future__ import annotations

from funcgrad.testing.comparison import assert_allclose, assert_close
from funcgrad.testing.creation import make_tensor

__all__ = ["assert_allclose", "assert_close", "make_tensor"]
