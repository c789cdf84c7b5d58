"""The table of rules: for a primitive, what makes of one equation of it a function of numpy arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from funcgrad._program.primitives import entered_in

Array: TypeAlias = np.ndarray[Any, Any]
Function: TypeAlias = Callable[..., Any]  # of arrays; gives one array, or a tuple of them where there are more results
Rule: TypeAlias = Callable[[Any], Function]
RULES: dict[str, Rule] = {}
rule = entered_in(RULES)


class NotForHost(Exception):  # noqa: N818 - no error: it says that XLA is to run it
    """A program is too much for numpy, or has a primitive without a rule."""
