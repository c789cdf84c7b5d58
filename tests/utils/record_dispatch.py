"""Records what a TorchDispatchMode sees in torch: `python -m tests.utils.record_dispatch` (needs torch)."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from tests.utils.dispatch_cases import CALLS, logged

RECORDED = Path(__file__).parent / "recorded" / "dispatch.json"


def main() -> None:
    """Write the recorded file."""
    found = {call: logged(torch, TorchDispatchMode, call) for call in CALLS}
    RECORDED.write_text(json.dumps(found, indent=0) + "\n")


if __name__ == "__main__":
    main()
