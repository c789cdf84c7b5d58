"""Runs scripts of a test's own as a user does: `python -m funcgrad script.py`, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]


def write(folder: Path, name: str, source: str) -> Path:
    """Write a file of Python."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(source))
    return path


def funcgrad(
    folder: Path, *words: str, given: str | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run `python -m funcgrad *words` in a folder. given: what it finds on standard input."""
    return subprocess.run(
        [sys.executable, "-m", "funcgrad", *words],
        check=False, capture_output=True, text=True, timeout=300, cwd=folder, input=given,
        env=os.environ | {"JAX_PLATFORMS": "cpu", "PYTHONPATH": str(REPOSITORY)} | environment,
    )  # fmt: skip


def output_of(folder: Path, source: str, *words: str, **environment: str) -> list[str]:
    """Return the lines that a script prints; it must end well."""
    write(folder, "script.py", source)
    answer = funcgrad(folder, "script.py", *words, **environment)
    assert answer.returncode == 0, answer.stderr
    return answer.stdout.splitlines()
