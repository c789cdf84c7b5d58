"""Records what torch exports: `python -m tests.export.record` (needs torch)."""

from __future__ import annotations

import json
from pathlib import Path

import torch

from tests.export.cases import CALLS, graph_of, nets, texts_of

RECORDED = Path(__file__).parent / "recorded" / "graphs.json"


def main() -> None:
    """Write the recorded file."""
    found = {
        "calls": {call: graph_of(torch, call) for call in CALLS},
        "nets": {name: texts_of(torch, net) for name, net in nets(torch).items()},
    }
    RECORDED.write_text(json.dumps(found, indent=0) + "\n")


if __name__ == "__main__":
    main()
