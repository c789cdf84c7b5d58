"""torch.__version__ compares as scripts compare it."""

from __future__ import annotations

import pytest

from funcgrad.version import TorchVersion, __version__


@pytest.mark.parametrize("lower", ["1.4", "1.13.1", "2.9", (1, 8), (2, 0, 0), "2.2.0+cu118"])
def test_numbers_decide_not_letters(lower: object) -> None:
    assert __version__ > lower
    assert __version__ >= lower
    assert __version__ != lower
    assert not __version__ < lower
    assert not __version__ <= lower


def test_a_version_is_a_text_that_parses() -> None:
    assert [int(part) for part in __version__.split("+")[0].split(".")] == [2, 13, 0]
    assert TorchVersion("2.13.0+cpu") == "2.13.0"
    assert TorchVersion("2.13.0+cpu") != "2.13.0+funcgrad"
    assert {__version__: 1}[str(__version__)] == 1
