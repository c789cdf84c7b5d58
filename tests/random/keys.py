"""Generators that hold a key, as on an accelerator, for tests on the CPU."""

from __future__ import annotations

from unittest.mock import patch

from funcgrad.random import Generator
from funcgrad.random import generator as generators


def holding_key(seed: int = 0) -> Generator:
    """Return a CPU generator that holds a key."""
    with patch.object(generators, "_EVERYWHERE_BY_KEY", True):
        return Generator().manual_seed(seed)
