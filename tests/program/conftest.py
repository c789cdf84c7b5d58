"""Tests of how programs are planned use small ones, which XLA is to compile all the same."""

from __future__ import annotations

import pytest

from funcgrad._base.config import settings

_RUN_BY_NUMPY = ("test_host", "test_looks", "test_small_programs", "test_steady_state", "test_recorder")


@pytest.fixture(autouse=True)
def compiled_by_xla(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep numpy from small programs, but where they are what is tested."""
    if not request.module.__name__.endswith(_RUN_BY_NUMPY):
        monkeypatch.setattr(settings, "host", False)
