"""Records the graphs that torch's make_fx gives: `python -m tests.fx.record_make_fx` (needs torch)."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from torch.fx.experimental.proxy_tensor import make_fx

from tests.fx.make_fx_cases import texts

RECORDED = Path(__file__).parent / "make_fx.json"


def main() -> None:
    """Write the recorded file."""
    RECORDED.write_text(json.dumps(texts(torch, make_fx), indent=0) + "\n")


if __name__ == "__main__":
    main()
