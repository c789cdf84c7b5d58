"""Records what torch shows: `python -m tests.masked.record` (needs torch)."""

from __future__ import annotations

import json

import torch

from tests.masked.running import RECORDED, expressions, shown


def main() -> None:
    """Write the recorded file."""
    RECORDED.write_text(json.dumps({source: shown(torch, source) for source in expressions()}, indent=0) + "\n")


if __name__ == "__main__":
    main()
