"""What of a traceback the reader of a script sees: the frames of the script, not those of funcgrad and JAX.

`FUNCGRAD_TRACEBACK=full` shows them all.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import TracebackType

_PACKAGES = [*Path(__file__).resolve().parents[1:2], *(Path(p) for p in sys.modules["jax"].__path__)]
_HIDDEN = (*(str(folder) + os.sep for folder in _PACKAGES), "<funcgrad row ")


def visible(error: BaseException) -> TracebackType | None:
    """Return the traceback without hidden frames; the exceptions that led to this one are treated alike."""
    if _is_full():
        return error.__traceback__
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if before is not None:
        before.__traceback__ = visible(before)
    error.__traceback__ = _without_hidden(error.__traceback__)
    return error.__traceback__


def shorten(error: BaseException | None) -> None:
    """Leave out what is hidden behind the function that has just caught an error, and raises it again.

    What a script has there, hooks for one, stays. So an error of a misfit names a few functions, whoever shows it.
    """
    trace = error and error.__traceback__
    if trace and not _is_full():
        trace.tb_next = _without_hidden(trace.tb_next)


def _is_full() -> bool:
    return os.environ.get("FUNCGRAD_TRACEBACK") == "full"


def _without_hidden(trace: TracebackType | None) -> TracebackType | None:
    shown = [
        (frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
        for frame in _links(trace)
        if not frame.tb_frame.f_code.co_filename.startswith(_HIDDEN)
    ]
    kept: TracebackType | None = None
    for frame, instruction, line in reversed(shown):
        kept = TracebackType(kept, frame, instruction, line)
    return kept


def _links(trace: TracebackType | None) -> list[TracebackType]:
    found = []
    while trace is not None:
        found.append(trace)
        trace = trace.tb_next
    return found
