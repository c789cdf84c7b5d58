"""torch's samples of its _foreach functions, out of place and in place, in numbers; printed as one line."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import funcgrad

pytestmark = [pytest.mark.parity, pytest.mark.filterwarnings("ignore::UserWarning")]
torch = pytest.importorskip("torch", minversion="2.13", reason="torch is the oracle here")
pytest.importorskip("expecttest", reason="torch's sample database imports it")

from torch.testing._internal import common_methods_invocations as databases  # noqa: E402 - only where torch is

from tests.databases import Holds, chosen  # noqa: E402 - likewise
from tests.ops.op_db.compare import Yardstick, compare  # noqa: E402 - likewise
from tests.ops.op_db.convert import arguments_of_ours, arguments_of_torch, flat, read  # noqa: E402 - likewise

KINDS = ("unary", "binary", "pointwise", "reduce", "other")
ENTRIES = [entry for kind in KINDS for entry in getattr(databases, f"foreach_{kind}_op_db")]
SAMPLES = 2  # an entry; FUNCGRAD_TEST_ALL=1 takes every one


def outcome(library: Any, name: str, given: Any, in_place: bool) -> list[Any] | None:
    """Return what a function answers, or leaves in its first argument; None where it refuses."""
    try:
        result = getattr(library, name)(*given.args, **given.kwargs)
    except (RuntimeError, TypeError, NotImplementedError):
        return None
    return [read(leaf) for leaf in flat(given.args[0] if in_place else result)]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_numbers_are_torchs(entry: Any, record_property: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = list(entry.sample_inputs("cpu", torch.float32, noncontiguous=False, allow_higher_dtype_scalars=True))
    with Holds(record_property, "foreach_db", entry.name, ("out of place", "in place")) as holds:
        for sample in (found[i] for i in chosen(len(found), SAMPLES)):
            for respect, name in (("out of place", entry.name), ("in place", f"{entry.name}_")):
                if not hasattr(torch, name):
                    continue
                theirs = outcome(torch, name, arguments_of_torch(sample), respect == "in place")
                if theirs is not None:
                    with holds.judging(respect):
                        ours = outcome(funcgrad, name, arguments_of_ours(sample), respect == "in place")
                        assert ours is not None, f"{name} refuses what torch takes"
                        compare(ours, theirs, Yardstick(theirs, ["float32"], None))
