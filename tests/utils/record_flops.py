"""Records what torch's counter finds: `python -m tests.utils.record_flops` (needs torch)."""

from __future__ import annotations

import json
from pathlib import Path

import torch
import torch.utils.checkpoint
import torch.utils.flop_counter

from tests.utils.flop_cases import CASES, counts

RECORDED = Path(__file__).parent / "recorded" / "flops.json"


def main() -> None:
    """Write the recorded file."""
    found = {case: counts(torch, case) for case in CASES}
    RECORDED.write_text(json.dumps(found, indent=0) + "\n")


if __name__ == "__main__":
    main()
