"""docs/coverage.md is what `python -m tests.ops.coverage` writes, and every name left out has its reason."""

from __future__ import annotations

import pytest

from tests.ops import coverage
from tests.ops.absent import REASONS, reason_for


def test_the_page_is_up_to_date() -> None:
    assert coverage.PAGE.read_text(encoding="utf-8") == coverage.page(), "run python -m tests.ops.coverage"


@pytest.mark.parametrize("path", ["torch", "torch.Tensor", "torch.nn", "torch.nn.functional", "torch.optim"])
def test_no_name_is_missing_without_a_reason(path: str) -> None:
    assert not coverage.by_reason(path).get("", ()), path


def test_a_name_that_torch_has_not_is_not_ours() -> None:
    assert not coverage.has(coverage.ours("torch"), "no_such_name")
    assert coverage.has(coverage.ours("torch.nn.functional"), "relu")


def test_reasons_are_told_and_in_use() -> None:
    absent = {(path, name) for path in coverage.NAMESPACES for name in coverage.missing(path)}
    told = {reason_for(path, name) for path, name in absent}
    assert {reason for _, _, reason in REASONS} <= told
