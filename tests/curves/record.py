"""Record torch's losses: `python -m tests.curves.record`, where torch 2.13 is installed."""

from __future__ import annotations

import json
from pathlib import Path

import torch

from tests.curves.scripts import CURVES, losses

FOLDER = Path(__file__).parent / "recorded"


def main() -> None:
    """Write a file per script, a step a line."""
    FOLDER.mkdir(exist_ok=True)
    torch.set_num_threads(1)
    for name in CURVES:
        rows = ",\n".join(json.dumps([float(f"{loss:.9g}") for loss in step]) for step in losses(torch, name))
        (FOLDER / f"{name}.json").write_text(f"[\n{rows}\n]\n")


if __name__ == "__main__":
    main()
