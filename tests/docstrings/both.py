"""Runs the examples of docstrings under torch and under funcgrad, each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.docstrings.run import Outcomes, read

REPOSITORY = Path(__file__).parents[2]


def both(folder: Path, part: int, parts: int, wanted: str = ".*") -> tuple[Outcomes, Outcomes]:
    """Return what one part of the docstrings did under funcgrad and under torch.

    folder: an empty one, in which examples may write. wanted: a regular expression for whole names of docstrings.
    """
    _python(folder, "-m", "tests.docstrings.collect", "theirs.json", str(part), str(parts), wanted)
    _python(folder, "-m", "funcgrad", "-m", "tests.docstrings.run", "theirs.json", "ours.json")
    return read(folder / "ours.json"), read(folder / "theirs.json")


def _python(folder: Path, *words: str) -> None:
    known = {"JAX_PLATFORMS": "cpu", "PYTHONPATH": str(REPOSITORY)}
    ran = subprocess.run(
        [sys.executable, *words], cwd=folder, env=os.environ | known, capture_output=True, text=True, check=False
    )
    if ran.returncode:
        raise RuntimeError(f"python {' '.join(words)} failed:\n{ran.stderr[-4000:]}")
