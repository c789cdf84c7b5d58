"""Records what torch's quantised layers give: `python -m tests.ao.record` (needs torch)."""

from __future__ import annotations

import json
from pathlib import Path

import torch

from tests.ao.models import models, outcome

RECORDED = Path(__file__).parent / "recorded" / "dynamic.json"


def main() -> None:
    """Write the recorded file."""
    RECORDED.write_text(json.dumps({name: outcome(torch, name) for name in models(torch)}) + "\n")


if __name__ == "__main__":
    main()
