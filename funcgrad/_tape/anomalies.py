"""Anomaly mode: each node remembers the user's line that made it, and what a pull-back returns is searched for NaN."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad._base.warning import is_own, warn
from funcgrad._program.journal import user_line
from funcgrad._program.record import numbers_of
from funcgrad._tape.variable import Variable

_UNSEEN = "No forward pass information available. Enable detect anomaly during forward pass for more information."


class Anomalies:
    """Whether nodes remember their lines, and whether their pull-backs are searched."""

    on = False
    check_nan = True


def remember_line(node: Any) -> None:
    """Keep the stack of the forward call with its node, and the user's own line in it."""
    node.metadata["line"] = user_line()
    frames = [frame for frame in traceback.extract_stack() if not is_own(frame.filename)]
    node.metadata["traceback"] = traceback.format_list(frames)


def search(node: Any, gradients: Sequence[Variable | None]) -> None:
    """Raise RuntimeError where a gradient that `node` returned holds a NaN; first warn with the forward's lines."""
    for position, gradient in enumerate(gradients):
        if gradient is not None and gradient.aval.differentiable and np.isnan(numbers_of(gradient.value)).any():
            lines = node.metadata.get("traceback")
            told = _UNSEEN if lines is None else f"Traceback of forward call that caused the error:\n{''.join(lines)}"
            warn(f"Error detected in {node.name()}. {told}")
            raise RuntimeError(f"Function '{node.name()}' returned nan values in its {position}th output.")
