"""Anomaly mode: each node remembers the lines that made it; `searching` looks for NaN in what its pull-back returns."""

from __future__ import annotations

import sys
import traceback
from types import FrameType
from typing import Any

from funcgrad._base.warning import is_own
from funcgrad._program.journal import user_line
from funcgrad._tape.modes import thread


class Anomalies:
    """Whether nodes remember their lines, and whether their pull-backs are searched."""

    on = False
    check_nan = True


def remember_line(node: Any) -> None:
    """Keep with its node the stack of the forward call, the user's own line in it, and the node that it differentiates.

    The stack is (file, line, function) from the innermost call outwards: to read the lines themselves takes longer.
    """
    stack = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if not is_own(code.co_filename):
            stack.append((code.co_filename, frame.f_lineno, code.co_name))
        frame = frame.f_back
    node.metadata["line"], node.metadata["stack"] = user_line(), stack
    if thread.running is not None:
        node.metadata["parent"] = thread.running.node


def remembered(node: Any) -> str | None:
    """Return the stack of a node's forward call as Python prints one; None if it was not kept."""
    stack = node.metadata.get("stack")
    if stack is None:
        return None
    return "".join(traceback.StackSummary.from_list([(*frame, None) for frame in reversed(stack)]).format())
