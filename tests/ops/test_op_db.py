"""PyTorch's own sample database against funcgrad: few samples an entry, printed as one line in the run's summary.

`python -m tests.ops.op_db` takes all samples in all dtypes.
"""

from __future__ import annotations

from typing import Any

import pytest

# torch's own samples hold what it warns of
pytestmark = [pytest.mark.parity, pytest.mark.filterwarnings("ignore::UserWarning")]
pytest.importorskip("torch", reason="torch is the oracle here")
pytest.importorskip("expecttest", reason="torch's sample database imports it")

from tests.databases import Holds  # noqa: E402 - only where torch is
from tests.ops.op_db.entries import is_left_out, left_out, selected, title  # noqa: E402 - likewise
from tests.ops.op_db.run import run  # noqa: E402 - likewise

RESPECTS = ("forward", "gradient", "gradgrad", "memory", "errors")
ITERATED = "the second derivative of an iterated factorisation parts by 2e-3 in float32"
SHORT = {
    **dict.fromkeys(("svd_lowrank", "pca_lowrank"), ITERATED),
}
ENTRIES = [
    pytest.param(
        entry, id=title(entry), marks=[pytest.mark.xfail(reason=SHORT[title(entry)])] if title(entry) in SHORT else []
    )
    for entry in selected()
    if not is_left_out(entry)
]


def test_few_entries_are_left_out() -> None:
    assert len(left_out()) <= 25


@pytest.mark.parametrize("entry", ENTRIES)
def test_entry_holds(entry: Any, record_property: Any) -> None:
    outcome = run(entry, RESPECTS, ("float32", "int64"), 2)
    with Holds(record_property, "op_db", outcome.entry, outcome.checks) as holds:
        for failure in outcome.failures:
            for respect in outcome.checks if failure.check == "name" else (failure.check,):
                with holds.judging(respect):
                    raise AssertionError(str(failure))
