"""What was compiled and run, and which line of the user's asked for it: kept for `explain`, bounded.

Compiles are always noted, since they are rare and costly; runs only while somebody watches.
"""

from __future__ import annotations

import sys
import sysconfig
from collections import deque
from functools import lru_cache
from pathlib import Path
from types import FrameType
from typing import ClassVar, NamedTuple

import jax
import numpy as np

_PACKAGE = str(Path(__file__).parent.parent)
_FOREIGN = (_PACKAGE, *(str(Path(module.__path__[0])) for module in (jax, np)), "<")
_PYTHON = sysconfig.get_paths()["stdlib"]


class Compile(NamedTuple):
    """One compile: the user's line, the number of instructions and results, why, and the seconds that it took."""

    line: str
    instructions: int
    results: int
    reason: str
    seconds: float = 0.0


class Run(NamedTuple):
    """One run of a program: the user's line that needed it, and the number of instructions."""

    line: str
    instructions: int


class Journal:
    """The last compiles, and the last runs while `watching`."""

    compiles: ClassVar[deque[Compile]] = deque(maxlen=1000)
    runs: ClassVar[deque[Run]] = deque(maxlen=1000)
    watching = False


def is_users_file(filename: str) -> bool:
    """Tell whether code in this file is a user's: not funcgrad's, JAX's, numpy's or Python's own."""
    return not filename.startswith(_FOREIGN) and ("site-packages" in filename or not filename.startswith(_PYTHON))


@lru_cache(maxsize=4096)
def _is_own_file(filename: str) -> bool:
    return filename.startswith((_PACKAGE, "<funcgrad"))


def user_line() -> str:
    """Return "file:line" of the innermost frame that is not funcgrad's."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_own_file(frame.f_code.co_filename):
        frame = frame.f_back
    return "(no Python frame)" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"
