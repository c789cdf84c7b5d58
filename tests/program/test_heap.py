"""What the C library is told about memory."""

from __future__ import annotations

import ctypes
import sys

import pytest

from funcgrad._program import heap

glibc = pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "mallopt"), reason="the C library is not glibc"
)


@pytest.fixture(autouse=True)
def no_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in heap._CHOSEN_BY:
        monkeypatch.delenv(name, raising=False)


@glibc
def test_glibc_takes_what_it_is_told() -> None:
    assert heap.keep_freed_memory()


@glibc
@pytest.mark.parametrize("name", heap._CHOSEN_BY)
def test_the_environment_goes_first(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "131072")
    assert not heap.keep_freed_memory()


def test_other_systems_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert not heap.keep_freed_memory()
