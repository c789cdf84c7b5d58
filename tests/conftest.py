"""What all tests share: a fresh seed, and the compiled programs of one run in one temporary folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import funcgrad


@pytest.fixture(autouse=True)
def the_same_start() -> Iterator[None]:
    """Seed the generators before each test, and leave no tensor program half recorded behind."""
    funcgrad.manual_seed(0)
    yield
