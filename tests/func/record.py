"""Record torch's numbers for the cases: `python -m tests.func.record`, where torch 2.13 is installed."""

from __future__ import annotations

import json
from pathlib import Path

import torch

from tests.func.cases import CASES, numbers

FILE = Path(__file__).parent / "recorded.json"


def main() -> None:
    """Write a case a line."""
    rows = (f'"{name}": {json.dumps(numbers(torch, name))}' for name in CASES)
    FILE.write_text("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main()
