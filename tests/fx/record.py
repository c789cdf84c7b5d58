"""Records what torch's symbolic_trace makes of the modules: `python -m tests.fx.record` writes recorded.json."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from torch import fx

from tests.fx.modules import modules

PAGE = Path(__file__).with_name("recorded.json")


def main() -> None:
    """Write graph and source of each."""
    found = {}
    for name, (module, _) in modules(torch).items():
        traced = fx.symbolic_trace(module)
        found[name] = {"graph": str(traced.graph), "code": traced.code}
    PAGE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
