"""Puts the outcomes of several runs of op_db together for docs/coverage.md: `python -m tests.ops.op_db.merged *.json`.

A file counts for the entries and checks that it has; where several have one, the last one given. Write the files by
`python -m tests.ops.op_db --samples N --json FILE`, with `--entries` or `--from` and `--to` for a piece of the table.
"""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import sys
from pathlib import Path
from typing import Any

from tests.ops.op_db.entries import left_out, selected
from tests.ops.op_db.run import CHECKS

RECORD = Path(__file__).parents[1] / "recorded" / "op_db.json"
Failures = dict[str, dict[str, list[list[str]]]]  # by check and entry: dtype and what


def merged(files: list[Path]) -> Failures:
    """Return what fell short, by check and entry; an empty list where an entry holds."""
    found: Failures = {check: {} for check in CHECKS}
    for file in files:
        for entry, outcome in json.loads(file.read_text(encoding="utf-8"))["entries"].items():
            for check in outcome["checks"]:
                failures = [[dtype, what] for name, dtype, what in outcome["failures"] if name in (check, "name")]
                found[check][entry] = failures
    return found


def record(files: list[Path], samples: str) -> dict[str, Any]:
    """Return what docs/coverage.md tells of a whole run: when, with what, how many entries hold, and which do not."""
    found = merged(files)
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "versions": {name: importlib.metadata.version(name).partition("+")[0] for name in ("torch", "jax", "jaxlib")},
        "samples": samples,
        "entries": len(selected()),
        "left out": len(left_out()),
        "hold": {
            check: [sum(not failures for failures in entries.values()), len(entries)]
            for check, entries in found.items()
        },
        "short": [
            [entry, check, *failure]
            for check, entries in found.items()
            for entry, failures in sorted(entries.items())
            for failure in failures
        ],
    }


def main(arguments: list[str]) -> None:
    """Write the record. The first argument may be `--samples=TEXT`: how many samples the runs took."""
    samples = "all samples"
    if arguments and arguments[0].startswith("--samples="):
        samples = arguments.pop(0).partition("=")[2]
    content = record([Path(each) for each in arguments], samples)
    RECORD.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    print(content["hold"])


if __name__ == "__main__":
    main(sys.argv[1:])
