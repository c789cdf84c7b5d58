"""Warnings that name the user's own line, whatever funcgrad does in between."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from types import FrameType

_OWN = (str(Path(__file__).parent.parent), "<funcgrad")
_told: set[str] = set()


def is_own(filename: str) -> bool:
    """Tell whether code of this file is funcgrad's own, or Python's that runs a script."""
    return filename.startswith((*_OWN, "<frozen "))


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the innermost line that is not funcgrad's."""
    frame: FrameType = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OWN):
        frame = frame.f_back
    registry = frame.f_globals.setdefault("__warningregistry__", {})
    module = frame.f_globals.get("__name__", "<string>")  # without a name none would be shown
    warnings.warn_explicit(message, category, frame.f_code.co_filename, frame.f_lineno, module, registry)


def warn_once(message: str, category: type[Warning] = UserWarning, key: str | None = None) -> None:
    """Warn as `warn` does, the first time only that this is said, or anything of the same key."""
    if (key or message) not in _told:
        _told.add(key or message)
        warn(message, category)
