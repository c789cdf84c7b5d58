"""Records what torch's quantised layers give: `python -m tests.ao.record` (needs torch)."""

from __future__ import annotations

import json
from pathlib import Path

import torch

from tests.ao import preparing
from tests.ao.models import models, outcome
from tests.ao.watching import outcomes

RECORDED = Path(__file__).parent / "recorded"


def main() -> None:
    """Write the recorded files."""
    layers = {name: outcome(torch, name) for name in models(torch)}
    (RECORDED / "dynamic.json").write_text(json.dumps(layers) + "\n")
    (RECORDED / "preparing.json").write_text(json.dumps(preparing.outcomes(torch)) + "\n")
    (RECORDED / "watching.json").write_text(json.dumps(outcomes(torch)) + "\n")


if __name__ == "__main__":
    main()
