"""The examples in torch's own docstrings do the same under funcgrad, or have a reason; printed as one line.

`python -m tests.docstrings` says what differs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.parity
pytest.importorskip("torch", minversion="2.13", reason="torch is the oracle here")

from tests.databases import FALLS_SHORT, WHOLE  # noqa: E402 - only where torch is
from tests.docstrings.both import both  # noqa: E402 - likewise
from tests.docstrings.compare import differences  # noqa: E402 - likewise
from tests.docstrings.exceptions import EXCEPTIONS_BY_PLACE, reason  # noqa: E402 - likewise

PARTS = 2


@pytest.mark.parametrize("part", range(PARTS))
def test_examples_do_what_they_do_in_torch(part: int, tmp_path: Path, record_property: Any) -> None:
    unexplained = []
    for place, found in enumerate(differences(*both(tmp_path, part, PARTS))):
        why = None if found is None else reason(found.name, found.ours.source)
        respect = "agree" if why is None else "differ for a known reason"
        record_property(
            "holds", ("docstrings", f"{part}/{place}", {respect: FALLS_SHORT if found and not why else WHOLE})
        )
        if found is not None and why is None:
            unexplained.append(str(found))
    assert not unexplained, "\n\n".join(unexplained)


def test_exceptions_stay_few() -> None:
    assert len(EXCEPTIONS_BY_PLACE) <= 65
