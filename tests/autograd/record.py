"""Record torch's derivatives: `python -m tests.autograd.record`."""

from __future__ import annotations

import json
from pathlib import Path

import torch

from tests.autograd import derivatives

if __name__ == "__main__":
    recorded = {
        "found": {name: derivatives.found(torch, name) for name in derivatives.CASES},
        "raised": {name: derivatives.raised(torch, name) for name in derivatives.ERRORS},
    }
    lines = json.dumps(recorded).replace(']], "', ']],\n"') + "\n"
    (Path(__file__).parent / "derivatives.json").write_text(lines)
