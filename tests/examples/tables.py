"""What the generated tables of the docs share: their rows, and the line that says how they were measured."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
from collections.abc import Sequence


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table."""
    return [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)]


def measured(packages: Sequence[str], command: str) -> str:
    """Return the day, the versions, the machine, and the command that measures again."""
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in packages)
    return (
        f"Measured {datetime.date.today()} with {versions}, Python {platform.python_version()}, {os.cpu_count()} CPU "
        f"cores, by `{command}`."
    )
