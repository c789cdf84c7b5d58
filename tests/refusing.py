"""What a refusal must be: an exception of just this type, with just these words."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Refusal = tuple[Callable[[], object], type[Exception], str]


def assert_refused(refused: Callable[[], object], kind: type[Exception], words: str) -> None:
    """Call what is to be refused, and compare the exception with the one expected."""
    with pytest.raises(kind) as caught:
        refused()
    assert type(caught.value) is kind
    assert str(caught.value) == words
