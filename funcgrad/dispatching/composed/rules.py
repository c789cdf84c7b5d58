"""The table of rules, which the other files of this room fill."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Rule = Callable[..., Any]
RULES: dict[str, Rule] = {}
UNTOLD = {  # they give tensors, and no function of aten is called
    "__get__", "as_subclass", "cpu", "requires_grad_", "resolve_conj", "resolve_neg", "retain_grad",
}  # fmt: skip


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Enter the rule for public functions of these names."""

    def enter(found: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, found))
        return found

    return enter
