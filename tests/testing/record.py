"""Record what torch's assert_close says: `python -m tests.testing.record`."""

from __future__ import annotations

import json
from pathlib import Path

import torch

from tests.testing.comparisons import PAIRS, raised

if __name__ == "__main__":
    recorded = {name: raised(torch, name) for name in PAIRS}
    (Path(__file__).parent / "messages.json").write_text(json.dumps(recorded, indent=1) + "\n")
