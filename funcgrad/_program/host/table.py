"""The table of rules: for a primitive, what makes of one equation of it a function of numpy arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]
Function: TypeAlias = Callable[..., Any]  # of arrays; gives one array, or a tuple of them where there are more results
Rule: TypeAlias = Callable[[Any], Function]
RULES: dict[str, Rule] = {}


class NotForHost(Exception):  # noqa: N818 - no error: it says that XLA is to run it
    """A program is too much for numpy, or has a primitive without a rule."""


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Enter a function as the rule of these primitives."""

    def enter(made: Rule) -> Rule:
        for name in names:
            assert name not in RULES, name
            RULES[name] = made
        return made

    return enter
